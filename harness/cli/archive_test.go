package cli

import (
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"ssdl/harness/archive"
	"ssdl/harness/store"
)

// The command in an archive makes the same table where the archive is unpacked, also of a spec that
// was given by its path and narrowed.
func TestArchiveNamesTheCommandOfItsRuns(t *testing.T) {
	dir, there := t.TempDir(), t.TempDir()
	data := filepath.Join(dir, "data")
	if err := os.Mkdir(data, 0o755); err != nil {
		t.Fatal(err)
	}
	two := strings.Replace(spec8, "[{method: src}]", "[{method: src}, {method: crc}]", 1)
	for name, content := range map[string]string{"data/tiny.csv": "1,2,0\n1,3,0\n5,1,1\n6,1,1\n", "my spec.yaml": two} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	narrow := []string{"my spec.yaml", "-m", "crc", "-s", "7,9", "--drop-zero", "--results", "r"}
	code, want, errs := inside(t, dir, append([]string{"run"}, narrow...)...)
	if code != exitOK {
		t.Fatalf("%d, %s", code, errs)
	}
	if code, _, errs := inside(t, dir, append([]string{"archive", "-o", "a.zip"}, narrow...)...); code != exitOK {
		t.Fatalf("%d, %s", code, errs)
	}
	if _, err := archive.Extract(t.Context(), filepath.Join(dir, "a.zip"), there, archive.TrustedKeys{}); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(there, "ro-crate-metadata.json"))
	if err != nil {
		t.Fatal(err)
	}
	made := regexp.MustCompile(`"Made by: ssdl (.*)"`).FindSubmatch(text)
	if made == nil {
		t.Fatalf("the archive names no command: %s", text)
	}
	if d := string(made[1]); d != "run specs/three.yaml -d tiny -s 7,9 -m crc --drop-zero" {
		t.Errorf("the archive names the command %q", d)
	}
	code, got, errs := inside(t, there, append(strings.Fields(string(made[1])), "--data", data)...)
	if code != exitOK || got != want {
		t.Errorf("%s ends with %d: %s%s; want %s", made[1], code, got, errs, want)
	}
}

// A snapshot does not change when runs are recorded meanwhile, and leaves no files behind.
func TestSnapshot(t *testing.T) {
	dir := t.TempDir()
	if err := errors.Join(
		os.Mkdir(filepath.Join(dir, "data"), 0o755),
		os.WriteFile(filepath.Join(dir, "data/tiny.csv"), tinySet(), 0o644),
		os.WriteFile(filepath.Join(dir, "spec.yaml"), []byte(spec8), 0o644),
	); err != nil {
		t.Fatal(err)
	}
	e := &env{ctx: t.Context()}
	ran := func(f resultsFlag) (n int) {
		t.Helper()
		st, err := e.readStore(f)
		if err != nil {
			t.Fatal(err)
		}
		defer st.Close()
		if err := st.Each(t.Context(), nil, func(store.RunRecord) error { n++; return nil }); err != nil {
			t.Fatal(err)
		}
		return n
	}
	sel := specSelection{resultsFlag: resultsFlag{filepath.Join(dir, "r")}}
	if _, _, err := e.snapshot(sel); err == nil {
		t.Error("there is a copy of a store that there is not")
	}
	inside(t, dir, "run", "spec.yaml", "-s", "1", "--results", "r")
	copied, done, err := e.snapshot(sel)
	if err != nil {
		t.Fatal(err)
	}
	inside(t, dir, "run", "spec.yaml", "-s", "2", "--results", "r")
	if now, then := ran(sel.resultsFlag), ran(copied.resultsFlag); now != 2 || then != 1 {
		t.Errorf("the store has %d runs and its copy %d, want 2 and 1", now, then)
	}
	done()
	if _, err := os.Stat(copied.Results); err == nil {
		t.Errorf("%s is left", copied.Results)
	}
}
