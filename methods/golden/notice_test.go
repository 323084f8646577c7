//go:build !race

// Without the race detector, under which the variants take more than a minute and which they have
// nothing for: TestGolden runs the same code.

package golden

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// Files under a variant of this name are for TestNotice's second process.
const (
	changed = "~changed~"
	dropped = "~dropped~"
)

// notCompared are the entries that no method gives: what goes in (where a change nearly always
// shows in an output as well), with what settings, and how far the references agree.
var notCompared = regexp.MustCompile(strings.Join([]string{
	`^(inputs|params|hyperparameters|init|tolerance|checks)\.`,
	`^(X|labels|labelled_mask|C|k|lambda|fill|sigma2|gamma|mu|beta|step|outer|inner|iters|M|W|U|p)$`,
	`\.(T|p|eps_bce|eps_rownorm)$`,
	`(^|\.)(shape|rows|cols|row|col)$`, // of a matrix: a change is refused or shows in val
	`^(knn_gap_d2|omp_min_selection_margin)$`,
	`\.(unique|max_duality_gap|sweeps_from|grad_norm)$`,
	`^thu_(fill|A|form\.(mu|resid|w|H2\.val))$`, // w is that of a step which HLW does not offer
	`^objective_as_published_code$`,             // of the line that is damaged there
}, "|"))

// TestNotice changes one number after the other of what the small files say comes out, and
// leaves out one entry after the other: the first must be noticed, the second borne.
func TestNotice(t *testing.T) {
	if testing.Short() {
		t.Skip("runs the test binary on variants of all small files")
	}
	t.Parallel()
	dir := t.TempDir()
	var files []string
	for _, from := range []string{"testdata", filepath.Join("..", "..", "..", "shared", "golden")} {
		found, err := filepath.Glob(filepath.Join(from, "*_tiny.json"))
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range found {
			if !slices.ContainsFunc(files, func(other string) bool { return filepath.Base(other) == filepath.Base(path) }) {
				files = append(files, path)
			}
		}
	}
	variants := map[string]string{} // the entry that each is about
	for _, path := range files {
		raw, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		noticeVariants(t, dir, strings.TrimSuffix(filepath.Base(path), ".json"), raw, variants)
	}

	verdicts, out := testFolder(t, dir)
	if len(verdicts) < len(variants) {
		t.Fatalf("%d verdicts on %d variants; the output ends with\n%s", len(verdicts), len(variants), out[max(0, len(out)-4000):])
	}
	for _, name := range slices.Sorted(maps.Keys(variants)) {
		switch verdict := verdicts[name]; {
		case strings.Contains(name, changed) && verdict != "FAIL":
			t.Errorf("%s: a change of %s is not noticed (%s)", name, variants[name], verdict)
		case strings.Contains(name, dropped) && verdict == "FAIL":
			t.Errorf("%s: the test fails without %s", name, variants[name])
		}
	}
	t.Logf("%d variants of %d files", len(variants), len(files))
}

// testFolder runs TestGolden on the files of a folder alone, in a process of its own. It returns
// PASS, FAIL or SKIP by the name of each file, and the output.
func testFolder(t *testing.T, dir string) (verdicts map[string]string, out string) {
	t.Helper()
	self, err := filepath.Abs(os.Args[0])
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), self, "-test.run=^TestGolden$", "-test.v")
	cmd.Dir = dir // which has no testdata
	cmd.Env = append(os.Environ(), "SSDL_GOLDEN="+dir)
	text, err := cmd.CombinedOutput()
	if _, failed := err.(*exec.ExitError); err != nil && !failed {
		t.Fatal(err)
	}
	verdicts = map[string]string{}
	for _, m := range regexp.MustCompile(`(?m)^    --- (PASS|FAIL|SKIP): TestGolden/(\S+)`).FindAllSubmatch(text, -1) {
		verdicts[string(m[2])] = string(m[1])
	}
	return verdicts, string(text)
}

// A file of an unknown method fails, and a file with a parameter that the catalog refuses fails with
// the catalog's message.
func TestFilesThatCannotBe(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	cases := []struct {
		file  string
		path  []string
		value any
		want  string
	}{
		{"crc_tiny", []string{"method"}, "crx", `unknown method "crx"`},
		{"src_tiny", []string{"method"}, "srcx", `unknown method "srcx"`},
		{"crc_tiny", []string{"hyperparameters", "lambda_"}, -1, "crc: parameter lambda: -1 is out of range: at least 2^-30"},
		{"euler_src_tiny", []string{"hyperparameters", "alpha"}, 5, "euler-src: parameter alpha: 5 is out of range"},
		{"nrc_tiny", []string{"hyperparameters", "admm_rho"}, -2, "nrc: parameter rho: -2 is out of range"},
		{"addl_tiny", []string{"params", "tau"}, 0, "addl: parameter tau: 0 is out of range"},
		{"ssdl_tiny", []string{"params", "alpha"}, -3, "ssdl: parameter alpha: -3 is out of range"},
		{"lcksvd2_tiny", []string{"params", "sqrt_alpha"}, -4, "lcksvd: parameter sqrt_alpha: -4 is out of range"},
		{"hl_tiny", []string{"lambda"}, -5, "hl: parameter lambda: -5 is out of range"},
		{"pahl_edge_tiny", []string{"runs", "0", "p"}, 9, "pahl: parameter p: 9 is out of range: 1.01 to 3"},
	}
	for i, c := range cases {
		raw, err := os.ReadFile(filepath.Join("testdata", c.file+".json"))
		if err != nil {
			t.Fatal(err)
		}
		var file map[string]any
		if err := json.Unmarshal(raw, &file); err != nil {
			t.Fatal(err)
		}
		holder, last := noticeHolder(file, c.path)
		if _, ok := holder[last]; !ok {
			t.Fatalf("%s has no %v", c.file, c.path)
		}
		holder[last] = c.value
		if raw, err = json.Marshal(file); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("%s~%d.json", c.file, i)), raw, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	verdicts, out := testFolder(t, dir)
	for i, c := range cases {
		if v := verdicts[fmt.Sprintf("%s~%d", c.file, i)]; v != "FAIL" || !strings.Contains(out, c.want) {
			t.Errorf("%s with %v = %v: %q, want FAIL with %q", c.file, c.path, c.value, v, c.want)
		}
	}
	if t.Failed() {
		t.Log(out)
	}
}

// noticeVariants writes the variants of a file into dir.
func noticeVariants(t *testing.T, dir, name string, raw []byte, variants map[string]string) {
	t.Helper()
	parse := func() map[string]any {
		var file map[string]any
		if err := json.Unmarshal(raw, &file); err != nil {
			t.Fatal(err)
		}
		return file
	}
	write := func(kind, path string, file map[string]any) {
		variant := fmt.Sprintf("%s%s%d", name, kind, len(variants))
		text, err := json.Marshal(file)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, variant+".json"), text, 0o644); err != nil {
			t.Fatal(err)
		}
		variants[variant] = name + ": " + path
	}
	seen := map[string]bool{}
	for _, path := range noticePaths(parse(), nil) {
		full := strings.Join(path, ".")
		// Of the elements of a list, and of the exponents p1.5, p2, ..., the first is enough.
		kind := strings.Join(slices.DeleteFunc(slices.Clone(path), func(name string) bool {
			_, err := strconv.ParseFloat(strings.TrimPrefix(name, "p"), 64)
			return err == nil
		}), ".")
		if seen[kind] {
			continue
		}
		seen[kind] = true
		file := parse()
		holder, last := noticeHolder(file, path)
		value := holder[last]
		delete(holder, last)
		if full == "method" {
			write(changed, full, file) // a file has to say what it is of
			continue
		}
		write(dropped, full, file)
		if notCompared.MatchString(full) {
			continue
		}
		file = parse()
		holder, _ = noticeHolder(file, path)
		if moved, ok := noticeChange(value); ok {
			holder[last] = moved
			write(changed, full, file)
		}
	}
}

// noticePaths lists the paths of all entries of objects, sorted; those of the objects in a
// list have their places as names.
func noticePaths(v any, at []string) [][]string {
	var out [][]string
	switch v := v.(type) {
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			path := append(slices.Clone(at), name)
			out = append(append(out, path), noticePaths(v[name], path)...)
		}
	case []any:
		for i, element := range v {
			if _, ok := element.(map[string]any); ok {
				out = append(out, noticePaths(element, append(slices.Clone(at), strconv.Itoa(i)))...)
			}
		}
	}
	return out
}

// noticeHolder returns the object that holds the entry of a path, and its name there.
func noticeHolder(file map[string]any, path []string) (map[string]any, string) {
	var v any = file
	for _, name := range path[:len(path)-1] {
		if list, ok := v.([]any); ok {
			i, _ := strconv.Atoi(name)
			v = list[i]
			continue
		}
		v = v.(map[string]any)[name]
	}
	return v.(map[string]any), path[len(path)-1]
}

// noticeChange moves a number, or the last one of a list, by 0.1 % and at least 0.001; whole
// numbers, which can be classes, by 1.
func noticeChange(v any) (any, bool) {
	switch v := v.(type) {
	case float64:
		if v == math.Trunc(v) && math.Abs(v) < 1e6 {
			return v + 1, true
		}
		return v + 1e-3*max(1, math.Abs(v)), true
	case []any:
		for i := len(v) - 1; i >= 0; i-- {
			if moved, ok := noticeChange(v[i]); ok {
				v[i] = moved
				return v, true
			}
		}
	}
	return nil, false
}
