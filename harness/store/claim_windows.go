package store

import (
	"errors"
	"os"

	"golang.org/x/sys/windows"
)

func place(at int64) *windows.Overlapped {
	return &windows.Overlapped{Offset: uint32(at), OffsetHigh: uint32(at >> 32)}
}

// lockByte locks one byte of f if no other process has it.
func lockByte(f *os.File, at int64) (bool, error) {
	err := windows.LockFileEx(windows.Handle(f.Fd()),
		windows.LOCKFILE_EXCLUSIVE_LOCK|windows.LOCKFILE_FAIL_IMMEDIATELY, 0, 1, 0, place(at))
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) || errors.Is(err, windows.ERROR_IO_PENDING) {
		return false, nil
	}
	return err == nil, err
}

func unlockByte(f *os.File, at int64) {
	windows.UnlockFileEx(windows.Handle(f.Fd()), 0, 1, 0, place(at))
}
