package spec_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ssdl/harness/job"
	"ssdl/harness/spec"
)

// Each file of testdata/errors ends in the messages that it must give, as comments:
//
//	# want 3:7: message
//
// A file that gives other messages, more or fewer, fails. Where the rest of a message lists
// what the catalog has, "..." stands for it.
func TestErrors(t *testing.T) {
	files, err := filepath.Glob("testdata/errors/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("no test files: %v", err)
	}
	for _, path := range files {
		name := filepath.Base(path)
		t.Run(strings.TrimSuffix(name, ".yaml"), func(t *testing.T) {
			src, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			var want []string
			for line := range strings.Lines(string(src)) {
				if message, ok := strings.CutPrefix(line, "# want "); ok {
					want = append(want, name+":"+strings.TrimSuffix(message, "\n"))
				}
			}
			_, err = spec.Parse(name, src)
			if err == nil {
				t.Fatal("no error")
			}
			got := strings.Split(err.Error(), "\n")
			for i, line := range want {
				if start, ok := strings.CutSuffix(line, "..."); ok && i < len(got) && strings.HasPrefix(got[i], start) {
					got[i] = line
				}
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("messages (-want +got):\n%s", diff)
			}
			checkPlaces(t, err, src)
		})
	}
}

// checkPlaces tests that every error is in the file, and that they are in its order.
func checkPlaces(t interface{ Errorf(string, ...any) }, err error, src []byte) {
	var list spec.Errors
	if !errors.As(err, &list) || len(list) == 0 {
		t.Errorf("error of type %T, want spec.Errors", err)
		return
	}
	lines := strings.Count(string(src), "\n") + 1
	for i, e := range list {
		if e.Line < 1 || e.Column < 1 || e.Line > lines+1 {
			t.Errorf("%v: no such place in %d lines", e, lines)
		}
		if strings.Contains(e.Message, "\n") || e.Message == "" {
			t.Errorf("message %q is not one line", e.Message)
		}
		if i > 0 && (e.Line < list[i-1].Line || e.Line == list[i-1].Line && e.Column < list[i-1].Column) {
			t.Errorf("%v comes after %v", e, list[i-1])
		}
	}
}

func TestLargeAndDeepFilesAreRefused(t *testing.T) {
	for name, src := range map[string]string{
		"large": "name: x # " + strings.Repeat("x", 1<<20),
		"deep":  strings.Repeat("[", 1<<19),
		"wide":  "rows: [" + strings.Repeat("{},", 1<<18) + "]",
		"bytes": "name: \xff\xfe\x00",
	} {
		if _, err := spec.Parse(name, []byte(src)); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	var many spec.Errors
	_, err := spec.Parse("many", []byte("["+strings.Repeat("&a 1,", 5000)+"]"))
	if !errors.As(err, &many) || len(many) != 5000 || strings.Count(err.Error(), "\n") != 100 ||
		!strings.HasSuffix(err.Error(), "many: and 4900 more") {
		t.Errorf("5000 errors are reported as %d, in %d bytes", len(many), len(err.Error()))
	}
	big := filepath.Join(t.TempDir(), "big.yaml")
	if err := os.WriteFile(big, make([]byte, 3<<20), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := spec.Load(big); err == nil || !strings.Contains(err.Error(), "larger than") {
		t.Errorf("a file of 3 MiB: %v", err)
	}
}

func FuzzParse(f *testing.F) {
	for _, pattern := range []string{"testdata/errors/*.yaml", "../../experiments/*.yaml"} {
		files, err := filepath.Glob(pattern)
		if err != nil {
			f.Fatal(err)
		}
		for _, path := range files {
			src, err := os.ReadFile(path)
			if err != nil {
				f.Fatal(err)
			}
			f.Add(src)
		}
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		s, err := spec.Parse("fuzz.yaml", src)
		if err != nil {
			checkPlaces(t, err, src)
			return
		}
		for _, c := range s.Cells() {
			s.Jobs(c, len(c.Candidates)-1, job.EvalTest, s.Seeds)[0].Encode()
		}
	})
}
