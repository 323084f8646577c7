package cli

import (
	"errors"
	"io/fs"

	"ssdl/harness/report"
	"ssdl/harness/results"
	"ssdl/harness/store"
)

type showCmd struct {
	ID string `arg:"" name:"run" help:"Id of a run (ssdl explain lists them), or its first characters."`
	resultsFlag
	listOutput
}

func (c *showCmd) Run(e *env) error {
	st, err := e.readStore(c.resultsFlag)
	if err != nil {
		return err
	}
	defer st.Close()
	d, err := results.Describe(e.ctx, st, c.ID)
	if errors.Is(err, fs.ErrNotExist) {
		return fail(exitUsage, "%w; `ssdl explain SPEC ROW` lists the runs of a cell", err)
	}
	if errors.Is(err, store.ErrAmbiguous) {
		return fail(exitUsage, "%w; give more characters", err)
	}
	if err != nil {
		return err
	}
	return c.write(e, report.OfRun(d))
}
