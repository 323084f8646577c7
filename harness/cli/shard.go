package cli

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/alecthomas/kong"

	"ssdl/harness/cluster"
	"ssdl/harness/provenance"
	"ssdl/harness/report"
	"ssdl/harness/spec"
)

type shardFlags struct {
	Shard string `placeholder:"K/N" help:"Run shard K of the N of --plan, on a store of its own that is copied beside the plan."`
	Plan  string `placeholder:"FILE" type:"path" help:"The plan of the shards: plan.json, which ssdl submit writes."`
}

// Validate checks the form of --shard, and that it comes with --plan.
func (f shardFlags) Validate() error {
	if (f.Shard == "") != (f.Plan == "") {
		return errors.New("--shard and --plan go together: --shard 3/40 --plan DIR/plan.json")
	}
	if f.Shard != "" {
		if _, _, err := f.which(); err != nil {
			return err
		}
	}
	return nil
}

// which parses --shard.
func (f shardFlags) which() (k, n int, err error) {
	a, b, _ := strings.Cut(f.Shard, "/")
	k, errK := strconv.Atoi(a)
	n, errN := strconv.Atoi(b)
	if errK != nil || errN != nil || k < 1 || k > n {
		return 0, 0, fmt.Errorf("--shard must be K/N with K from 1 to N, e.g. 3/40, got %q", f.Shard)
	}
	return k, n, nil
}

// onlyFlags refuses every given flag that is not among names: the verb would ignore it beside the flag what.
func onlyFlags(k *kong.Context, what string, names ...string) error {
	for _, p := range k.Path {
		if p.Flag != nil && !slices.Contains(names, p.Flag.Name) {
			return fail(exitUsage, "--%s has no use beside %s: leave it out", p.Flag.Name, what)
		}
	}
	return nil
}

const scratchAdvice = "Set TMPDIR to a folder on a disk of this machine."

// runShard runs one shard of a plan.
func (c *runCmd) runShard(e *env, k *kong.Context) error {
	if err := onlyFlags(k, "--shard", "shard", "plan", "data", "drop-zero", "jobs", "timeout", "memory", "isolate"); err != nil {
		return err
	}
	shard, n, err := c.which()
	if err != nil {
		return &exitError{exitUsage, err}
	}
	plan, err := cluster.ReadPlan(c.Plan)
	if err != nil {
		return &exitError{exitUsage, err}
	}
	if err := plan.CheckProgram(provenance.ProgramHash()); err != nil {
		return &exitError{exitUsage, err}
	}
	s, err := spec.Load(c.Spec)
	if err != nil {
		return &exitError{exitUsage, err}
	}
	folder, err := cluster.NewFolder(filepath.Dir(c.Plan))
	if err != nil {
		return &exitError{exitUsage, err}
	}
	scratch := os.TempDir()
	if err := cluster.CheckLocal(scratch, scratchAdvice); err != nil {
		return &exitError{exitUsage, err}
	}
	w := cluster.Worker{Folder: folder, Plan: plan, K: shard, N: n, Scratch: scratch, Warn: e.stderr}
	if _, err := w.Jobs(s); err != nil {
		return &exitError{exitUsage, err}
	}
	if err := folder.Make(); err != nil {
		return fmt.Errorf("the folder of the plan cannot be written: %w", err)
	}
	r, err := c.runner(e)
	if err != nil {
		return err
	}
	start := time.Now()
	sum, err := w.Run(e.ctx, r, s)
	if err != nil {
		return err
	}
	fmt.Fprintf(e.stderr, "%s: shard %d/%d, %d runs in %s, %d ok, %d failed\n", s.Name, shard, n, sum.Ran, time.Since(start).Round(time.Second/10), sum.OK, sum.Failed)
	switch {
	case sum.Stopped:
		return fail(exitInterrupted, "stopped before everything was run; `ssdl submit` submits what is missing")
	case sum.Failed+sum.FailedBefore > 0:
		return fail(exitFailedRuns, "%s failed; `ssdl submit --retry failed` tries again", report.Count(sum.Failed+sum.FailedBefore, "run", "runs"))
	}
	return nil
}
