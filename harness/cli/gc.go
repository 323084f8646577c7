package cli

import (
	"fmt"
	"text/tabwriter"
)

type gcCmd struct {
	resultsFlag
	DryRun bool `help:"Only list what would be deleted."`
}

// Help is printed below the flags.
func (gcCmd) Help() string {
	return "Deletes superseded runs: those that a later run replaced (`ssdl run --rerun stale`), and failed attempts at jobs that have a result since. Current runs stay, and so do failures of jobs without a result."
}

func (c *gcCmd) Run(e *env) error {
	st, err := e.readStore(c.resultsFlag)
	if err != nil {
		return err
	}
	defer st.Close()
	list, verb := st.Collect, "deleted"
	if c.DryRun {
		list, verb = st.Spent, "would be deleted"
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
	fmt.Fprintf(e.stdout, "%d runs %s\n", len(superseded), verb)
	return nil
}
