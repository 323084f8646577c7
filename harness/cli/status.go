package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"runtime"

	"github.com/alecthomas/kong"
	"golang.org/x/sync/errgroup"

	"ssdl/harness/cluster"
	"ssdl/harness/report"
	"ssdl/harness/results"
	"ssdl/harness/spec"
)

type statusCmd struct {
	Specs []string `arg:"" optional:"" help:"Built-in specs (${specs}) or paths of YAML files (default: all built-in ones)."`
	Slurm string   `placeholder:"DIR" type:"path" help:"Show instead the progress of the shards in this folder, which ssdl submit made."`
	storedSelection
	listOutput
}

func (c *statusCmd) Run(e *env, k *kong.Context) error {
	if c.Slurm != "" {
		return c.shards(e, k)
	}
	if c.missing() {
		if err := e.checkDatasets(c.selection(), nil); err != nil {
			return err
		}
		fmt.Fprintf(e.stderr, "%s not found: nothing was run yet, or --results names another folder\n", c.dbPath())
		return c.write(e, report.OfStatus([]results.Status{}))
	}
	specs, err := selectSpecs(c.selection(), c.Specs, spec.Names())
	if err != nil {
		return err
	}
	// Specs share nothing, so they are planned concurrently.
	list := make([]results.Status, len(specs))
	var g errgroup.Group
	g.SetLimit(runtime.GOMAXPROCS(0))
	for i, s := range specs {
		g.Go(func() error {
			p, err := e.storedPlan(s.specSelection, s.name)
			if err == nil {
				list[i] = results.StatusOf(p)
			}
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return err
	}
	return c.write(e, report.OfStatus(list))
}

// shards prints the progress of the shards in the folder of --slurm.
func (c *statusCmd) shards(e *env, k *kong.Context) error {
	if len(c.Specs) > 0 {
		return fail(exitUsage, "--slurm DIR and specs do not go together: the folder names its spec")
	}
	if err := onlyFlags(k, "--slurm", "slurm", "format"); err != nil {
		return err
	}
	folder, err := cluster.NewFolder(c.Slurm)
	if err != nil {
		return &exitError{exitUsage, err}
	}
	s, err := folder.Status(e.ctx)
	if errors.Is(err, fs.ErrNotExist) {
		return &exitError{exitUsage, err}
	}
	if err != nil {
		return err
	}
	return c.write(e, report.OfCluster(s))
}
