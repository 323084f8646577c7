//go:build !linux

package cluster

// networkFileSystem finds network file systems on Linux alone.
func networkFileSystem(string) (string, error) { return "", nil }
