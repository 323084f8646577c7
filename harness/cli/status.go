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
	parts, err := e.parts(c.Specs, spec.Names())
	if err != nil {
		return err
	}
	// The specs share nothing: side by side they answer sooner, in the order they were asked for.
	lines := make([]string, len(parts))
	var g errgroup.Group
	g.SetLimit(runtime.GOMAXPROCS(0))
	for i, part := range parts {
		g.Go(func() error {
			p, err := part.env.resolve(part.name)
			if err != nil {
				return err
			}
			lines[i] = fmt.Sprintf("%s: %s\n", p.Spec.Name, counts(p))
			return nil
		})
	}
	err = g.Wait()
	for _, line := range lines {
		fmt.Fprint(e.stdout, line)
	}
	return err
}
