package cluster

import (
	"fmt"
	"os"
	"path/filepath"
)

// CheckLocal refuses a folder for a store that lies on a network file system, where the locks and the shared
// memory of SQLite do not work. A folder that is not there yet is where its nearest parent is. advice says
// where else the store can be.
func CheckLocal(dir, advice string) error {
	at, err := filepath.Abs(dir)
	if err != nil {
		return err
	}
	for {
		if _, err := os.Stat(at); err == nil || filepath.Dir(at) == at {
			break
		}
		at = filepath.Dir(at)
	}
	kind, err := networkFileSystem(at)
	if err != nil {
		return fmt.Errorf("%s: its file system cannot be determined: %w", at, err)
	}
	if kind == "" {
		return nil
	}
	return fmt.Errorf("%s is on a network file system (%s): a store there can lose runs. %s", dir, kind, advice)
}
