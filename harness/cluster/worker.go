package cluster

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"ssdl/harness/run"
	"ssdl/harness/spec"
	"ssdl/harness/store"
	"ssdl/harness/tempfile"
)

// Worker runs one shard of a plan.
type Worker struct {
	// Folder has the plan, and gets the store of the shard.
	Folder Folder
	Plan   Plan
	// K is the shard to run, of N.
	K, N int
	// Scratch is a folder on a disk of this machine.
	Scratch string
	// Warn gets a message if a copy fails while runs go on; the next copy has these runs too.
	Warn io.Writer
}

// publishEvery is how often the runs of a shard are copied into the folder, so that a machine that fails loses
// few.
var publishEvery = 30 * time.Second

// Jobs lists the jobs of the shard. It refuses another spec than that of the plan.
func (w Worker) Jobs(s *spec.Spec) ([]run.PlannedJob, error) {
	if s.Hash != w.Plan.Plan.SpecHash {
		return nil, fmt.Errorf("the spec %s changed after the plan was made: make the plan again with `ssdl submit`", s.Name)
	}
	return w.Plan.Shard(w.K, w.N)
}

// Run runs the jobs of the shard with r, whose Store and Recorded it sets. It copies the store into the folder
// at intervals, when r.Stop is closed, and at the end. It continues an earlier attempt at the shard.
func (w Worker) Run(ctx context.Context, r *run.Runner, s *spec.Spec) (sum run.Summary, err error) {
	jobs, err := w.Jobs(s)
	if err != nil {
		return sum, err
	}
	scratch, err := tempfile.NewFolder(filepath.Join(w.Scratch, "ssdl-shard"))
	if err != nil {
		return sum, fmt.Errorf("no folder for the store of the shard: %w. Set TMPDIR to a folder on a local disk", err)
	}
	defer scratch.Remove()
	dir := scratch.Path
	path, to := filepath.Join(dir, "runs.db"), w.Folder.store(w.Plan.Submission, w.K)
	if err := copyFile(to, path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return sum, err
	}
	st, err := store.Open(ctx, path)
	if err != nil {
		return sum, err
	}
	defer func() { err = errors.Join(err, st.Close()) }()

	copyNow := func() error {
		// Recorded runs are copied also after a cancellation.
		return publish(context.WithoutCancel(ctx), st, dir, to)
	}
	var recorded atomic.Bool // runs that are not copied yet
	r.Store, r.Recorded = st, func() { recorded.Store(true) }
	ended := make(chan struct{})
	var copying sync.WaitGroup
	copying.Go(func() {
		tick := time.NewTicker(publishEvery)
		defer tick.Stop()
		stop := r.Stop
		for {
			select {
			case <-ended:
				return
			case <-stop:
				stop = nil // once
				recorded.Store(true)
			case <-tick.C:
			}
			if !recorded.Swap(false) {
				continue
			}
			if err := copyNow(); err != nil {
				recorded.Store(true)
				fmt.Fprintf(w.Warn, "the store of shard %d could not be copied: %v. It is tried again\n", w.K, err)
			}
		}
	})
	sum, err = r.RunPlanned(ctx, s, jobs)
	close(ended)
	copying.Wait()
	if errors.Is(err, run.ErrOtherInput) {
		return sum, err // nothing was run
	}
	return sum, errors.Join(err, copyNow())
}
