package report

import (
	"strings"

	outside "ssdl/harness/command"
	"ssdl/harness/job"
)

// OfTrial is the document of a test of an external program against the rules of its protocol.
func OfTrial(c job.Command, findings []outside.Finding) Document {
	about := facts("")
	about.add(items("program", strings.Join(c.Args, " "))...)
	if c.Interpreter != "" {
		about.add(items("version", c.Interpreter)...)
	}
	for _, f := range c.Files {
		about.add(items("file", f.Path+", SHA-256 "+f.SHA256)...)
	}
	rules := Grid{Head: []string{"Rule", "", ""}, Align: "lll", Groups: [][][]Item{nil}}
	for _, f := range findings {
		verdict := "ok"
		if !f.OK {
			verdict = "BROKEN"
		}
		rules.add(items(f.Rule, verdict, f.Text)...)
	}
	value := struct {
		Command job.Command       `json:"command"`
		Rules   []outside.Finding `json:"rules"`
	}{c, findings}
	return Document{Grids: []Grid{about, rules}, Value: value}
}
