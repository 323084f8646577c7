//go:build !linux

package run

// limitMemory does nothing: the process watches itself.
func limitMemory(int64) {}
