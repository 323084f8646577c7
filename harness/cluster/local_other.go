//go:build !linux

package cluster

// networkFileSystem knows of none here.
func networkFileSystem(string) (string, error) { return "", nil }
