//go:build darwin || dragonfly || freebsd || illumos || linux || netbsd || openbsd

package store

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// lockByte locks one byte of f if no other process has it.
func lockByte(f *os.File, at int64) (bool, error) {
	for {
		switch err := setByteLock(f, at, unix.F_WRLCK); {
		case err == nil:
			return true, nil
		case errors.Is(err, unix.EAGAIN), errors.Is(err, unix.EACCES):
			return false, nil
		case !errors.Is(err, unix.EINTR):
			return false, err
		}
	}
}

func unlockByte(f *os.File, at int64) { setByteLock(f, at, unix.F_UNLCK) }

func setByteLock(f *os.File, at int64, kind int16) error {
	return unix.FcntlFlock(f.Fd(), setLock, &unix.Flock_t{Type: kind, Whence: 0, Start: at, Len: 1})
}
