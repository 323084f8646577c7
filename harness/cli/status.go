package cli

import (
	"fmt"
	"os"

	"ssdl/harness/spec"
)

type statusCmd struct {
	Specs []string `arg:"" optional:"" help:"Specs to look at (default: all built-in ones)."`
}

func (c *statusCmd) Run(e *env) error {
	if _, err := os.Stat(e.dbPath()); err != nil {
		fmt.Fprintf(e.stdout, "no runs yet: there is no %s\n", e.dbPath())
		return nil
	}
	names := c.Specs
	if len(names) == 0 {
		names = spec.Names()
	}
	for _, name := range names {
		p, err := e.resolve(name)
		if err != nil {
			return err
		}
		fmt.Fprintf(e.stdout, "%s: %s\n", p.Spec.Name, counts(p))
	}
	return nil
}
