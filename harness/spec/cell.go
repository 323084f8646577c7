package spec

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"ssdl/harness/job"
	"ssdl/methods/catalog"
)

// Assignment gives a parameter a value (float64, int, bool or string). Parameters of the
// pretext are named with its prefix: "pretext.lambda".
type Assignment struct {
	Name  string
	Value any
}

// Setting is a list of assignments, in the order of the file.
type Setting []Assignment

// String formats the setting as in "alpha=2^-14 gamma=0.1": see FormatValue.
func (s Setting) String() string {
	parts := make([]string, len(s))
	for i, a := range s {
		parts[i] = a.Name + "=" + FormatValue(a.Value)
	}
	return strings.Join(parts, " ")
}

// FormatValue formats the value of a parameter as in a spec: 2^-14, 0.1, 300, true, ratio.
func FormatValue(v any) string {
	x, ok := v.(float64)
	if !ok {
		return fmt.Sprint(v)
	}
	return catalog.FormatNumber(x)
}

// Candidate is a choice of parameters that tuning may take, complete with defaults.
type Candidate struct {
	// Tuned are the values in which candidates differ; empty if there is only one.
	Tuned Setting
	// Params and PretextParams include defaults; nil if the row has no such component.
	Params, PretextParams catalog.Values
}

// Cell is one number of the table: a row on a data set, over all seeds.
type Cell struct {
	Row     *Row
	Dataset string
	// Split is that of the spec, with the cell's share of labels if the spec sweeps it.
	Split Split
	// Metric is the metric to show. Score says how pseudo labels reach unseen samples in a row without a
	// method; "" in other rows.
	Metric, Score string
	// Point counts the sweep points of the row on this data set from 0. Setting is the setting of the
	// point, empty in a row without a sweep.
	Point   int
	Setting Setting
	// Select says how one of Candidates is chosen: see docs/specs.md.
	Select     string
	Candidates []Candidate
	// TuneSeeds are the seeds of the tuning.
	TuneSeeds []uint64
	// Excluded is why the spec leaves the cell out; "" if it does not.
	Excluded string
}

// Cells lists the cells in the order of the table: rows, then data sets, then sweep points.
func (s *Spec) Cells() []Cell {
	var out []Cell
	for i := range s.Rows {
		row := &s.Rows[i]
		points := product(s.axes(row))
		for _, dataset := range s.Datasets {
			given, tunes := row.on(dataset)
			tuned := product(tunes)
			excluded := s.excluded(dataset, row.ID)
			seeds := s.Seeds
			if few, ok := s.TuneSeeds[dataset]; ok {
				seeds = few
			}
			for p, setting := range points {
				cell := Cell{
					Row: row, Dataset: dataset, Split: s.Split, Point: p, Setting: setting,
					Select: row.Select, Excluded: excluded, TuneSeeds: seeds,
				}
				cell.Metric = s.Metrics[0]
				if row.Method == "" {
					cell.Score = s.Scores[0]
				}
				for _, a := range setting {
					switch a.Name {
					case LabelRate:
						cell.Split.Labels = a.Value.(float64)
					case Loss:
						cell.Metric = a.Value.(string)
					case Scoring:
						cell.Score = a.Value.(string)
					}
				}
				for _, t := range tuned {
					cell.Candidates = append(cell.Candidates, row.candidate(given, setting, t))
				}
				out = append(out, cell)
			}
		}
	}
	return out
}

// Names in a Setting of sweeps that are not over parameters of a method.
const (
	LabelRate = "label-rate" // the share of labelled samples
	Scoring   = "scoring"    // how pseudo labels reach unseen samples
	Loss      = "loss"       // the loss to show
)

// axes lists the sweeps of a row, those of the whole spec first.
func (s *Spec) axes(row *Row) []axis {
	var out []axis
	if len(s.LabelRates) > 0 {
		out = append(out, single(LabelRate, s.LabelRates))
	}
	if len(s.Scores) > 1 && row.Method == "" {
		out = append(out, single(Scoring, s.Scores))
	}
	if len(s.Metrics) > 1 {
		out = append(out, single(Loss, s.Metrics))
	}
	return append(out, row.sweeps...)
}

// single is the axis of one parameter.
func single[T any](name string, values []T) axis {
	a := axis{names: []string{name}}
	for _, v := range values {
		a.points = append(a.points, []any{v})
	}
	return a
}

func (s *Spec) excluded(dataset, row string) string {
	for _, e := range s.Excludes {
		if e.Dataset == dataset && e.Row == row {
			return e.Reason
		}
	}
	return ""
}

// on returns the values and grids of a row on a data set: the row's own, overridden by each `when` that names
// the data set, in order.
func (r *Row) on(dataset string) (given []Assignment, tunes []axis) {
	given, tunes = r.given, slices.Clone(r.tunes)
	for _, w := range r.whens {
		if !slices.Contains(w.datasets, dataset) {
			continue
		}
		given = slices.Concat(given, w.given) // the later of two assignments wins
		for _, t := range w.tunes {
			tunes = slices.DeleteFunc(tunes, func(a axis) bool {
				return slices.ContainsFunc(a.names, func(name string) bool { return slices.Contains(t.names, name) })
			})
			tunes = append(tunes, t)
		}
	}
	// A tie goes to the first candidate, so the order of candidates is the catalog's, not the file's.
	slices.SortFunc(tunes, func(a, b axis) int { return r.rank(a.names[0]) - r.rank(b.names[0]) })
	return given, tunes
}

// rank orders parameters: those of the pretext first, each in the order of the catalog.
func (r *Row) rank(name string) int {
	if short, ok := strings.CutPrefix(name, pretextPrefix); ok {
		return r.pretext.find(short)
	}
	return len(r.pretext.params) + r.method.find(name)
}

// candidate makes the candidate with the given values, a sweep point and tuned values. Later ones override earlier
// ones.
func (r *Row) candidate(given []Assignment, point, tuned Setting) Candidate {
	c := Candidate{Tuned: tuned, Params: maps.Clone(r.method.defaults), PretextParams: maps.Clone(r.pretext.defaults)}
	for _, list := range [][]Assignment{given, point, tuned} {
		for _, a := range list {
			if short, ok := strings.CutPrefix(a.Name, pretextPrefix); ok {
				c.PretextParams[short] = a.Value
			} else if a.Name != LabelRate && a.Name != Scoring && a.Name != Loss {
				c.Params[a.Name] = a.Value
			}
		}
	}
	return c
}

// product lists every combination of the axes' points, the last axis varying fastest. Without axes it
// is one empty setting.
func product(axes []axis) []Setting {
	out := []Setting{nil}
	for _, a := range axes {
		next := make([]Setting, 0, len(out)*len(a.points))
		for _, head := range out {
			for _, point := range a.points {
				s := slices.Clone(head)
				for i, name := range a.names {
					s = append(s, Assignment{name, point[i]})
				}
				next = append(next, s)
			}
		}
		out = next
	}
	return out
}

// Job is a job of a spec, with the name of its data set and the description of its split. Its hashes are
// empty until On sets them. An external part has no Command and no Predictions, since both need files.
type Job struct {
	Dataset string
	Split   Split
	// Predictions are the files of predictions; zero in other jobs.
	Predictions Predictions
	job.Job
}

// On returns the job on the data and the split with these hashes.
func (j Job) On(datasetHash, splitHash string) Job {
	j.DatasetHash, j.SplitHash = datasetHash, splitHash
	return j
}

// Program returns the part that an external program computes; nil if there is none.
func (j *Job) Program() *job.Part {
	for _, part := range []*job.Part{&j.Method, &j.Pretext} {
		if part.Name == job.ExecName {
			return part
		}
	}
	return nil
}

// Jobs lists the jobs of one candidate of a cell, one per seed. eval is job.EvalTest or
// job.EvalVal.
func (s *Spec) Jobs(c Cell, candidate int, eval string, seeds []uint64) []Job {
	chosen := c.Candidates[candidate]
	jobs := make([]Job, len(seeds))
	for i, seed := range seeds {
		jobs[i] = Job{Dataset: c.Dataset, Split: c.Split, Predictions: c.Row.Predictions.of(c.Dataset, seed), Job: job.Job{
			Method:  job.Part{Name: c.Row.Method, Version: c.Row.method.entry.Version, Params: chosen.Params},
			Pretext: job.Part{Name: c.Row.Pretext, Version: c.Row.pretext.entry.Version, Params: chosen.PretextParams},
			Seed:    seed, Eval: eval, Score: c.Score, Protocol: job.Protocol,
		}}
	}
	return jobs
}
