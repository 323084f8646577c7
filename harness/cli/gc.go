package cli

import (
	"fmt"
	"text/tabwriter"
)

type gcCmd struct {
	DryRun bool `help:"Only list what would be removed."`
}

// Help is printed below the flags.
func (gcCmd) Help() string {
	return "Removes runs that count for nothing any more: those that a later run replaced (ssdl run --rerun stale), and failed attempts at what went well later. Results stay, and so do failures that nothing went well after."
}

func (c *gcCmd) Run(e *env) error {
	st, err := e.look()
	if err != nil {
		return err
	}
	defer st.Close()
	look, verb := st.Collect, "removed"
	if c.DryRun {
		look, verb = st.Spent, "would be removed"
	}
	spent, err := look(e.ctx)
	if err != nil {
		return err
	}
	w := tabwriter.NewWriter(e.stdout, 0, 4, 2, ' ', 0)
	for _, r := range spent {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\tseed %d\t%s\t%s\n", r.UID, r.Name, r.Dataset, r.Eval, r.Seed, r.Status, r.Why)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	fmt.Fprintf(e.stdout, "%d runs %s\n", len(spent), verb)
	return nil
}
