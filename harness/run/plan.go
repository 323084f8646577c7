package run

import (
	"context"
	"errors"
	"fmt"
	"math"

	"ssdl/harness/data"
	"ssdl/harness/spec"
	"ssdl/harness/store"
)

// State is what a job needs.
type State string

// The states of a job. Reason tells more of stale, changed, retry, failed and excluded.
const (
	New      State = "new"
	Cached   State = "cached"
	Stale    State = "stale"    // has a result, of other code of the method; it counts until it is run again
	Changed  State = "changed"  // ran under another version of the method, the data or the metric
	Retry    State = "retry"    // was interrupted, or failed with other code: it is run again
	Failed   State = "failed"   // ran and failed
	Pending  State = "pending"  // its parameters are known once the tuning has run
	Excluded State = "excluded" // the spec leaves it out
	NoData   State = "no data"
)

// Task is one job of a plan with its place in the store.
type Task struct {
	Job    spec.Job
	Record store.Job
	State  State
	Reason string
	// LastStatus is how the last attempt ended if State is Retry or Failed, LastError why, and Attempts
	// how many failed. A run that lacks the metric has only LastError.
	LastStatus store.Status
	LastError  string
	Attempts   int
	// Result is the finished run, nil unless State is Cached or Stale, or in a plan of Glance Changed.
	// It has the metric that the cell shows.
	Result *store.Result

	metric string       // that the cell shows
	code   fingerprints // of the program
	// When the plan was made: the uid of the finished run, also of one that lacks the metric, and that
	// of the latest attempt that failed.
	finished, last string
}

// Value is the metric that the cell of the task shows; false without a result.
func (t *Task) Value() (float64, bool) {
	if t.Result == nil {
		return 0, false
	}
	v, ok := t.Result.Metrics[t.metric]
	return v, ok
}

// take makes a finished run the result of the task. One without the metric, as it can come with an
// import, is none: a metric that is not there must not count as 0.
func (t *Task) take(r store.Result) bool {
	t.finished, t.State, t.Result = r.UID, Cached, &r
	if _, ok := t.Value(); ok {
		return true
	}
	t.State, t.Result = Failed, nil
	t.Reason = fmt.Sprintf("run %s has no metric %s", r.UID, t.metric)
	t.LastError = t.Reason
	return false
}

// Cell is one cell of the report: a row, a data set and a setting, with the jobs that
// choose its parameters and the jobs that are reported.
type Cell struct {
	spec.Cell
	// Tuning holds, for each candidate, one task per seed; empty if nothing is tuned.
	Tuning [][]Task
	// Scores holds the mean tuning score of each candidate; NaN where a run is missing.
	Scores []float64
	// Chosen is the candidate that is reported, -1 until the tuning has run.
	Chosen int
	// Final holds one task per seed; empty until the candidate is chosen.
	Final []Task
	// Err says why the cell cannot be run: data not found or unusable, and then nothing is tuned,
	// or every candidate failed in the tuning.
	Err error
}

// NoData reports whether Err is of the data: nothing is then tuned.
func (c *Cell) NoData() bool { return c.Err != nil && c.Tuning == nil }

// Plan is a spec seen against the store: what is there, and what is still to be run.
type Plan struct {
	Spec *spec.Spec
	// Sets are the data sets by name; nil in a plan of Glance.
	Sets  map[string]*data.Set
	Cells []*Cell

	envs  map[string]map[string]string // of the results, by EnvID
	apart map[*Cell]Inconsistency      // with the rest of a column; see Glance
}

// Resolve makes the plan of s. It computes nothing but hashes and splits.
func Resolve(ctx context.Context, lib *Library, code *Code, st *store.Store, s *spec.Spec) (*Plan, error) {
	p := &Plan{Spec: s, Sets: map[string]*data.Set{}, envs: map[string]map[string]string{}}
	failed := map[string]error{}
	for _, name := range s.Datasets {
		set, err := lib.Set(ctx, name)
		if err != nil {
			if ctx.Err() != nil {
				return nil, ctx.Err()
			}
			failed[name] = err
			continue
		}
		p.Sets[name] = set
	}
	for _, c := range s.Cells() {
		cell := &Cell{Cell: c, Chosen: -1, Err: failed[c.Dataset]}
		p.Cells = append(p.Cells, cell)
		if cell.Err != nil || c.Excluded != "" {
			continue
		}
		if err := cell.addTuning(lib, p); err != nil {
			return nil, err
		}
	}
	if err := p.look(ctx, code, st, func(c *Cell) []*Task { return flat(c.Tuning) }); err != nil {
		return nil, err
	}
	for _, c := range p.Cells {
		if c.Err != nil || c.Excluded != "" || !c.choose() {
			continue
		}
		tasks, err := p.tasks(lib, c, c.Chosen, spec.EvalTest, p.Spec.Seeds)
		if err != nil {
			return nil, err
		}
		c.Final = tasks
	}
	return p, p.look(ctx, code, st, func(c *Cell) []*Task { return flat([][]Task{c.Final}) })
}

// addTuning lists the jobs that choose among a cell's candidates.
func (c *Cell) addTuning(lib *Library, p *Plan) error {
	if len(c.Candidates) == 1 {
		return nil
	}
	for i := range c.Candidates {
		tasks, err := p.tasks(lib, c, i, c.tuneEval(), c.TuneSeeds)
		if err != nil {
			return err
		}
		c.Tuning = append(c.Tuning, tasks)
	}
	return nil
}

// tuneEval is what the candidates of the cell are scored on.
func (c *Cell) tuneEval() string {
	if c.Select == spec.SelectTest {
		return spec.EvalTest
	}
	return spec.EvalVal
}

// tasks makes the tasks of one candidate, one per seed.
func (p *Plan) tasks(lib *Library, c *Cell, candidate int, eval string, seeds []uint64) ([]Task, error) {
	set := p.Sets[c.Dataset]
	jobs := p.Spec.Jobs(c.Cell, candidate, eval, seeds)
	out := make([]Task, len(jobs))
	for i, j := range jobs {
		split, err := lib.Split(set, j.Split, j.Seed)
		if err != nil {
			return nil, err
		}
		out[i] = Task{Job: j, metric: c.Metric, Record: store.Job{
			Key: j.Key(set.Hash, split.Hash), NameKey: j.NameKey(), Identity: j.Identity(set.Hash, split.Hash),
			Dataset: j.Dataset, DatasetHash: set.Hash, SplitHash: split.Hash,
			Method: j.Method, Pretext: j.Pretext, Eval: j.Eval, Seed: j.Seed,
		}}
	}
	return out, nil
}

func flat(groups [][]Task) []*Task {
	var out []*Task
	for _, g := range groups {
		for i := range g {
			out = append(out, &g[i])
		}
	}
	return out
}

// look fills in what the store knows of the tasks.
func (p *Plan) look(ctx context.Context, code *Code, st *store.Store, of func(*Cell) []*Task) error {
	var tasks []*Task
	var jobs []store.Job
	for _, c := range p.Cells {
		for _, t := range of(c) {
			tasks, jobs = append(tasks, t), append(jobs, t.Record)
		}
	}
	states, err := st.State(ctx, jobs)
	if err != nil {
		return err
	}
	var done []string
	for i, state := range states {
		if state.UID != "" {
			done = append(done, jobs[i].Key)
		}
	}
	results, err := st.Finished(ctx, done)
	if err != nil {
		return err
	}
	for i, t := range tasks {
		if t.code, err = code.job(t.Job); err != nil {
			return err
		}
		t.last = states[i].LastUID
		result, ok := results[t.Record.Key]
		if !ok {
			t.place(states[i])
			continue
		}
		if err := p.addEnv(ctx, st, result.EnvID); err != nil {
			return err
		}
		if !t.take(result) {
			continue
		}
		if why := t.code.since(fingerprints{result.MethodCode, result.PretextCode}); why != "" {
			t.State, t.Reason = Stale, why
		}
	}
	return nil
}

// place sets the state of a task that has no result.
func (t *Task) place(is store.State) {
	switch {
	case is.Failed > 0:
		t.State, t.LastStatus, t.LastError, t.Attempts = Failed, is.LastStatus, firstLine(is.LastError), is.Failed
		t.Reason = fmt.Sprintf("%s, %d×: %s", is.LastStatus, is.Failed, firstLine(is.LastError))
		why := t.code.since(fingerprints{is.LastMethodCode, is.LastPretextCode})
		if is.LastStatus == store.StatusInterrupted || why != "" {
			t.State = Retry
		}
		if why != "" {
			t.Reason = why + ", " + t.Reason
		}
	case is.Stale != nil:
		t.State, t.Reason = Changed, spec.Difference(is.Stale, t.Record.Identity)
	default:
		t.State = New
	}
}

func firstLine(s string) string {
	for i, r := range s {
		if r == '\n' {
			return s[:i]
		}
	}
	return s
}

// choose picks the candidate with the best mean over the seeds, the first one on ties.
// A candidate with a failed run is out. It reports whether there is a choice yet: all
// tuning jobs must have finished or failed.
func (c *Cell) choose() bool {
	if len(c.Candidates) == 1 {
		c.Chosen = 0
		return true
	}
	c.Scores = make([]float64, len(c.Candidates))
	best, open := math.Inf(-1), false
	for i, tasks := range c.Tuning {
		sum := 0.0
		for _, t := range tasks {
			v, ok := t.Value()
			if !ok {
				v, open = math.NaN(), open || t.State != Failed
			}
			sum += v
		}
		c.Scores[i] = sum / float64(len(tasks))
		score := c.Scores[i]
		if c.Metric != "accuracy" { // the others are losses
			score = -score
		}
		if score > best {
			best, c.Chosen = score, i
		}
	}
	if open {
		c.Chosen = -1
		return false
	}
	if c.Chosen < 0 {
		c.Err = errors.New("every setting failed in its tuning; `ssdl plan` tells why")
		return false
	}
	return true
}

// Again says what is run again beside what has no result.
type Again struct {
	Failed bool // what failed by itself: an error, a panic, the time limit
	Stale  bool // what has a result of other code
}

// Todo lists the tasks that are to be run now, each job once, in the order of the
// report: tuning first. Tasks of a cell that waits for its tuning come with a later plan.
func (p *Plan) Todo(again Again) []*Task {
	seen := map[string]bool{}
	var out []*Task
	add := func(tasks []*Task) {
		for _, t := range tasks {
			want := t.State == New || t.State == Changed || t.State == Retry ||
				t.State == Failed && again.Failed || t.State == Stale && again.Stale
			if want && !seen[t.Record.Key] {
				seen[t.Record.Key] = true
				out = append(out, t)
			}
		}
	}
	for _, c := range p.Cells {
		add(flat(c.Tuning))
	}
	for _, c := range p.Cells {
		add(flat([][]Task{c.Final}))
	}
	return out
}

// Counts tells how many tasks are in each state; pending cells count once per seed. Where every setting
// failed in the tuning no more is to be run: the tuning's tasks are what counts.
func (p *Plan) Counts() map[State]int {
	n := map[State]int{}
	for _, c := range p.Cells {
		switch {
		case c.NoData():
			n[NoData] += len(p.Spec.Seeds)
		case c.Excluded != "":
			n[Excluded] += len(p.Spec.Seeds)
		case c.Final == nil && c.Err == nil:
			n[Pending] += len(p.Spec.Seeds)
		}
		for _, t := range append(flat(c.Tuning), flat([][]Task{c.Final})...) {
			n[t.State]++
		}
	}
	return n
}
