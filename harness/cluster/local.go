package cluster

import (
	"fmt"
	"os"
	"path/filepath"
)

// CheckLocal refuses a folder on a network file system, where the locks and the shared memory of SQLite do not
// work. For a folder that does not exist it checks the nearest parent. advice ends the error: it says where to
// put the store instead.
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
