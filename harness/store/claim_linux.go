package store

import "golang.org/x/sys/unix"

// setLock locks for the open file: two stores of one process exclude each other too.
const setLock = unix.F_OFD_SETLK

// getLock asks for the locks of other open files.
const getLock = unix.F_OFD_GETLK
