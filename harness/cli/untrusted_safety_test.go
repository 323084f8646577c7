package cli

import (
	"archive/zip"
	"bytes"
	"context"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode"

	"ssdl/harness/store"
)

// inside runs the command line in this process, in the folder dir, without data of its own.
func inside(t *testing.T, dir string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	t.Chdir(dir)
	t.Setenv("SSDL_DATA", "")
	var out, errs bytes.Buffer
	code = Main(context.Background(), nil, args, strings.NewReader(""), &out, &errs)
	for _, text := range []string{out.String(), errs.String()} {
		if i := strings.IndexFunc(text, func(r rune) bool {
			return unicode.IsControl(r) && r != '\n' && r != '\t' || unicode.Is(unicode.Bidi_Control, r)
		}); i >= 0 {
			t.Errorf("ssdl %q prints a control character: %.80q", args, text[i:])
		}
		if strings.Contains(text, "panic:") || strings.Contains(text, "goroutine ") {
			t.Errorf("ssdl %q panics: %s", args, text)
		}
	}
	return code, out.String(), errs.String()
}

const spec8 = `name: three
datasets: [tiny]
seeds: 1000
split: {kind: class, train: 0.5, labels: 0.5}
select: paper
rows: [{method: src}]
`

// Names with a path are refused by name, and nothing is written.
func TestNamesThatLeadElsewhere(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "here")
	if err := os.MkdirAll(filepath.Join(dir, "data"), 0o755); err != nil {
		t.Fatal(err)
	}
	table := "1,2,0\n1,3,0\n5,1,1\n6,1,1\n"
	for name, content := range map[string]string{
		"../evil.csv": table, "data/tiny.csv": table, "good.yaml": spec8,
		"name.yaml":    strings.Replace(spec8, "name: three", `name: "../../evil"`, 1),
		"dot.yaml":     strings.Replace(spec8, "name: three", `name: ".."`, 1),
		"dataset.yaml": strings.Replace(spec8, "[tiny]", `["../evil"]`, 1),
		"id.yaml":      strings.Replace(spec8, "{method: src}", `{id: "../src", method: src}`, 1),
		"escape.yaml":  strings.Replace(spec8, "name: three", `name: "a\e[2Jb"`, 1),
	} {
		if err := os.WriteFile(filepath.Join(dir, filepath.FromSlash(name)), []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if code, _, errs := inside(t, dir, "run", "good.yaml", "--results", "r"); code != exitOK {
		t.Fatalf("the good spec: %d, %s", code, errs)
	}
	before := listing(t, filepath.Dir(dir))
	for _, tc := range []struct {
		args  []string
		code  int
		wants string
	}{
		{[]string{"run", "name.yaml"}, exitUsage, "is not a name"},
		{[]string{"run", "dot.yaml"}, exitUsage, "is not a name"},
		{[]string{"run", "dataset.yaml"}, exitUsage, "is not a name"},
		{[]string{"run", "id.yaml"}, exitUsage, "is not a name"},
		{[]string{"run", "escape.yaml"}, exitUsage, "is not a name"},
		{[]string{"run", "good.yaml", "-d", "../evil"}, exitUsage, "is not a name"},
		{[]string{"run", "../here/good"}, exitUsage, "good"}, // a path without .yaml: not there
		{[]string{"run", "..\x1b[2J"}, exitUsage, "no spec"},
		{[]string{"data", "check", "..\x1b]0;owned\x07"}, exitNoData, "no such file"},
		{[]string{"explain", "good.yaml", "../src"}, exitUsage, "src"},
		{[]string{"data", "check", "tiny", "--format", "\x1b[2J"}, exitUsage, "must be one of"},
	} {
		args := tc.args
		if args[0] != "data" {
			args = append(args, "--results", "r")
		}
		code, _, errs := inside(t, dir, args...)
		if code != tc.code || !strings.Contains(errs, tc.wants) {
			t.Errorf("ssdl %q ends with %d: %s; want %d and %q", tc.args, code, errs, tc.code, tc.wants)
		}
	}
	if after := listing(t, filepath.Dir(dir)); !slices.Equal(before, after) {
		t.Errorf("there was\n%s\nand is\n%s", strings.Join(before, "\n"), strings.Join(after, "\n"))
	}
}

// listing lists the files below a folder, without those that SQLite keeps beside a store.
func listing(t *testing.T, dir string) (paths []string) {
	t.Helper()
	if err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !strings.Contains(path, "runs.db-") {
			paths = append(paths, path)
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
	return paths
}

// TestUntrustedArchives imports manipulated archives by the command line.
func TestUntrustedArchives(t *testing.T) {
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "data"), 0o755); err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string]string{"data/tiny.csv": "1,2,0\n1,3,0\n5,1,1\n6,1,1\n", "good.yaml": spec8} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, args := range [][]string{{"run", "good.yaml", "--results", "r"}, {"archive", "good.yaml", "-o", "good.zip", "--results", "r"}} {
		if code, _, errs := inside(t, dir, args...); code != exitOK {
			t.Fatalf("ssdl %q: %d, %s", args, code, errs)
		}
	}
	good, err := os.ReadFile(filepath.Join(dir, "good.zip"))
	if err != nil {
		t.Fatal(err)
	}
	for name, tc := range map[string]struct {
		content []byte
		wants   string
	}{
		"cut.zip":     {good[:len(good)/2], "is not a zip file, or it is damaged"},
		"slip.zip":    {rezip(t, good, "runs.db", "../runs.db", nil), "may lie outside"},
		"escape.zip":  {rezip(t, good, "specs/three.yaml", "specs/\x1b[2J.yaml", nil), "may lie outside"},
		"missing.zip": {rezip(t, good, "specs/three.yaml", "", nil), `"specs/three.yaml" is missing`},
		"changed.zip": {rezip(t, good, "tables/three.txt", "tables/three.txt", []byte("better numbers")), `"tables/three.txt" is not the file`},
		"more.zip":    {rezip(t, good, "", "tables/more.txt", []byte("x")), `"tables/more.txt" is not described`},
		"store.zip":   {rezip(t, good, "runs.db", "runs.db", []byte("SQLite format 3\x00")), `"runs.db" is not the file`},
	} {
		if err := os.WriteFile(filepath.Join(dir, name), tc.content, 0o644); err != nil {
			t.Fatal(err)
		}
		code, out, errs := inside(t, dir, "import", name, "--results", "into")
		if code != exitUsage || out != "" || !strings.Contains(errs, tc.wants) || !strings.Contains(errs, name) {
			t.Errorf("%s ends with %d: %s%s; want %q", name, code, out, errs, tc.wants)
		}
		if _, err := os.Stat(filepath.Join(dir, "into")); err == nil {
			t.Fatalf("%s left a store", name)
		}
	}
	if code, out, errs := inside(t, dir, "import", "good.zip", "--results", "into"); code != exitOK || !strings.Contains(out, "\nadded: 1 run,") {
		t.Errorf("the good archive: %d, %s%s", code, out, errs)
	}
}

// rezip copies an archive and replaces the file from by the file to with content. An empty from adds a
// file, an empty to removes one, and nil content keeps the content.
func rezip(t *testing.T, archive []byte, from, to string, content []byte) []byte {
	t.Helper()
	r, err := zip.NewReader(bytes.NewReader(archive), int64(len(archive)))
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	put := func(name string, content []byte) {
		f, err := w.Create(name)
		if err == nil {
			_, err = f.Write(content)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, f := range r.File {
		in, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		kept, err := io.ReadAll(in)
		if err != nil {
			t.Fatal(err)
		}
		switch {
		case f.Name != from:
			put(f.Name, kept)
		case to == "":
		case content == nil:
			put(to, kept)
		default:
			put(to, content)
		}
	}
	if from == "" {
		put(to, content)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// Every verb prints the errors and names of an untrusted store as plain text.
func TestUntrustedErrors(t *testing.T) {
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "data"), 0o755); err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string]string{"data/tiny.csv": "1,2,0\n1,3,0\n5,1,1\n6,1,1\n", "good.yaml": spec8} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	inside(t, dir, "run", "good.yaml", "--results", "r", "--timeout", "1ns")
	st, err := store.Open(t.Context(), filepath.Join(dir, "r", "runs.db"))
	if err != nil {
		t.Fatal(err)
	}
	var uid string
	if err := st.Each(t.Context(), nil, func(e store.RunRecord) error {
		e.Run.UID, e.Run.Error, e.Run.Started = store.NewUID(), "\x1b[2J=cmd()\x1b]0;owned\x07\u202e<b>", e.Run.Started.Add(1e9)
		uid = e.Run.UID
		return st.Record(t.Context(), e.Job, e.Run)
	}); err != nil {
		t.Fatal(err)
	}
	st.Close()
	for _, args := range [][]string{
		{"report", "good.yaml"},
		{"report", "good.yaml", "--format", "md"},
		{"report", "good.yaml", "--format", "csv"},
		{"report", "good.yaml", "--format", "latex"},
		{"report", "good.yaml", "--format", "json"},
		{"plan", "good.yaml"},
		{"explain", "good.yaml", "src"},
		{"status", "good.yaml"},
		{"verify", "good.yaml"},
		{"export"},
		{"export", "good.yaml", "--format", "json"},
		{"show", uid},
		{"show", uid, "--format", "json"},
		{"run", "good.yaml"},
	} {
		if _, out, errs := inside(t, dir, append(args, "--results", "r")...); out+errs == "" {
			t.Errorf("ssdl %q prints nothing", args)
		}
	}
	_, out, _ := inside(t, dir, "plan", "good.yaml", "--results", "r")
	if !strings.Contains(out, "=cmd()") {
		t.Errorf("the error is not shown at all: nothing was tested\n%s", out)
	}
}
