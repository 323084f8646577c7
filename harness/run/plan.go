package run

import (
	"context"
	"errors"
	"maps"
	"math"
	"slices"

	"ssdl/harness/data"
	"ssdl/harness/executor"
	"ssdl/harness/job"
	"ssdl/harness/metric"
	"ssdl/harness/protocol"
	"ssdl/harness/provenance"
	"ssdl/harness/spec"
	"ssdl/harness/store"
)

// Cell is one cell of the table: a row, a data set and a setting, with its tuning jobs and its final
// jobs.
type Cell struct {
	spec.Cell
	// Tuning holds, for each candidate, one task per seed; empty if nothing is tuned.
	Tuning [][]Task
	// Scores holds the mean tuning score of each candidate; NaN where a run is missing.
	Scores []float64
	// Chosen is the index of the chosen candidate, -1 until the tuning has finished.
	Chosen int
	// Final holds one task per seed; empty until the candidate is chosen.
	Final []Task
	// Part says that TuneSeeds are only the seeds on which the tuning has finished: see ResolveFinished.
	Part bool
	// Err is why the cell cannot be run: its data or a split is missing or unusable (see NoData),
	// or every candidate failed in the tuning.
	Err error
}

// NoData reports whether Err is about the data or its splits.
func (c *Cell) NoData() bool { return c.Err != nil && !errors.Is(c.Err, ErrEveryCandidateFailed) }

// Unusable returns the first error about data or a split that exists but cannot be used; nil if data is only
// missing.
func (p *Plan) Unusable() error {
	for _, c := range p.Cells {
		var absent *executor.NoDataError
		if c.NoData() && !errors.As(c.Err, &absent) {
			return c.Err
		}
	}
	return nil
}

// Plan is a spec with the results and the states of its jobs in the store.
type Plan struct {
	Spec *spec.Spec
	// Datasets describe the data sets of the spec that are local or recorded, by name; Sets are the
	// local ones.
	Datasets map[string]store.Dataset
	Sets     map[string]*data.Set
	// Recorded has the recorded hash of each name whose local data has another hash.
	Recorded map[string]string
	Cells    []*Cell

	env         map[string]string             // of this process
	envs        map[string]map[string]string  // of the results, by EnvID
	splits      map[string]store.Split        // of the final tasks, by hash
	repetitions map[string][]store.Repetition // of the results, by uid
}

// Resolve makes the plan of s. It computes only hashes and splits. Without local data it uses the hashes that
// the store recorded: then results are found, but no job can be run.
func Resolve(ctx context.Context, lib *executor.Library, code *provenance.Code, st *store.Store, s *spec.Spec) (*Plan, error) {
	return resolve(ctx, lib, code, st, s, false)
}

// ResolveFinished is Resolve for a table of finished results. If the tuning of a cell has finished on some of the
// final seeds, it chooses the candidate on these, and the cell has these alone (see Cell.Part). Do not run this plan:
// the choice may change with the other seeds.
func ResolveFinished(ctx context.Context, lib *executor.Library, code *provenance.Code, st *store.Store, s *spec.Spec) (*Plan, error) {
	return resolve(ctx, lib, code, st, s, true)
}

func resolve(ctx context.Context, lib *executor.Library, code *provenance.Code, st *store.Store, s *spec.Spec, part bool) (*Plan, error) {
	p := &Plan{Spec: s, env: provenance.Environment(), Datasets: map[string]store.Dataset{}, Sets: map[string]*data.Set{}, Recorded: map[string]string{}, envs: map[string]map[string]string{}, splits: map[string]store.Split{}, repetitions: map[string][]store.Repetition{}}
	in := &inputs{lib: lib, store: st, sets: map[string]*input{}, programs: map[*spec.Row]program{}}
	failed := map[string]error{}
	for _, name := range s.Datasets {
		at, err := in.dataset(ctx, name)
		switch {
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case err != nil:
			failed[name] = err
		default:
			p.Datasets[name] = at.Dataset
			if at.set != nil {
				p.Sets[name] = at.set
			}
			if at.recorded != "" && at.recorded != at.Hash {
				p.Recorded[name] = at.recorded
			}
		}
	}
	for _, c := range s.Cells() {
		cell := &Cell{Cell: c, Chosen: -1}
		p.Cells = append(p.Cells, cell)
		if c.Excluded != "" {
			continue
		}
		if cell.Err = failed[c.Dataset]; cell.Err != nil {
			continue
		}
		if cell.Err = cell.addTuning(ctx, in, p); cell.Err != nil {
			cell.Tuning = nil
		}
	}
	if err := p.readStore(ctx, code, st, func(c *Cell) []*Task { return flat(c.Tuning) }); err != nil {
		return nil, err
	}
	for _, c := range p.Cells {
		if c.Err != nil || c.Excluded != "" {
			continue
		}
		if part {
			c.keepFinished(p.Spec.Seeds)
		}
		if !c.choose() {
			continue
		}
		seeds := p.Spec.Seeds
		if c.Part {
			seeds = c.TuneSeeds
		}
		c.Final, c.Err = p.tasks(ctx, in, c, c.Chosen, job.EvalTest, seeds)
	}
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err := p.readStore(ctx, code, st, func(c *Cell) []*Task { return flat([][]Task{c.Final}) }); err != nil {
		return nil, err
	}
	return p, p.readSplits(ctx, lib, st)
}

// addTuning adds the tuning jobs of a cell with several candidates.
func (c *Cell) addTuning(ctx context.Context, in *inputs, p *Plan) error {
	if len(c.Candidates) == 1 {
		return nil
	}
	for i := range c.Candidates {
		tasks, err := p.tasks(ctx, in, c, i, c.tuneEval(), c.TuneSeeds)
		if err != nil {
			return err
		}
		c.Tuning = append(c.Tuning, tasks)
	}
	return nil
}

// tuneEval is the evaluation that scores the candidates of the cell.
func (c *Cell) tuneEval() string {
	if c.Select == spec.SelectTest {
		return job.EvalTest
	}
	return job.EvalVal
}

// tasks makes the tasks of one candidate, one per seed.
func (p *Plan) tasks(ctx context.Context, in *inputs, c *Cell, candidate int, eval string, seeds []uint64) ([]Task, error) {
	at, err := in.dataset(ctx, c.Dataset)
	if err != nil {
		return nil, err
	}
	jobs := p.Spec.Jobs(c.Cell, candidate, eval, seeds)
	out := make([]Task, len(jobs))
	for i, j := range jobs {
		split, local, err := in.split(at, j.Split, j.Seed)
		if err != nil {
			return nil, err
		}
		j, here, err := in.external(ctx, c.Row, j.On(at.Hash, split))
		if err != nil {
			return nil, err
		}
		out[i] = Task{Job: j, metric: c.Metric, local: local, here: here}
		if split != "" && (j.Method.Predictions == nil || j.Method.Predictions.SHA256 != "") {
			out[i].Key = out[i].Job.Key()
		}
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

// tasks lists the tasks of the cell, the final ones first.
func (c *Cell) tasks() []*Task { return append(flat([][]Task{c.Final}), flat(c.Tuning)...) }

// readStore reads the results and states of the tasks that of selects.
func (p *Plan) readStore(ctx context.Context, code *provenance.Code, st *store.Store, of func(*Cell) []*Task) error {
	var tasks []*Task
	var keys []string
	metrics := map[string]bool{executor.Unconverged: true, executor.Unconfined: true}
	for _, c := range p.Cells {
		metrics[c.Metric] = true
		for _, t := range of(c) {
			tasks, keys = append(tasks, t), append(keys, t.Key)
		}
	}
	states, err := st.State(ctx, keys)
	if err != nil {
		return err
	}
	results, err := st.Finished(ctx, keys, slices.Sorted(maps.Keys(metrics))...)
	if err != nil {
		return err
	}
	if err := verifyResults(ctx, st, results); err != nil {
		return err
	}
	if err := p.readRepetitions(ctx, st, results); err != nil {
		return err
	}
	var open []*Task
	for i, t := range tasks {
		if t.code, err = code.Job(t.Job.Job); err != nil {
			return err
		}
		t.last = states[i].LastUID
		result, ok := results[t.Key]
		if !ok {
			t.setState(states[i])
			switch {
			case t.State != New:
			case !t.runnable():
				t.State = NoData
			default:
				open = append(open, t)
			}
			continue
		}
		if result.Fault == nil {
			if err := p.addEnv(ctx, st, result.EnvID); err != nil {
				return err
			}
		}
		t.setResult(result, sourceChange(p.envs[result.EnvID], p.env))
	}
	return p.findEarlier(ctx, st, open)
}

// sourceChange is the change of a result by modified sources if this program is of a commit.
func sourceChange(was, is map[string]string) []job.Change {
	a, b := provenance.SourcesOf(was), provenance.SourcesOf(is)
	if a != provenance.Modified || b != provenance.Committed {
		return nil
	}
	return []job.Change{{What: string(provenance.SourceState), Was: string(a), Is: string(b)}}
}

// addEnv reads the environment of a result, once.
func (p *Plan) addEnv(ctx context.Context, st *store.Store, id string) (err error) {
	if p.envs[id] == nil {
		p.envs[id], err = st.Env(ctx, id)
	}
	return err
}

// findEarlier finds, for tasks without a result, results of an earlier version or of other data. Another share of
// labels of the same data is another question.
func (p *Plan) findEarlier(ctx context.Context, st *store.Store, tasks []*Task) error {
	jobs := make([]store.Job, len(tasks))
	for i, t := range tasks {
		jobs[i] = t.record()
	}
	earlier, err := st.Earlier(ctx, jobs)
	if err != nil {
		return err
	}
	splits := map[string]map[string][]string{} // descriptions of splits, by hashes of data set and split
	for i, t := range tasks {
		set := t.Job.DatasetHash
		if len(earlier[i]) > 0 && splits[set] == nil {
			asked, err := st.SplitsOf(ctx, set)
			if err != nil {
				return err
			}
			splits[set] = map[string][]string{}
			for a, hash := range asked {
				splits[set][hash] = append(splits[set][hash], a.How)
			}
		}
		same := slices.DeleteFunc(earlier[i], func(was job.Job) bool {
			how := splits[set][was.SplitHash]
			return was.DatasetHash == set && len(how) > 0 && !slices.Contains(how, t.Job.Split.String())
		})
		if n := len(same); n > 0 {
			t.State, t.Changes = Changed, t.Job.Changes(same[n-1])
		}
	}
	return nil
}

// keepFinished narrows an unfinished tuning on seeds to those that every candidate has finished, if there are any.
func (c *Cell) keepFinished(seeds []uint64) {
	if !slices.Equal(c.TuneSeeds, seeds) || len(c.Tuning) == 0 {
		return
	}
	var keep []int
	for i := range seeds {
		if !slices.ContainsFunc(c.Tuning, func(tasks []Task) bool {
			_, ok := tasks[i].Value()
			return !ok && tasks[i].State != Failed
		}) {
			keep = append(keep, i)
		}
	}
	if len(keep) == 0 || len(keep) == len(seeds) {
		return
	}
	narrowed := make([][]Task, len(c.Tuning))
	survives := false // a candidate, on these seeds
	for k, tasks := range c.Tuning {
		for _, i := range keep {
			narrowed[k] = append(narrowed[k], tasks[i])
		}
		survives = survives || !slices.ContainsFunc(narrowed[k], func(t Task) bool { return t.State == Failed })
	}
	if !survives {
		return
	}
	c.Part, c.Tuning, c.TuneSeeds = true, narrowed, nil
	for _, i := range keep {
		c.TuneSeeds = append(c.TuneSeeds, seeds[i])
	}
}

// choose chooses the candidate with the best mean over the seeds, the first on ties, among those without a failed
// run. It reports whether there is a choice: all tuning jobs must have finished or failed.
func (c *Cell) choose() bool {
	if len(c.Candidates) == 1 {
		c.Chosen = 0
		return true
	}
	scores, open := make([][]float64, len(c.Candidates)), false
	for i, tasks := range c.Tuning {
		for _, t := range tasks {
			v, ok := t.Value()
			if !ok {
				v, open = math.NaN(), open || t.State != Failed
			}
			scores[i] = append(scores[i], v)
		}
	}
	m, _ := metric.Lookup(c.Metric)
	c.Scores, c.Chosen = protocol.Choose(scores, m.HigherIsBetter)
	// Means that differ by the rounding of their sums are equal, and the first one counts. protocol.Choose compares
	// all bits; a change there would be one of the protocol, by which all runs are judged stale.
	if c.Chosen >= 0 {
		best := c.Scores[c.Chosen]
		c.Chosen = slices.IndexFunc(c.Scores, func(v float64) bool { return math.Abs(v-best) <= 1e-12*math.Abs(best) })
	}
	switch {
	case open:
		c.Chosen = -1
	case c.Chosen < 0:
		c.Err = ErrEveryCandidateFailed
	}
	return c.Chosen >= 0
}

// ErrEveryCandidateFailed is the error of a cell whose tuning cannot choose.
var ErrEveryCandidateFailed = errors.New("every candidate failed in the tuning; `ssdl plan` tells why")

// RetryPolicy says which jobs run again, beside those without a result.
type RetryPolicy struct {
	Failed bool // jobs that ended in an error, a panic or at the time limit
	Stale  bool // jobs with a result by different code
}

// Todo lists the tasks to run now, each job once, in the order of the table, tuning first. The final
// tasks of a cell whose tuning is unfinished are in a later plan.
func (p *Plan) Todo(retry RetryPolicy) []*Task {
	seen := map[string]bool{}
	var out []*Task
	add := func(tasks []*Task) {
		for _, t := range tasks {
			want := t.State == New || t.State == Changed || t.State == Damaged || t.State == Retry ||
				t.State == Failed && retry.Failed || t.State == Stale && retry.Stale
			if want && t.runnable() && !seen[t.Key] {
				seen[t.Key] = true
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

// Chosen lists the final tasks of tuned cells among tasks.
func (p *Plan) Chosen(tasks []*Task) []*Task {
	of := map[string]bool{}
	for _, c := range p.Cells {
		for _, t := range c.Final {
			of[t.Key] = of[t.Key] || len(c.Tuning) > 0
		}
	}
	return slices.DeleteFunc(slices.Clone(tasks), func(t *Task) bool { return !of[t.Key] })
}

// Counts counts the tasks in each state. A cell that has no final tasks yet counts as one per seed, except if
// every candidate failed.
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
		for _, t := range c.tasks() {
			n[t.State]++
		}
	}
	return n
}
