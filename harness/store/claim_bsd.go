//go:build darwin || dragonfly || freebsd || illumos || netbsd || openbsd

package store

import "golang.org/x/sys/unix"

// setLock locks for the process.
const setLock = unix.F_SETLK

// getLock asks for the locks of other processes.
const getLock = unix.F_GETLK
