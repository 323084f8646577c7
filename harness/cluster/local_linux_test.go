package cluster

import (
	"path/filepath"
	"strings"
	"testing"
)

// A folder on a network file system is refused, also one that does not exist.
func TestCheckLocal(t *testing.T) {
	statfs := fileSystem
	t.Cleanup(func() { fileSystem = statfs })
	dir := t.TempDir()
	below := filepath.Join(dir, "not", "yet")
	for magic, kind := range networkTypes {
		asked := ""
		fileSystem = func(path string) (uint32, error) {
			asked = path
			return magic, nil
		}
		err := CheckLocal(below, "Take another.")
		if err == nil || !strings.Contains(err.Error(), "("+kind+")") || !strings.HasSuffix(err.Error(), "Take another.") || asked != dir {
			t.Errorf("%#x: %v, asked of %s", magic, err, asked)
		}
	}
	fileSystem = func(string) (uint32, error) { return 0xef53, nil }
	if err := CheckLocal(below, ""); err != nil {
		t.Errorf("ext4: %v", err)
	}
	fileSystem = statfs
	if err := CheckLocal("/proc/self", ""); err != nil {
		t.Errorf("/proc: %v", err)
	}
}
