//go:build unix && !linux

package command

import "syscall"

// endWithParent does nothing: the system does not offer it.
func endWithParent(*syscall.SysProcAttr) {}
