package cli

import (
	"ssdl/harness/report"
	"ssdl/harness/results"
	"ssdl/harness/spec"
)

type explainCmd struct {
	Spec    string `arg:"" help:"Built-in spec (${specs}) or path of a YAML file."`
	Row     string `arg:"" help:"Row of the table, e.g. ssdl, or one setting of a sweep, e.g. 'pahl@pretext.p=2.2'."`
	Dataset string `arg:"" optional:"" help:"Data set (default: all of the spec)."`
	dataFlags
	recordedFlag
	resultsFlag
	datasetsFlag
	seedsFlag
	listOutput
}

func (c *explainCmd) Run(e *env) error {
	sel := specSelection{c.dataFlags, c.resultsFlag, c.datasetsFlag, []string{c.Row}, c.seedsFlag}
	if c.Dataset != "" {
		if len(c.Datasets) > 0 {
			return fail(exitUsage, "%s and -d both name data sets: give one of them", c.Dataset)
		}
		sel.Datasets = []string{c.Dataset}
	}
	if s, err := spec.Load(c.Spec); err == nil { // storedPlan reports the errors of the spec
		if base, ok := results.BaseOf(s, c.Row); ok {
			sel.Methods = []string{base}
		}
	}
	sel.recorded = c.Recorded
	p, err := e.storedPlan(sel, c.Spec)
	if err != nil {
		return err
	}
	st, done, err := e.quietStoreOrEmpty(c.resultsFlag)
	if err != nil {
		return err
	}
	defer done()
	list := []results.Explanation{}
	for _, cell := range p.Cells {
		x := results.Explain(p, cell)
		if sel.Methods[0] != c.Row && x.Row != c.Row {
			continue
		}
		if err := x.ReadRecords(e.ctx, st); err != nil {
			return err
		}
		x.Command = append([]string{"ssdl", "run", c.Spec, "-m", x.Base, "-d", x.Dataset}, selectionWords(c.dataFlags, c.seedsFlag)...)
		list = append(list, x)
	}
	return c.write(e, report.OfExplanations(list))
}

// selectionWords are the given flags of data and seeds, for a printed command.
func selectionWords(d dataFlags, s seedsFlag) []string {
	var words []string
	if s.Seeds != "" {
		words = append(words, "-s", s.Seeds)
	}
	for _, folder := range d.Data {
		words = append(words, "--data", folder)
	}
	if d.DropZero {
		words = append(words, "--drop-zero")
	}
	return words
}
