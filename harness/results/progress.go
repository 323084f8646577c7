package results

import (
	"gonum.org/v1/gonum/floats"

	"ssdl/harness/job"
	"ssdl/harness/run"
)

// Progress counts the finished jobs of a spec and lists those that run now.
type Progress struct {
	Spec   string `json:"spec"`
	Done   int    `json:"done"`
	Failed int    `json:"failed"`
	// Left counts the jobs to run, also those that wait for their tuning.
	Left    int          `json:"left"`
	Running []RunningJob `json:"running,omitempty"`
	// Remaining estimates the time left in seconds, with as many jobs at once as run now; nil if nothing runs
	// or no wall time is known. See run.Plan.Forecast.
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

// ProgressOf counts the jobs of a plan, each once. claimed has the keys that a process has reserved.
func ProgressOf(p *run.Plan, claimed map[string]bool) Progress {
	out := Progress{Spec: p.Spec.Name}
	seen := map[string]bool{}
	var waiting []job.Job
	for _, j := range p.Waiting() {
		waiting = append(waiting, j.Job)
	}
	for _, c := range p.Cells {
		if c.Excluded != "" || c.Err != nil {
			continue
		}
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
				return
			case t.State == run.Failed && !claimed[t.Key]:
				out.Failed++
				return
			}
			out.Left++
			waiting = append(waiting, t.Job.Job)
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
		}
	}
	if len(out.Running) == 0 || out.Left == 0 {
		return out
	}
	if each, ok := p.Forecast().Each(waiting); ok {
		remaining := floats.Sum(each) / float64(len(out.Running))
		out.Remaining = &remaining
	}
	return out
}

// Keys lists the keys of the jobs of a plan.
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
