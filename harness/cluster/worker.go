package cluster

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"

	"ssdl/harness/run"
	"ssdl/harness/spec"
	"ssdl/harness/store"
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
	dir, err := os.MkdirTemp(w.Scratch, "ssdl-shard-*")
	if err != nil {
		return sum, fmt.Errorf("no folder for the store of the shard: %w. Set TMPDIR to a folder on a local disk", err)
	}
	defer os.RemoveAll(dir)
	path, to := filepath.Join(dir, "runs.db"), w.Folder.store(w.Plan.Submission, w.K)
	if err := copyFile(to, path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return sum, err
	}
	st, err := store.Open(ctx, path)
	if err != nil {
		return sum, err
	}
	defer func() { err = errors.Join(err, st.Close()) }()

	var mu sync.Mutex
	last := time.Now()
	copyNow := func(every time.Duration) error {
		mu.Lock()
		defer mu.Unlock()
		if time.Since(last) < every {
			return nil
		}
		// Recorded runs are copied also after a cancellation.
		err := publish(context.WithoutCancel(ctx), st, dir, to)
		last = time.Now()
		return err
	}
	warn := func(err error) {
		if err != nil {
			fmt.Fprintf(w.Warn, "the store of shard %d could not be copied: %v. It is tried again\n", w.K, err)
		}
	}
	r.Store, r.Recorded = st, func() { warn(copyNow(publishEvery)) }
	ended := make(chan struct{})
	var stopping sync.WaitGroup
	stopping.Go(func() {
		select {
		case <-r.Stop:
			warn(copyNow(0))
		case <-ended:
		}
	})
	sum, err = r.RunPlanned(ctx, s, jobs)
	close(ended)
	stopping.Wait()
	if errors.Is(err, run.ErrOtherInput) {
		return sum, err // nothing was run
	}
	return sum, errors.Join(err, copyNow(0))
}
