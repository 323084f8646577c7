package cli

import (
	"fmt"

	"ssdl/harness/report"
	"ssdl/harness/spec"
	"ssdl/harness/verify"
)

type verifyCmd struct {
	Specs []string `arg:"" optional:"" help:"Specs to verify (default: table1 table2)."`
}

func (c *verifyCmd) Run(e *env) error {
	names := c.Specs
	if len(names) == 0 {
		names = []string{"table1", "table2"}
	}
	var total verify.Summary
	for _, name := range names {
		p, err := e.resolve(name)
		if err != nil {
			return err
		}
		t, err := buildTable(p, len(e.common.Methods) > 0)
		if err != nil {
			return err
		}
		r, err := judge(t, p.Spec)
		if err != nil {
			return err
		}
		if err := verify.Render(e.stdout, r, formats[e.common.Format]); err != nil {
			return err
		}
		total = total.Add(r.Summary)
	}
	if total.Off+total.Fails > 0 {
		return fail(exitMismatch, "%d cells are off and %d claims fail", total.Off, total.Fails)
	}
	return nil
}

// judge holds a table against the paper. The corrected interval of paired differences
// needs the size of the test part over that of the training part.
func judge(t report.Table, s *spec.Spec) (verify.Result, error) {
	ratio := 0.0
	if s.Split.Kind == "class" {
		ratio = (1 - s.Split.Train) / s.Split.Train
	}
	id := s.Table
	if id == "" { // the paper's figures go by the name of the spec that remakes them
		id = s.Name
	}
	r, err := verify.Verify(t, id, ratio)
	if err != nil {
		return r, fmt.Errorf("verify %s: %w", s.Name, err)
	}
	return r, nil
}
