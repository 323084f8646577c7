package store

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// Remove removes the file of runs at path and the files beside it. It refuses while a process has reserved a job.
func Remove(path string) error {
	at, claimed, err := anyClaim(path)
	if err != nil {
		return fileError(fmt.Errorf("store: %s: cannot see whether jobs run: %w", path, err))
	}
	if claimed {
		by := "a process"
		if f, err := os.Open(path + ".claims"); err == nil {
			defer f.Close()
			if h, ok := readHolder(f, at); ok {
				by = h.String()
			}
		}
		return fileError(fmt.Errorf("store: %s: not removed: %s runs a job. Stop it first", path, by))
	}
	errs := []error{removeStore(path), removeStore(path + ".pruned")}
	for _, ending := range []string{".lock", ".claims", ".pruned.lock"} {
		if err := os.Remove(path + ending); !errors.Is(err, fs.ErrNotExist) {
			errs = append(errs, err)
		}
	}
	if err := errors.Join(errs...); err != nil {
		return fileError(fmt.Errorf("store: %s: not removed: %w", path, err))
	}
	return nil
}
