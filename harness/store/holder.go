package store

import (
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"time"
)

// Holder is a process that has reserved a job, and when it did.
type Holder struct {
	Host  string
	PID   int
	Since time.Time
}

// String is as in "process 4711 on host a, since 2026-01-02 15:04:05".
func (h Holder) String() string {
	return fmt.Sprintf("process %d on %s, since %s", h.PID, h.Host, h.Since.Format(time.DateTime))
}

// The file of claims has a line of holderSize bytes for each of holderPlaces places, at which claims share
// one by their lock: the last to come is the one that is read. It never grows beyond half a megabyte.
const (
	holderSize   = 128
	holderPlaces = 4096
)

func holderPlace(at int64) int64 { return at % holderPlaces * holderSize }

// writeHolder notes that this process has the lock at a place.
func writeHolder(f *os.File, at int64) error {
	host, err := os.Hostname()
	if err != nil {
		host = "an unnamed host"
	}
	line := fmt.Sprintf("%d %d %d ", at, os.Getpid(), time.Now().Unix())
	host = strings.ToValidUTF8(host[:min(len(host), holderSize-1-len(line))], "")
	_, err = f.WriteAt(fmt.Appendf(nil, "%-*s\n", holderSize-1, line+host), holderPlace(at))
	return err
}

// readHolder is the process that has the lock at a place; false if another lock shares its line, or
// an earlier program holds it.
func readHolder(f io.ReaderAt, at int64) (Holder, bool) {
	line := make([]byte, holderSize)
	if _, err := f.ReadAt(line, holderPlace(at)); err != nil {
		return Holder{}, false
	}
	fields := strings.SplitN(strings.TrimSpace(string(line)), " ", 4)
	if len(fields) < 4 || fields[0] != strconv.FormatInt(at, 10) {
		return Holder{}, false
	}
	pid, err := strconv.Atoi(fields[1])
	since, err2 := strconv.ParseInt(fields[2], 10, 64)
	return Holder{plain(fields[3]), pid, time.Unix(since, 0)}, err == nil && err2 == nil
}

// ClaimedBy says which process has reserved the job of a key; false if that is not known. It is for a
// process that was refused the claim.
func (s *Store) ClaimedBy(key string) (Holder, bool) {
	s.claiming.Lock()
	defer s.claiming.Unlock()
	if s.claims == nil {
		return Holder{}, false
	}
	return readHolder(s.claims, claimOf(key))
}
