package untrusted

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestRead(t *testing.T) {
	dir := t.TempDir()
	put := func(name, content string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	device := filepath.Join(dir, "device")
	if err := os.Symlink("/dev/zero", device); err != nil {
		t.Skipf("no links here: %v", err)
	}
	if _, err := os.Stat(device); err != nil {
		t.Skip("there is no /dev/zero here")
	}
	for _, c := range []struct{ path, reason string }{
		{put("four", "1234"), ""},
		{put("five", "12345"), "has 5 bytes, expected at most 4"},
		{dir, "is a folder, expected a regular file"},
		{device, "is a device, expected a regular file"},
	} {
		b, err := Read(c.path, 4)
		var refused *RefusedError
		switch {
		case c.reason == "":
			if err != nil || string(b) != "1234" {
				t.Errorf("%s: %q, %v", c.path, b, err)
			}
		case !errors.As(err, &refused) || refused.Path != c.path || refused.Reason != c.reason:
			t.Errorf("%s: %v, want the reason %q", c.path, err, c.reason)
		}
	}
	if _, err := Read(filepath.Join(dir, "none"), 4); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
}

// Files in /proc are regular and have content, but size 0.
func TestReadIsBoundedWhateverTheSizeSays(t *testing.T) {
	const path = "/proc/self/status"
	if info, err := os.Stat(path); err != nil || info.Size() != 0 {
		t.Skip("there is no such file here")
	}
	var refused *RefusedError
	if _, err := Read(path, 4); !errors.As(err, &refused) {
		t.Errorf("got %v", err)
	}
}

func TestLongPath(t *testing.T) {
	_, _, err := Open(strings.Repeat("n", 5000), 1)
	var refused *RefusedError
	if !errors.As(err, &refused) || len(err.Error()) > 200 {
		t.Errorf("got %v", err)
	}
}

func TestHasControl(t *testing.T) {
	for s, want := range map[string]bool{
		"": false, "é 中 <b>": false, "\u2603 snow": false,
		"a\x1b[2J": true, "a\nb": true, "\u009b31m": true, "\u202eb": true, "\u2066": true,
	} {
		if got := HasControl(s); got != want {
			t.Errorf("%q: %t", s, got)
		}
	}
}
