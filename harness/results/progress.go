package results

import (
	"ssdl/harness/run"
)

// Progress is how far a spec is, and what of it runs now.
type Progress struct {
	Spec   string `json:"spec"`
	Done   int    `json:"done"`
	Failed int    `json:"failed"`
	// Left are to be run, also those that wait for their tuning.
	Left    int          `json:"left"`
	Running []RunningJob `json:"running,omitempty"`
	// Remaining is the time left in seconds, if as many jobs go on side by side as run now, each as long as
	// the finished ones of its row and data set, or of the spec; nil while nothing runs or nothing is known.
	Remaining *float64 `json:"remaining_seconds,omitempty"`
}

// RunningJob is a job that a process has reserved.
type RunningJob struct {
	Row     string `json:"row"` // RowID
	Title   string `json:"title"`
	Dataset string `json:"dataset"`
	Seed    uint64 `json:"seed"`
	Purpose string `json:"purpose"`
}

// ProgressOf counts the jobs of a plan, each once. claimed says which keys are reserved by a process.
func ProgressOf(p *run.Plan, claimed map[string]bool) Progress {
	out := Progress{Spec: p.Spec.Name}
	type group struct{ row, dataset string }
	type sum struct {
		seconds float64
		n       int
	}
	walls, all, seen := map[group]sum{}, sum{}, map[string]bool{}
	var waiting []group
	for _, c := range p.Cells {
		if c.Excluded != "" || c.Err != nil {
			continue
		}
		g := group{c.Row.ID, c.Dataset}
		add := func(t *run.Task, purpose string) {
			if t.Key != "" && seen[t.Key] {
				return
			}
			seen[t.Key] = true
			if claimed[t.Key] {
				out.Running = append(out.Running, RunningJob{RowID(c.Row.ID, settingOf(c.Setting)), c.Row.Title(), c.Dataset, t.Job.Seed, purpose})
			}
			switch {
			case t.Result != nil:
				out.Done++
				s, wall := walls[g], t.Result.Wall.Seconds()
				walls[g] = sum{s.seconds + wall, s.n + 1}
				all = sum{all.seconds + wall, all.n + 1}
				return
			case t.State == run.Failed && !claimed[t.Key]:
				out.Failed++
				return
			}
			out.Left++
			waiting = append(waiting, g)
		}
		for _, tasks := range c.Tuning {
			for i := range tasks {
				add(&tasks[i], Tune)
			}
		}
		for i := range c.Final {
			add(&c.Final[i], Report)
		}
		if c.Final == nil {
			out.Left += len(p.Spec.Seeds)
			for range p.Spec.Seeds {
				waiting = append(waiting, g)
			}
		}
	}
	if len(out.Running) == 0 || all.n == 0 || out.Left == 0 {
		return out
	}
	seconds := 0.0
	for _, g := range waiting {
		of := walls[g]
		if of.n == 0 {
			of = all
		}
		seconds += of.seconds / float64(of.n)
	}
	seconds /= float64(len(out.Running))
	out.Remaining = &seconds
	return out
}

// Keys are those of the jobs of a plan.
func Keys(p *run.Plan) []string {
	var keys []string
	for _, c := range p.Cells {
		tasks := c.Final
		for _, t := range c.Tuning {
			tasks = append(tasks[:len(tasks):len(tasks)], t...)
		}
		for _, t := range tasks {
			if t.Key != "" {
				keys = append(keys, t.Key)
			}
		}
	}
	return keys
}
