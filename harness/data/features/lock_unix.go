//go:build darwin || dragonfly || freebsd || illumos || linux || netbsd || openbsd

package features

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// tryLock locks f if nobody else has it.
func tryLock(f *os.File) (bool, error) {
	for {
		switch err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); {
		case err == nil:
			return true, nil
		case errors.Is(err, unix.EWOULDBLOCK):
			return false, nil
		case !errors.Is(err, unix.EINTR):
			return false, err
		}
	}
}
