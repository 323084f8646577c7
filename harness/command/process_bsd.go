//go:build unix && !linux

package command

import "syscall"

// endWithParent does nothing: only Linux can end a program with its parent.
func endWithParent(*syscall.SysProcAttr) {}
