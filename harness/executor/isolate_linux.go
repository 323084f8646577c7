package executor

import "golang.org/x/sys/unix"

// limitMemory lets the system refuse memory beyond the bound: what is asked for at once is
// refused before the process notices that it holds it. The Go runtime maps a little more than
// it holds.
func limitMemory(bound int64) {
	limit := uint64(bound) + 256<<20
	unix.Setrlimit(unix.RLIMIT_DATA, &unix.Rlimit{Cur: limit, Max: limit})
}
