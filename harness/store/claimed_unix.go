//go:build darwin || dragonfly || freebsd || illumos || linux || netbsd || openbsd

package store

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"golang.org/x/sys/unix"
)

// Claimed reports which jobs of these keys a process has reserved, and so runs now. It reserves nothing.
func (s *Store) Claimed(keys []string) (map[string]bool, error) {
	f, err := os.Open(s.path + ".claims")
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("store: %s: cannot see which jobs run: %w", s.path, err)
	}
	defer f.Close()
	claimed := map[string]bool{}
	for _, key := range keys {
		lock := unix.Flock_t{Type: unix.F_WRLCK, Start: claimOf(key), Len: 1}
		if err := unix.FcntlFlock(f.Fd(), getLock, &lock); err != nil {
			return nil, fmt.Errorf("store: %s: cannot see which jobs run: %w", s.path, err)
		}
		if lock.Type != unix.F_UNLCK {
			claimed[key] = true
		}
	}
	return claimed, nil
}

// anyClaim finds one job that a process has reserved, and returns its claimOf.
func anyClaim(path string) (at int64, claimed bool, err error) {
	f, err := os.Open(path + ".claims")
	if errors.Is(err, fs.ErrNotExist) {
		return 0, false, nil
	}
	if err != nil {
		return 0, false, err
	}
	defer f.Close()
	lock := unix.Flock_t{Type: unix.F_WRLCK} // all of the file
	err = unix.FcntlFlock(f.Fd(), getLock, &lock)
	return lock.Start, err == nil && lock.Type != unix.F_UNLCK, err
}
