package store

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"syscall"

	"github.com/mattn/go-sqlite3"
)

// FileError is an error of the file of runs, its folder or its disk, not of the program. Its message says
// what to do.
type FileError struct{ err error }

func (e *FileError) Error() string { return e.err.Error() }
func (e *FileError) Unwrap() error { return e.err }

// fileError makes err a FileError, unless it is nil or says that the work was cancelled.
func fileError(err error) error {
	if err == nil || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return &FileError{err}
}

// explain turns an error of SQLite into a sentence that names the file and says what to
// do. doing is what failed, as in "record run x".
func (s *Store) explain(doing string, err error) error {
	if err == nil {
		return nil
	}
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("store: %s: %s: %w", s.path, doing, err)
	}
	why := ""
	var e sqlite3.Error
	if errors.As(err, &e) {
		switch {
		case isDiskFull(err):
			why = "its disk is full: free some space and start again. Recorded runs are kept"
		case e.Code == sqlite3.ErrIoErr && e.SystemErrno == syscall.EFBIG:
			why = "it would exceed the file size limit of this process: raise the limit (ulimit -f) and start again. Recorded runs are kept"
		case isLocked(err):
			why = fmt.Sprintf("another process has kept it locked for more than %v: wait for it, or stop it", s.wait)
		case e.Code == sqlite3.ErrReadonly, e.Code == sqlite3.ErrPerm:
			why = "it, or its folder, cannot be written: change the permissions, or move the file"
		case e.Code == sqlite3.ErrCantOpen:
			why = "it cannot be opened: its folder must exist and be writable, and so must the files beside it"
		case e.Code == sqlite3.ErrNotADB:
			why = "it is not an SQLite database: move it away, or name another file"
		case e.Code == sqlite3.ErrCorrupt:
			why = "it is damaged: restore it from a backup"
		}
	}
	if why == "" {
		return fmt.Errorf("store: %s: cannot %s: %w", s.path, doing, err)
	}
	return fileError(fmt.Errorf("store: %s: cannot %s: %s (%w)", s.path, doing, why, err))
}

// notRecorded is the fs.ErrNotExist of a record, such as a run.
type notRecorded string

func (what notRecorded) Error() string   { return "there is no such " + string(what) }
func (notRecorded) Is(target error) bool { return target == fs.ErrNotExist }

// isUnreadableWAL reports whether a reader failed because it cannot create the index of the
// write-ahead log beside the file.
func isUnreadableWAL(err error) bool {
	var e sqlite3.Error
	return errors.As(err, &e) && (e.Code == sqlite3.ErrCantOpen || e.Code == sqlite3.ErrReadonly)
}

// isDiskFull reports whether a write found the disk full. It needs the code of SQLite too: the number of the
// system's error can be that of an earlier one.
func isDiskFull(err error) bool {
	var e sqlite3.Error
	if !errors.As(err, &e) {
		return errors.Is(err, syscall.ENOSPC)
	}
	return e.Code == sqlite3.ErrFull || e.Code == sqlite3.ErrIoErr && (e.SystemErrno == syscall.ENOSPC || e.SystemErrno == syscall.EDQUOT)
}

// isLocked reports whether another connection has the file locked.
func isLocked(err error) bool {
	var e sqlite3.Error
	return errors.As(err, &e) && (e.Code == sqlite3.ErrBusy || e.Code == sqlite3.ErrLocked)
}
