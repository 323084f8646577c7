package cluster

import (
	"context"
	"errors"
	"io/fs"
	"runtime"
	"strings"

	"golang.org/x/sync/errgroup"

	"ssdl/harness/store"
)

// Status is the progress of the newest plan of a folder.
type Status struct {
	Spec       string        `json:"spec"`
	Submission int           `json:"submission"`
	Shards     []ShardStatus `json:"shards"`
	// Unknown is the error of asking Slurm; empty if there was none.
	Unknown string `json:"unknown,omitempty"`
}

// ShardStatus is the progress of a shard, from its store and from Slurm.
type ShardStatus struct {
	Shard int `json:"shard"`
	// Jobs counts all its jobs, Done those with a result, Failed those with a failed run and no result.
	Jobs   int `json:"jobs"`
	Done   int `json:"done"`
	Failed int `json:"failed"`
	// Task is the task of Slurm, ARRAY_INDEX; empty if the shard was not submitted. The fields after it are
	// empty if Slurm does not know the task.
	Task  string `json:"task,omitempty"`
	State string `json:"state,omitempty"`
	Spent string `json:"spent,omitempty"`
	Node  string `json:"node,omitempty"`
}

// Missing counts the jobs with neither a result nor a failed run.
func (s ShardStatus) Missing() int { return s.Jobs - s.Done - s.Failed }

// Status reads the progress of the newest plan from the stores of its shards, and the states of their tasks
// from Slurm.
func (f Folder) Status(ctx context.Context) (Status, error) {
	p, err := f.Plan()
	if err != nil {
		return Status{}, err
	}
	submitted, err := f.Submission()
	if err != nil {
		return Status{}, err
	}
	out := Status{Spec: p.Plan.Spec, Submission: p.Submission, Shards: make([]ShardStatus, len(p.Shards))}
	var g errgroup.Group
	g.SetLimit(runtime.GOMAXPROCS(0))
	for i, s := range p.Shards {
		g.Go(func() (err error) {
			out.Shards[i] = ShardStatus{Shard: i + 1, Jobs: len(s.Jobs)}
			out.Shards[i].Done, out.Shards[i].Failed, err = count(ctx, f.store(p.Submission, i+1), s.Jobs)
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return Status{}, err
	}
	if submitted.Submission == p.Submission {
		out.Unknown = out.ask(ctx, submitted)
	}
	return out, nil
}

// count counts the jobs with a result in a store, and those with a failed run and no result.
func count(ctx context.Context, path string, keys []string) (done, failed int, err error) {
	st, err := store.OpenReadOnly(ctx, path)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, 0, nil
	}
	if err != nil {
		return 0, 0, err
	}
	defer st.Close()
	states, err := st.State(ctx, keys)
	for _, is := range states {
		switch {
		case is.UID != "":
			done++
		case is.Failed > 0 && is.LastStatus != store.StatusInterrupted:
			failed++
		}
	}
	return done, failed, err
}

// ask adds the states of the tasks from Slurm. It returns the error of asking as text.
func (s *Status) ask(ctx context.Context, submitted Submission) string {
	var ids []string
	for _, a := range submitted.Arrays {
		ids = append(ids, a.ID)
	}
	told, err := History(ctx, ids)
	if err != nil {
		return err.Error()
	}
	queue, err := Queue(ctx)
	reason := ""
	if err != nil {
		reason = err.Error()
	}
	for _, a := range submitted.Arrays {
		for i := range a.Tasks {
			s.Shards[a.Offset+i].Task = taskName(a.ID, i+1)
		}
	}
	of := map[string]Task{}
	for _, t := range append(told, queue...) { // the queue is more recent than accounting
		of[taskName(t.Array, t.Index)] = t
	}
	for i := range s.Shards {
		if t, ok := of[s.Shards[i].Task]; ok {
			s.Shards[i].State, s.Shards[i].Spent, s.Shards[i].Node = strings.ToLower(t.State), t.Spent, t.Node
		}
	}
	return reason
}
