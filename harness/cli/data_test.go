package cli

import (
	"encoding/json"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// Line ends and tabs in the names of files add no lines and no columns.
func TestNamesOfFilesForgeNoRows(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("names of files have no line ends")
	}
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "data"), 0o755); err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string]string{"a\nforged\t9.csv": "1,0\n2,1\n", "b\nforged\t9.csv": "1\n"} {
		if err := os.WriteFile(filepath.Join(dir, "data", name), []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, args := range [][]string{{"list"}, {"check", "a\nforged\t9"}, {"hash", "a\nforged\t9"}} {
		code, out, errs := inside(t, dir, append([]string{"data"}, args...)...)
		if code != exitOK || !strings.Contains(out, "a forged 9") || strings.Contains(out, "\nforged") || strings.Contains(out, "\t") {
			t.Errorf("data %q: %d, %s%s", args, code, out, errs)
		}
	}
}

// Several data sets make one JSON document, a list; a single one makes an object.
func TestOneDocument(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"a.csv", "b.csv"} {
		if err := os.WriteFile(filepath.Join(dir, name), tinySet(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, verb := range []string{"check", "stats"} {
		var one map[string]any
		var two []map[string]any
		_, out, _ := inside(t, dir, "data", verb, "a.csv", "--format", "json")
		if err := json.Unmarshal([]byte(out), &one); err != nil {
			t.Errorf("data %s: %v\n%s", verb, err, out)
		}
		_, out, _ = inside(t, dir, "data", verb, "a.csv", "b.csv", "--format", "json")
		if err := json.Unmarshal([]byte(out), &two); err != nil || len(two) != 2 {
			t.Errorf("data %s of two: %v\n%s", verb, err, out)
		}
	}
}
