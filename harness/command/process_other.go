//go:build !linux

package command

// awaitEnd does nothing: killGroup runs at once.
func awaitEnd(int) {}

// processMemory is 0: only Linux tells it.
func processMemory(int) int64 { return 0 }

// groupMemory is 0: only Linux tells it.
func groupMemory(int) int64 { return 0 }
