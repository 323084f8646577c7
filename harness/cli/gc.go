package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"text/tabwriter"

	"ssdl/harness/report"
	"ssdl/harness/store"
)

type gcCmd struct {
	resultsFlag
	DryRun bool `xor:"do" help:"Only list what would be deleted."`
	Undo   bool `xor:"do" help:"Bring back what the last gc deleted."`
	All    bool `xor:"do" help:"Delete all runs, for good. Refused while a process runs a job."`
}

// Help is printed below the flags.
func (gcCmd) Help() string {
	return "Deletes superseded runs: those that a later run replaced (`ssdl run --rerun stale`), and failed attempts at jobs that have a result since. Current runs stay, and so do failures of jobs without a result. " +
		"What is deleted is kept in runs.db.pruned, in place of what was deleted the time before: --undo brings it back, once."
}

func (c *gcCmd) Run(e *env) (err error) {
	switch {
	case c.Undo:
		return c.undo(e)
	case c.All:
		return store.Remove(c.dbPath())
	}
	st, err := e.readStore(c.resultsFlag)
	if err != nil {
		return err
	}
	defer closeStore(st, &err)
	list, verb := st.Prune, "deleted; `ssdl gc --undo` brings them back"
	if c.DryRun {
		list, verb = st.Superseded, "would be deleted"
	}
	superseded, err := list(e.ctx)
	if err != nil {
		return err
	}
	w := tabwriter.NewWriter(e.stdout, 0, 4, 2, ' ', 0)
	for _, r := range superseded {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\tseed %d\t%s\t%s\n", r.UID, r.Name, r.Dataset, r.Eval, r.Seed, r.Status, r.Why)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	if len(superseded) == 0 {
		verb = "deleted: none is superseded" // with or without --dry-run
	}
	fmt.Fprintf(e.stdout, "%s %s\n", report.Count(len(superseded), "run", "runs"), verb)
	return nil
}

func (c *gcCmd) undo(e *env) (err error) {
	if c.missing() {
		return fail(exitNoData, "%s not found: there is nothing to bring back. --results names its folder", c.dbPath())
	}
	st, err := e.openStore(c.resultsFlag)
	if err != nil {
		return err
	}
	defer closeStore(st, &err)
	n, err := st.Undo(e.ctx)
	if errors.Is(err, fs.ErrNotExist) {
		return &exitError{exitNoData, err}
	}
	if err != nil {
		return err
	}
	fmt.Fprintf(e.stdout, "%s back\n", report.Count(n, "run is", "runs are"))
	return nil
}
