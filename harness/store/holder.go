package store

import (
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"time"
)

// Holder is a process that has reserved a job, and since when.
type Holder struct {
	Host  string
	PID   int
	Since time.Time
}

// String is as in "process 4711 on host a, since 2026-01-02 15:04:05".
func (h Holder) String() string {
	return fmt.Sprintf("process %d on %s, since %s", h.PID, h.Host, h.Since.Format(time.DateTime))
}

// The file of claims has holderPlaces lines of holderSize bytes, half a megabyte. Several claims can share a
// line; the last one overwrites the others.
const (
	holderSize   = 128
	holderPlaces = 4096
)

func holderPlace(at int64) int64 { return at % holderPlaces * holderSize }

// writeHolder notes that this process has the lock at a byte.
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

// readHolder reads which process has the lock at a byte; false if another claim has overwritten the line, or
// an older ssdl holds the lock, which wrote none.
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

// ClaimedBy returns the process that has reserved a job; false if it is not known. It is for a process that
// Claim has refused.
func (s *Store) ClaimedBy(key string) (Holder, bool) {
	s.claiming.Lock()
	defer s.claiming.Unlock()
	if s.claims == nil {
		return Holder{}, false
	}
	return readHolder(s.claims, claimOf(key))
}
