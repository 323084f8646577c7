package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ssdl/harness/cli"
)

// pages are the documents whose numbers come from the published store. Blocks of them are generated: each stands
// between a line that says what of and the line <!-- end -->.
//
//	<!-- output of: ssdl claims --format md -->           all that the program prints
//	<!-- table of: ssdl report table1 --format md -->     the table, and the notes that its cells refer to
//	<!-- table of: results/published/a.md -->             the first table of a published file
//	<!-- picture of: results/published/a.svg: a title --> the picture
//
// All commands read results/published/runs.zip alone. A file that is not published shows as such.
var pages = []string{"README.md", "REPRODUCE.md", "results/published/performance.md"}

const archive = "results/published/runs.zip"

var block = regexp.MustCompile(`(?ms)^<!-- (output|table|picture) of: ([^\n]*?) -->\n(.*?)^<!-- end -->$`)

// TestBlocks compares the generated blocks with what the published store gives. `make docs` writes them.
func TestBlocks(t *testing.T) {
	t.Setenv("SSDL_DATA", "")
	store := t.TempDir()
	ssdl(t, store, "import", archive)
	top, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir()) // where no folder data is
	for _, page := range pages {
		path := filepath.Join(top, page)
		raw, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if !block.Match(raw) {
			t.Errorf("%s has no generated block", page)
		}
		now := block.ReplaceAllStringFunc(string(raw), func(text string) string {
			m := block.FindStringSubmatch(text)
			return fmt.Sprintf("<!-- %s of: %s -->\n\n%s\n\n<!-- end -->", m[1], m[2], generated(t, top, store, m[1], m[2]))
		})
		if *update {
			if err := os.WriteFile(path, []byte(now), 0o644); err != nil {
				t.Fatal(err)
			}
			continue
		}
		if d := cmp.Diff(strings.Split(string(raw), "\n"), strings.Split(now, "\n")); d != "" {
			t.Errorf("%s is not what %s gives; make docs writes it (-page +published):\n%s", page, archive, d)
		}
	}
}

// generated is the text of a block of a document in the folder top.
func generated(t *testing.T, top, store, kind, of string) string {
	t.Helper()
	args := strings.Fields(of)
	path, title, _ := strings.Cut(of, ": ")
	output, err := os.ReadFile(filepath.Join(top, path))
	switch {
	case args[0] == "ssdl":
		output = ssdl(t, store, args[1:]...)
	case !strings.HasPrefix(path, "results/published/"):
		t.Fatalf("%q is neither a command of ssdl nor a published file", of)
	case kind == "picture" && title == "":
		t.Fatalf("picture of %s: it has no title", of)
	case err != nil:
		return strings.TrimSpace("*Not published, since results are missing. "+title) + "*"
	case kind == "picture":
		return fmt.Sprintf("![%s](%s)", title, path)
	}
	text, notes := string(output), ""
	if kind == "table" {
		text = ""
		ended := false
		for line := range strings.Lines(string(output)) {
			if strings.HasPrefix(line, "|") && !ended {
				text += line
			}
			ended = ended || text != "" && !strings.HasPrefix(line, "|")
			if strings.HasPrefix(line, "- <sup>") {
				notes += line
			}
		}
		text += strings.TrimRight("\n"+notes, "\n")
	}
	if text = strings.TrimSpace(text); text == "" {
		t.Fatalf("%s gives nothing", of)
	}
	return text
}

// ssdl runs the program on a store.
func ssdl(t *testing.T, store string, args ...string) []byte {
	t.Helper()
	var out, errs bytes.Buffer
	if code := cli.Main(t.Context(), sources, append(args, "--results", store), nil, &out, &errs); code != 0 {
		t.Fatalf("ssdl %s ends with %d: %s", strings.Join(args, " "), code, &errs)
	}
	return out.Bytes()
}

var (
	notProse = regexp.MustCompile("(?ms)^```.*?^```$|^(?:    [^\n]*\n)+|<!--.*?-->|`[^`\n]*`|\\]\\([^)]*\\)")
	// A measured number has a decimal point, or a unit behind it. All others count or name something.
	measured = regexp.MustCompile(`(?:^|[^\w.^/-])(\d+\.\d+|\d+(?:\s(?:%|points?|seconds?|minutes?|hours?|days?|ms|s|min|h|kB|MB|GB|GiB)(?:[\s.,;:)|]|$)))`)
	number   = regexp.MustCompile(`\d+(?:\.\d+)?`)
)

// TestNumbersArePublished fails where a measured number of the prose is in no file of results/published. Settings,
// versions and what the paper prints stand in code quotes, and are not measured.
func TestNumbersArePublished(t *testing.T) {
	published := map[string]bool{}
	err := filepath.WalkDir("results/published", func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() || !slices.Contains([]string{".md", ".txt", ".csv", ".json"}, filepath.Ext(path)) {
			return err
		}
		raw, err := os.ReadFile(path)
		for _, n := range number.FindAllString(string(raw), -1) {
			published[n] = true
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, page := range pages {
		raw, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, n := range measuredIn(string(raw)) {
			if !published[n] {
				t.Errorf("%s: %s is measured, and in no file of results/published. Take it from there, or quote it as code if it is a setting", page, n)
			}
		}
	}
}

// measuredIn lists the measured numbers of the prose of a page: what is generated, and code, are no prose.
func measuredIn(page string) []string {
	var out []string
	for _, m := range measured.FindAllStringSubmatch(notProse.ReplaceAllString(block.ReplaceAllString(page, ""), " "), -1) {
		out = append(out, number.FindString(m[1]))
	}
	return out
}

func TestMeasuredNumbers(t *testing.T) {
	page := "The 12 rows of 2021 have 75.9 ± 0.4 %, 3 points more (8 min) than Table 2; `fill 0.5` and\n\n    0.7 in code\n\n" +
		"[0.8](a/0.9.md) takes 40 % of 1,200 samples.\n\n<!-- table of: ssdl x 1.1 -->\n| 2.2 |\n<!-- end -->\n```\n3.3\n```\n4.4\n"
	if d := cmp.Diff([]string{"75.9", "0.4", "3", "8", "0.8", "40", "4.4"}, measuredIn(page)); d != "" {
		t.Errorf("(-want +got)\n%s", d)
	}
}

// Links and pictures of the documents lead to files.
func TestLinks(t *testing.T) {
	list, err := filepath.Glob("docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	link := regexp.MustCompile(`\]\(([^)#]+)(?:#[^)]*)?\)`)
	for _, page := range append(list, "README.md", "REPRODUCE.md", "CONTRIBUTING.md", "ARCHITECTURE.md", "results/published/README.md") {
		raw, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range link.FindAllStringSubmatch(string(raw), -1) {
			if strings.Contains(m[1], "://") {
				continue
			}
			if _, err := os.Stat(filepath.Join(filepath.Dir(page), m[1])); err != nil {
				t.Errorf("%s: [...](%s) leads nowhere", page, m[1])
			}
		}
	}
}
