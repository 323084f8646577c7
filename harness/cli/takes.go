package cli

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// takes is what a verb makes of the common flags that narrow a job or choose a form. What it would
// ignore it refuses: who gives gc -d believes that the runs of other data sets stay.
type takes struct {
	// narrow has the letters of those of -d, -m and -s that it heeds.
	narrow string
	// forms are the values of --format that it prints. text is the default, so that every verb
	// takes it, whatever it prints then.
	forms []string
}

// The forms of tables, and of verdicts and comparisons, which no page in HTML is made of.
var (
	tableForms   = []string{"text", "md", "latex", "html", "csv", "json"}
	verdictForms = []string{"text", "md", "latex", "csv", "json"}
)

// verbs has every verb by its path below ssdl.
var verbs = map[string]takes{
	"reproduce":      {"dms", verdictForms},
	"run":            {"dms", tableForms},
	"plan":           {"dms", []string{"text", "json"}},
	"status":         {"dms", []string{"text"}},
	"report":         {"dms", tableForms},
	"figure":         {"dms", []string{"text"}},
	"verify":         {"dms", verdictForms},
	"compare":        {"dms", verdictForms},
	"explain":        {"ds", []string{"text"}}, // the row is an argument
	"methods list":   {"", []string{"text", "json"}},
	"methods show":   {"", []string{"text"}},
	"data list":      {"", []string{"text"}},
	"data check":     {"d", []string{"text", "json"}},
	"data hash":      {"d", []string{"text"}},
	"data split":     {"s", []string{"text"}},
	"data stats":     {"d", []string{"text", "json"}},
	"data fetch":     {"", []string{"text"}},
	"data croissant": {"d", []string{"text"}},
	"features":       {"", []string{"text"}},
	"show":           {"", []string{"text", "json"}},
	"check":          {"dms", []string{"text"}},
	"gc":             {"", []string{"text"}},
	"export":         {"dms", []string{"csv", "json"}},
	"archive":        {"dms", []string{"text"}},
	"import":         {"", []string{"text"}},
	"doctor":         {"", []string{"text"}},
}

// narrowing are the flags that narrow a job.
var narrowing = []struct {
	letter, name string
	given        func(*common) bool
}{
	{"d", "--datasets", func(c *common) bool { return len(c.Datasets) > 0 }},
	{"m", "--methods", func(c *common) bool { return len(c.Methods) > 0 }},
	{"s", "--seeds", func(c *common) bool { return c.Seeds != "" }},
}

// narrows tells whether any of them was given.
func (c *common) narrows() bool {
	for _, f := range narrowing {
		if f.given(c) {
			return true
		}
	}
	return false
}

// refuse names a flag that was given and that the verb would ignore.
func (c *common) refuse(verb string) error {
	t, ok := verbs[verb]
	if !ok {
		return fmt.Errorf("%q is not among the verbs whose flags are known", verb)
	}
	for _, f := range narrowing {
		if f.given(c) && !strings.Contains(t.narrow, f.letter) {
			return fail(exitUsage, "ssdl %s takes no %s (-%s) and would do the same without; %s take it",
				verb, f.name, f.letter, which(func(t takes) bool { return strings.Contains(t.narrow, f.letter) }))
		}
	}
	if c.Format != "text" && !slices.Contains(t.forms, c.Format) {
		return fail(exitUsage, "ssdl %s prints %s, not %s; %s print that",
			verb, listWords(t.forms, "or"), c.Format, which(func(t takes) bool { return slices.Contains(t.forms, c.Format) }))
	}
	return nil
}

// which lists the verbs of a kind.
func which(like func(takes) bool) string {
	var names []string
	for _, name := range slices.Sorted(maps.Keys(verbs)) {
		if like(verbs[name]) {
			names = append(names, name)
		}
	}
	return listWords(names, "and")
}

// listWords joins words as a sentence lists them.
func listWords(words []string, last string) string {
	n := len(words) - 1
	if n < 1 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:n], ", ") + " " + last + " " + words[n]
}

// help says in one line which of the common flags there is a use for.
func (t takes) help() string {
	var narrow []string
	for _, f := range narrowing {
		if strings.Contains(t.narrow, f.letter) {
			narrow = append(narrow, "-"+f.letter)
		}
	}
	what := listWords(narrow, "and")
	switch len(narrow) {
	case 0:
		what = "none"
	case len(narrowing):
		what = "all"
	}
	return fmt.Sprintf("Of -d, -m and -s it takes %s; --format: %s.", what, strings.Join(t.forms, ", "))
}
