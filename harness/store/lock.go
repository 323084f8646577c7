package store

import (
	"context"
	"fmt"
	"os"
	"time"

	"ssdl/harness/filelock"
)

// lock locks the file at path, waiting at most for wait. The system releases the lock when the
// process ends, however it ends. The file stays: if it were removed, a second process could lock
// a new file of the same name.
func lock(ctx context.Context, path string, wait time.Duration) (unlock func(), err error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o666)
	if err != nil {
		return nil, fmt.Errorf("cannot be written: its lock file cannot be opened: %w", err)
	}
	deadline := time.Now().Add(wait)
	for {
		held, err := filelock.TryLock(f)
		if err != nil {
			f.Close()
			return nil, fmt.Errorf("cannot lock %s: %w", path, err)
		}
		if held {
			return func() { f.Close() }, nil // closing releases
		}
		if time.Now().After(deadline) {
			f.Close()
			return nil, fmt.Errorf("another process has been creating or converting it for more than %v: wait for it, or stop it", wait)
		}
		select {
		case <-ctx.Done():
			f.Close()
			return nil, ctx.Err()
		case <-time.After(5 * time.Millisecond):
		}
	}
}
