package archive

import (
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

// On a full disk the error names the disk, not the archive.
func TestExtractOnAFullDisk(t *testing.T) {
	dir := t.TempDir()
	if err := unix.Mount("tmpfs", dir, "tmpfs", 0, "size=65536"); err != nil {
		t.Skipf("a small disk cannot be made: %v", err)
	}
	defer unix.Unmount(dir, unix.MNT_DETACH)
	path := filepath.Join(t.TempDir(), "a.zip")
	if err := os.WriteFile(path, untrusted(t, true, runsDB, entry{name: "big", content: noise(1 << 20)}), 0o644); err != nil {
		t.Fatal(err)
	}
	_, err := Extract(t.Context(), path, dir, TrustedKeys{})
	wantError(t, err, path+" cannot be unpacked", "no room in "+dir)
}
