package executor

import "golang.org/x/sys/unix"

// limitMemory makes the system refuse memory beyond the bound, since watchMemory is too late for a large
// allocation. The spare 256 MiB are for memory that the Go runtime maps and does not use.
func limitMemory(bound int64) {
	limit := uint64(bound) + 256<<20
	unix.Setrlimit(unix.RLIMIT_DATA, &unix.Rlimit{Cur: limit, Max: limit})
}
