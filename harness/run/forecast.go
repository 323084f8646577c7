package run

import (
	"ssdl/harness/progress"
	"ssdl/harness/spec"
)

// Waiting lists jobs like the final ones of cells whose tuning is unfinished: one candidate for each seed.
func (p *Plan) Waiting() []spec.Job {
	var jobs []spec.Job
	for _, c := range p.Cells {
		if c.Final != nil || c.Err != nil || c.Excluded != "" || len(c.Tuning) == 0 {
			continue
		}
		like := c.Tuning[len(c.Tuning)/2]
		for i := range p.Spec.Seeds {
			jobs = append(jobs, like[i%len(like)].Job)
		}
	}
	return jobs
}

// Forecast estimates wall times from those of the plan's results.
func (p *Plan) Forecast() *progress.Forecast {
	f := progress.NewForecast()
	for _, c := range p.Cells {
		for _, t := range c.results() {
			f.Recall(t.Job.Job, t.Result.Wall)
		}
	}
	return f
}
