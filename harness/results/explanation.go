package results

import (
	"slices"

	"ssdl/harness/run"
	"ssdl/methods/catalog"
)

// Explanation explains a cell of a table: how its parameters were chosen, and its runs.
type Explanation struct {
	Spec    string  `json:"spec"`
	Row     string  `json:"row"` // RowID of Base and Setting
	Base    string  `json:"base"`
	Setting Setting `json:"setting,omitempty"`
	Title   string  `json:"title"`
	Dataset string  `json:"dataset"`
	Metric  Metric  `json:"metric"`
	// Cell is the cell as the table of the spec shows it.
	Cell     Cell      `json:"cell"`
	Protocol *Protocol `json:"protocol"`
	DataHash string    `json:"data_hash,omitempty"`
	// Candidates are the candidates of the tuning, on TuneSeeds; nil if nothing is tuned.
	Candidates []Candidate `json:"candidates,omitempty"`
	TuneSeeds  []uint64    `json:"tune_seeds,omitempty"`
	// Pretext and Method are the parts of the row with their parameters; nil until the tuning has chosen, or
	// if the row has no such part.
	Pretext *Part `json:"pretext,omitempty"`
	Method  *Part `json:"method,omitempty"`
	// Program is the external program of the row, with its arguments; nil if there is none.
	Program []string `json:"program,omitempty"`
	// Runs has an entry for each seed; nil until the tuning has chosen.
	Runs []Run `json:"runs,omitempty"`
	// Command is the command that makes the missing runs. The caller sets it.
	Command []string `json:"command,omitempty"`
}

// Candidate is a candidate of a tuning.
type Candidate struct {
	Setting Setting `json:"setting"`
	// Score is the mean of the metric over the seeds of the tuning; nil until all runs are finished.
	Score *float64 `json:"score,omitempty"`
	// Requested counts its runs, Finished and Failed those that have ended.
	Requested int  `json:"requested"`
	Finished  int  `json:"finished"`
	Failed    int  `json:"failed"`
	Chosen    bool `json:"chosen,omitempty"`
}

// Part is a method or a pretext with all its parameters.
type Part struct {
	Name   string         `json:"name"`
	Params catalog.Values `json:"params"`
}

// Run is the run of one seed behind a cell.
type Run struct {
	Seed  uint64    `json:"seed"`
	State run.State `json:"state"`
	// Value is as recorded, not in the unit of tables; nil without a result. Then Failure or Reason says
	// why.
	Value   *float64 `json:"value,omitempty"`
	UID     string   `json:"uid,omitempty"`
	Wall    float64  `json:"wall_seconds,omitempty"`
	Failure *Failure `json:"failure,omitempty"`
	Reason  string   `json:"reason,omitempty"`
	// ReadRecords sets these. They are empty if nothing is recorded.
	Dictionary
	Commit    string `json:"commit,omitempty"`
	Processor string `json:"processor,omitempty"`
}

// Explain explains a cell of a plan.
func Explain(p *run.Plan, c *run.Cell) Explanation {
	setting := settingOf(c.Setting)
	e := Explanation{
		Spec: p.Spec.Name, Row: RowID(c.Row.ID, setting), Base: c.Row.ID, Setting: setting, Title: c.Row.Title(), Dataset: c.Dataset,
		Metric: specMetric(p.Spec, c.Metric), Cell: cellOf(p, c), Program: c.Row.Exec, Protocol: protocolOf(p.Spec),
	}
	if t := firstResult(c); t != nil {
		e.DataHash = t.Job.DatasetHash
	}
	if len(c.Candidates) > 1 && c.Excluded == "" && !c.NoData() {
		e.TuneSeeds = c.TuneSeeds
		for i := range c.Candidates {
			e.Candidates = append(e.Candidates, candidateOf(c, i))
		}
	}
	if c.Chosen < 0 || e.Cell.State == NoData || e.Cell.State == Excluded {
		return e
	}
	chosen := c.Candidates[c.Chosen]
	if chosen.PretextParams != nil {
		e.Pretext = &Part{c.Row.Pretext, chosen.PretextParams}
	}
	if chosen.Params != nil {
		e.Method = &Part{c.Row.Method, chosen.Params}
	}
	for _, t := range c.Final {
		r := Run{Seed: t.Job.Seed, State: t.State}
		if v, ok := t.Value(); ok {
			r.Value, r.UID, r.Wall = &v, t.Result.UID, t.Result.Wall.Seconds()
		} else if r.Failure = failureOf(&t); r.Failure == nil {
			r.Reason = t.Reason()
		}
		e.Runs = append(e.Runs, r)
	}
	return e
}

func candidateOf(c *run.Cell, i int) Candidate {
	out := Candidate{Setting: settingOf(c.Candidates[i].Tuned), Requested: len(c.TuneSeeds), Chosen: i == c.Chosen}
	if len(c.Tuning) == 0 {
		return out
	}
	out.Finished, out.Failed = tuningRuns(c.Tuning[i])
	if out.Requested = len(c.Tuning[i]); out.Finished == out.Requested {
		out.Score = &c.Scores[i]
	}
	return out
}

// Place is a row that reports a job or tunes on it.
type Place struct {
	Row     string // RowID
	Setting Setting
	// How is the select of the spec by which the parameters of a reported job were chosen, Candidates the
	// number of candidates. They are "" and 0 for a tuning job.
	How        string
	Candidates int
}

// Places lists the rows of each job of a plan, by key: first those that report it, then those that only tune on
// it.
func Places(p *run.Plan) map[string][]Place {
	places := map[string][]Place{}
	add := func(t run.Task, is Place) {
		if !slices.ContainsFunc(places[t.Key], func(x Place) bool { return x.Row == is.Row }) {
			places[t.Key] = append(places[t.Key], is)
		}
	}
	for _, c := range p.Cells {
		for _, t := range c.Final {
			add(t, Place{RowOf(c), settingOf(c.Setting), selectionOf(c), len(c.Candidates)})
		}
	}
	for _, c := range p.Cells {
		for _, t := range slices.Concat(c.Tuning...) {
			add(t, Place{Row: RowOf(c), Setting: settingOf(c.Setting)})
		}
	}
	return places
}
