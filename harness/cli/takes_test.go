package cli

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"ssdl/harness/verify"
)

// leaves are the verbs of the grammar by their paths.
func leaves(t *testing.T) []string {
	t.Helper()
	parser, err := newParser(&grammar{})
	if err != nil {
		t.Fatal(err)
	}
	var paths []string
	for _, n := range parser.Model.Leaves(false) {
		paths = append(paths, n.Path())
	}
	return paths
}

// A new verb must say which of the common flags it heeds: the others are refused then.
func TestEveryVerbSaysWhatItTakes(t *testing.T) {
	paths := slices.Sorted(slices.Values(leaves(t)))
	if known := slices.Sorted(maps.Keys(verbs)); !slices.Equal(paths, known) {
		t.Errorf("the verbs are\n%s\nand takes.go has\n%s", strings.Join(paths, "\n"), strings.Join(known, "\n"))
	}
	words := slices.Sorted(maps.Keys(formats))
	if all := slices.Sorted(slices.Values(tableForms)); !slices.Equal(all, words) {
		t.Errorf("tables have the forms %v, and --format %v", all, words)
	}
	for _, form := range words {
		name := formats[form]
		if got, want := slices.Contains(verdictForms, form), slices.Contains(verify.Formats(), name); got != want {
			t.Errorf("verdicts as %s: %v, the renderer says %v", form, got, want)
		}
	}
}

// Each verb refuses each flag that it would ignore, before it does anything.
func TestFlagsThatAVerbWouldIgnore(t *testing.T) {
	flags := map[string][]string{"d": {"-d", "synth8"}, "m": {"-m", "nosuch"}, "s": {"-s", "7"}}
	args := map[string][]string{ // those that a verb needs to be understood
		"explain": {"table1", "crc"}, "check": {"table1", "--determinism"}, "archive": {"-o", "x.zip"},
		"features": {"--model", "m.onnx", "--out", "x"}, "import": {"x.zip"}, "methods show": {"crc"}, "show": {"0"},
		"data split": {"tiny"}, "data fetch": {"stanford40"}, "plan": {"table1"}, "run": {"table1"},
		"report": {"table1"}, "compare": {"table1"}, "figure": {"table1"},
	}
	dir := t.TempDir()
	for verb, takes := range verbs {
		refuses := func(what string, flag ...string) {
			code, out, errs := inside(t, dir, slices.Concat(strings.Fields(verb), args[verb], flag, []string{"--results", "r"})...)
			if code != exitUsage || out != "" || !strings.Contains(errs, "ssdl "+verb+" "+what) {
				t.Errorf("ssdl %s %q ends with %d: %s%s", verb, flag, code, out, errs)
			}
		}
		for letter, flag := range flags {
			if !strings.Contains(takes.narrow, letter) {
				refuses("takes no ", flag...)
			}
		}
		for form := range formats {
			if form != "text" && !slices.Contains(takes.forms, form) {
				refuses("prints ", "--format", form)
			}
		}
	}
	if code, _, errs := inside(t, dir, "methods", "-m", "crc"); code != exitUsage || !strings.Contains(errs, "ssdl methods list takes no --methods (-m)") {
		t.Errorf("the default verb: %d, %s", code, errs)
	}
	if files := listing(t, dir); len(files) > 1 {
		t.Errorf("there is now %v", files)
	}
	if code, out, errs := inside(t, dir, "explain", "--help"); code != exitOK || !strings.Contains(out, "it takes -d and -s; --format: text.") {
		t.Errorf("the help of explain: %d, %s%s", code, out, errs)
	}
}
