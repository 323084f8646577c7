package store

import (
	"context"
	"database/sql"
	"os"
	"time"
)

// SQLite begins the write-ahead log anew only when no reader needs what is in it, and with several
// processes there is always one: a writer then has to ask for it. The log is put into the file, and
// emptied, when it is longer than logSoft; nothing is written while it is longer than logHard, unless
// a reader takes longer than any writer waits. A transaction comes on top.
const (
	logSoft = 4 << 20
	logHard = 16 << 20
	// logPause is how long a writer goes on after it found the log in use.
	logPause = 100 * time.Millisecond
)

// logSize is the length of the write-ahead log in bytes.
func (s *Store) logSize() int64 {
	info, err := os.Stat(s.abs + "-wal")
	if err != nil {
		return 0 // there is none
	}
	return info.Size()
}

// shortenLog empties the log if it is long and no reader is in the way.
func (s *Store) shortenLog(ctx context.Context, conn *sql.Conn) {
	if s.logSize() > logSoft && time.Since(s.logFull) >= logPause {
		s.emptyLog(ctx, conn)
	}
}

// waitForLog waits until the log is short enough to be written to, as long as a writer waits for
// others: a long log is better than a lost run.
func (s *Store) waitForLog(ctx context.Context, conn *sql.Conn) error {
	for deadline := time.Now().Add(s.wait); s.logSize() > logHard && time.Now().Before(deadline); {
		if s.emptyLog(ctx, conn) {
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(5 * time.Millisecond):
		}
	}
	return nil
}

// emptyLog puts the log into the file and empties it. It reports false if it cannot now: readers or
// another writer are in the way for longer than a lockSlice, or the disk is full. What was recorded is safe in
// the log then, and whoever writes next is told.
func (s *Store) emptyLog(ctx context.Context, conn *sql.Conn) bool {
	var busy, frames, moved int
	err := conn.QueryRowContext(context.WithoutCancel(ctx), "PRAGMA wal_checkpoint(TRUNCATE)").Scan(&busy, &frames, &moved)
	if err != nil || busy != 0 {
		s.logFull = time.Now()
		return false
	}
	return true
}
