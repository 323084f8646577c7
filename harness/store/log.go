package store

import (
	"context"
	"database/sql"
	"os"
	"time"
)

// SQLite empties the write-ahead log by itself only when no reader needs it. With several processes one
// always does, so writers empty it: they try from logSoft bytes on, and wait before they write from logHard
// bytes on, at most as long as for another writer. The last transaction comes on top.
const (
	logSoft = 4 << 20
	logHard = 16 << 20
	// logPause is the least time between two attempts to empty a log in use.
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

// shortenLog empties the log if it is long and no reader uses it.
func (s *Store) shortenLog(ctx context.Context, conn *sql.Conn) {
	if s.logSize() > logSoft && time.Since(s.logFull) >= logPause {
		s.emptyLog(ctx, conn)
	}
}

// waitForLog waits until the log is short, at most for s.wait: a long log is better than a lost run.
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

// emptyLog moves the log into the file. It reports false if it cannot: readers or another writer use the log
// for longer than lockSlice, or the disk is full. The records are then safe in the log, and the next writer
// gets the error.
func (s *Store) emptyLog(ctx context.Context, conn *sql.Conn) bool {
	var busy, frames, moved int
	err := conn.QueryRowContext(context.WithoutCancel(ctx), "PRAGMA wal_checkpoint(TRUNCATE)").Scan(&busy, &frames, &moved)
	if err != nil || busy != 0 {
		s.logFull = time.Now()
		return false
	}
	return true
}
