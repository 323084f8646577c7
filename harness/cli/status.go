package cli

import (
	"fmt"
	"os"
	"runtime"

	"golang.org/x/sync/errgroup"

	"ssdl/harness/spec"
)

type statusCmd struct {
	Specs []string `arg:"" optional:"" help:"Built-in specs (${specs}) or paths of YAML files (default: all built-in ones)."`
}

func (c *statusCmd) Run(e *env) error {
	if _, err := os.Stat(e.dbPath()); err != nil {
		if err := e.checkNames(e.common.Datasets, nil); err != nil {
			return err
		}
		fmt.Fprintf(e.stdout, "no runs yet: there is no %s\n", e.dbPath())
		return nil
	}
	names := c.Specs
	if len(names) == 0 {
		names = spec.Names()
	}
	// The specs share nothing: side by side they answer sooner, in the order they were asked for.
	lines := make([]string, len(names))
	var g errgroup.Group
	g.SetLimit(runtime.GOMAXPROCS(0))
	for i, name := range names {
		g.Go(func() error {
			p, err := e.resolve(name)
			if err != nil {
				return err
			}
			lines[i] = fmt.Sprintf("%s: %s\n", p.Spec.Name, counts(p))
			return nil
		})
	}
	err := g.Wait()
	for _, line := range lines {
		fmt.Fprint(e.stdout, line)
	}
	return err
}
