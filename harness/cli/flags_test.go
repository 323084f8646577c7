package cli

import (
	"slices"
	"strings"
	"testing"

	"ssdl/harness/report"
)

// flagsOf lists the flags of every verb by its path, without those that all verbs have.
func flagsOf(t *testing.T) map[string][]string {
	t.Helper()
	parser, err := newParser()
	if err != nil {
		t.Fatal(err)
	}
	flags := map[string][]string{}
	for _, n := range parser.Model.Leaves(false) {
		flags[n.Path()] = []string{}
		for _, f := range n.Flags {
			flags[n.Path()] = append(flags[n.Path()], f.Name)
		}
	}
	return flags
}

// A verb has only the flags that it uses; others are refused as unknown.
func TestVerbsHaveTheirFlags(t *testing.T) {
	narrow := []string{"datasets", "methods", "seeds"}
	want := map[string][]string{
		"reproduce": narrow, "run": narrow, "plan": narrow, "status": narrow, "report": narrow, "figure": narrow, "verify": narrow, "compare": narrow,
		"check": narrow, "export": narrow, "submit": narrow, "archive": narrow, "explain": {"datasets", "seeds"}, // the row is an argument
		"serve": {"datasets", "seeds"}, "claims": {"datasets", "seeds"}, "site": {"datasets", "seeds"}, // pages are of whole tables
		"data check": {"datasets"}, "data hash": {"datasets"}, "data stats": {"datasets"}, "data split": {"seeds"},
	}
	dir := t.TempDir()
	for verb, flags := range flagsOf(t) {
		for _, f := range narrow {
			if slices.Contains(flags, f) == slices.Contains(want[verb], f) {
				if slices.Contains(flags, f) {
					continue
				}
			} else {
				t.Errorf("ssdl %s --%s: %v, want %v", verb, f, slices.Contains(flags, f), slices.Contains(want[verb], f))
			}
			if verb == "help" || verb == "version" {
				continue
			}
			code, out, errs := inside(t, dir, append(strings.Fields(verb), "--"+f, "x")...)
			if code != exitUsage || out != "" || !strings.Contains(errs, "unknown flag --"+f) {
				t.Errorf("ssdl %s --%s x ends with %d: %s%s", verb, f, code, out, errs)
			}
			if _, out, _ := inside(t, dir, append(strings.Fields(verb), "--help")...); strings.Contains(out, "--"+f) {
				t.Errorf("the help of %s lists --%s", verb, f)
			}
		}
	}
	if files := listing(t, dir); len(files) > 1 {
		t.Errorf("there is now %v", files)
	}
}

// Verbs that print a table have every format, lists are for people or programs.
func TestFormatsOfVerbs(t *testing.T) {
	all, list := strings.Join(report.FormatNames(), ","), "text,json"
	want := map[string]string{
		"reproduce": all, "run": all, "report": all, "verify": all, "compare": all, "claims": all, "export": "csv,json",
		"plan": list, "status": list, "explain": list, "show": list, "check": list, "fsck": list, "methods list": list, "data list": list, "data check": list, "data stats": list, "exec check": list,
	}
	parser, err := newParser()
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range parser.Model.Leaves(false) {
		got := ""
		for _, f := range n.Flags {
			if f.Name == "format" {
				got = f.Enum
			}
		}
		if got != want[n.Path()] {
			t.Errorf("ssdl %s has the formats %q, want %q", n.Path(), got, want[n.Path()])
		}
	}
	if code, _, errs := inside(t, t.TempDir(), "plan", "table1", "--format", "csv"); code != exitUsage || !strings.Contains(errs, `must be one of "text","json"`) {
		t.Errorf("%d: %s", code, errs)
	}
}

func TestHelpAndVersion(t *testing.T) {
	dir := t.TempDir()
	for args, want := range map[string]string{
		"help": "Commands:", "help run": "Usage: ssdl run", "help data check": "Usage: ssdl data check", "version": "ssdl ", "--version": "ssdl ",
	} {
		code, out, errs := inside(t, dir, strings.Fields(args)...)
		if code != exitOK || !strings.Contains(out, want) || errs != "" {
			t.Errorf("ssdl %s ends with %d: %s%s", args, code, out, errs)
		}
		if strings.HasSuffix(args, "version") && (!strings.Contains(out, "go1.") || !strings.Contains(out, "kernels ") || strings.Contains(out, "  ")) {
			t.Errorf("ssdl %s: %s", args, out)
		}
	}
	if code, _, errs := inside(t, dir, "help", "rnu"); code != exitUsage || !strings.Contains(errs, `did you mean "run"`) {
		t.Errorf("the help of what is no verb: %d, %s", code, errs)
	}
}
