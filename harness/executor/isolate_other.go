//go:build !linux

package executor

// limitMemory does nothing: the process watches itself.
func limitMemory(int64) {}
