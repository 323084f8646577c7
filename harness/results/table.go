// Package results makes plain values of a plan and the store: the table of a spec, the explanation of a cell,
// the details of a run, the jobs of a plan. Facts are fields, not sentences, so that every renderer shows the
// same values.
package results

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"

	"gonum.org/v1/gonum/stat"

	"ssdl/experiments"
	"ssdl/harness/metric"
	"ssdl/harness/run"
	"ssdl/harness/store"
)

// State says whether a cell has a value, or why not.
type State string

// The states of a cell. Only an OK cell has a value; Remarks explain the others.
const (
	OK           State = "ok"
	NotRun       State = "not run"
	NoData       State = "no data" // its data set cannot be loaded here
	Failed       State = "failed"  // every run ended in an error, or every candidate failed
	Timeout      State = "timeout" // every run reached its time limit
	OutOfMemory  State = "out of memory"
	Damaged      State = "damaged"      // a run is not as it was recorded
	Inconsistent State = "inconsistent" // runs that must not be averaged
	Excluded     State = "excluded"     // the spec leaves it out
	NotPrinted   State = "not printed"  // a published column has no such value
)

// Table is a table of results: rows by data sets.
type Table struct {
	// ID is the name of the spec, and names the table's files. Title is "Table 1"; Caption and RowHead
	// are plain text; Label is the LaTeX label.
	ID      string `json:"id"`
	Title   string `json:"title"`
	Caption string `json:"caption"`
	Label   string `json:"label,omitempty"`
	RowHead string `json:"row_head"`
	Metric  Metric `json:"metric"`
	// Columns are the heads of the cells of every row, in order.
	Columns []Column `json:"columns"`
	// Groups are the blocks of rows between the horizontal rules.
	Groups []Group `json:"groups"`
	// Protocol says which splits and seeds the values are of; nil in a table of published values alone.
	Protocol *Protocol `json:"protocol,omitempty"`
	// Data describes the data of each measured column that has results.
	Data []DataVersion `json:"data,omitempty"`
	// Tuning says how the parameters of the rows were chosen.
	Tuning []Tuning `json:"tuning,omitempty"`
	// Provenance counts the runs of all cells; nil in a table of published values alone.
	Provenance *run.Provenance `json:"provenance,omitempty"`
}

// Metric is the metric of a table. Values are in its unit: 75.9, not 0.759.
type Metric struct {
	Name  string `json:"name"`
	Title string `json:"title"`
	// Unit is "%" or empty; Decimals is the number of decimals shown, 0 to 15.
	Unit           string `json:"unit"`
	Decimals       int    `json:"decimals"`
	HigherIsBetter bool   `json:"higher_is_better"`
}

// MetricOf describes the metric of this name; an unknown one has its name as title and 3 decimals.
func MetricOf(name string) Metric {
	m, ok := metric.Lookup(name)
	if !ok {
		return Metric{Name: name, Title: name, Decimals: 3}
	}
	return Metric{name, m.Title, m.Unit, m.Decimals, m.HigherIsBetter}
}

// Better reports whether a is a better value than b.
func (m Metric) Better(a, b float64) bool {
	if m.HigherIsBetter {
		return a > b
	}
	return a < b
}

// Column is a data set, or the paper's own numbers for one.
type Column struct {
	// ID is the data set. A published column has the ID of the data set in the paper, so
	// that a measured and a published column may share it.
	ID    string `json:"id"`
	Title string `json:"title"`
	// Published marks the paper's own numbers.
	Published bool `json:"published,omitempty"`
	// Synthetic marks generated data.
	Synthetic bool `json:"synthetic,omitempty"`
	// StandsFor is the data set of the paper that this one stands in for, if any.
	StandsFor string `json:"stands_for,omitempty"`
	// Differences lists how the data differs from the known data set of this name.
	Differences []experiments.Difference `json:"differences,omitempty"`
}

// IsPapers reports whether the column has measured values on a data set of the paper itself.
func (c Column) IsPapers() bool {
	return !c.Published && !c.Synthetic && c.StandsFor == "" && len(c.Differences) == 0
}

// PaperSet is the data set of the paper that the column shows or stands in for.
func (c Column) PaperSet() string {
	if c.StandsFor != "" {
		return c.StandsFor
	}
	return c.ID
}

// Group is a block of rows.
type Group struct {
	Rows []Row `json:"rows"`
}

// Cell is a value over seeds, or the reason why there is none.
type Cell struct {
	State State `json:"state"`
	// Mean and SD (standard deviation over seeds, 0 for one seed) are in the table's unit.
	Mean float64 `json:"mean"`
	SD   float64 `json:"sd"`
	// N of RequestedSeeds have a value; both are 0 in a published cell.
	N              int `json:"n"`
	RequestedSeeds int `json:"requested_seeds"`
	// Selection is how the parameters were chosen: see Tuning; empty in a published cell. Candidates is the
	// number of candidates.
	Selection  string `json:"selection,omitempty"`
	Candidates int    `json:"candidates,omitempty"`
	// TunedOnTest says that the parameters were chosen on the test part.
	TunedOnTest bool `json:"tuned_on_test,omitempty"`
	// Best is set by MarkBest.
	Best bool `json:"best,omitempty"`
	// Tested is the expected number of different test samples over all seeds.
	Tested int `json:"tested,omitempty"`
	// Samples are the values of the seeds, sorted by seed; nil in a published cell.
	Samples []Sample `json:"samples,omitempty"`
	RunIDs  []string `json:"run_ids,omitempty"`
	Remarks
}

// Remarks qualify the value of a cell, or say why there is none.
type Remarks struct {
	// Unconverged is the largest number of test codes of a run that stopped before convergence.
	Unconverged float64 `json:"unconverged_test_codes,omitempty"`
	// Unconfined is the number of runs whose program was not confined.
	Unconfined int `json:"unconfined_runs,omitempty"`
	// FailedCandidates is the number of candidates with a failed run, which tuning cannot choose.
	FailedCandidates int `json:"failed_candidates,omitempty"`
	// TunedOn are the seeds on which the tuning has finished, if these are not all: the cell has them alone.
	TunedOn []uint64 `json:"tuned_on,omitempty"`
	// Failure is the first run without a value.
	Failure *Failure `json:"failure,omitempty"`
	// Excluded is why the spec leaves the cell out, NoData why its data set cannot be loaded.
	Excluded string `json:"excluded,omitempty"`
	NoData   string `json:"no_data,omitempty"`
	// Inconsistencies are why the runs must not be averaged.
	Inconsistencies []run.Inconsistency `json:"inconsistencies,omitempty"`
	// Fault is the fault of the first damaged run.
	Fault *store.Fault `json:"fault,omitempty"`
	// Modified counts the runs of programs with modified sources, Imported the imported runs; both include
	// tuning runs.
	Modified int `json:"modified_sources,omitempty"`
	Imported int `json:"imported,omitempty"`
}

// Failure is a run without a value.
type Failure struct {
	// Status is the status of the last of the failed Attempts; empty if a run lacks the metric.
	Status   store.Status `json:"status,omitempty"`
	Message  string       `json:"message"`
	Seed     uint64       `json:"seed"`
	Attempts int          `json:"attempts"`
}

// Sample is the value of one seed, in the table's unit.
type Sample struct {
	Seed  uint64  `json:"seed"`
	Value float64 `json:"value"`
}

// NewCell returns the OK cell of values by seed, or a NotRun cell if there are none. requested is the
// number of requested seeds.
func NewCell(values map[uint64]float64, requested int) Cell {
	c := Cell{State: NotRun, N: len(values), RequestedSeeds: requested}
	if c.N == 0 {
		return c
	}
	c.State = OK
	xs := make([]float64, 0, c.N)
	for _, seed := range slices.Sorted(maps.Keys(values)) {
		c.Samples = append(c.Samples, Sample{seed, values[seed]})
		xs = append(xs, values[seed])
	}
	c.Mean = stat.Mean(xs, nil)
	if c.N > 1 {
		c.SD = stat.StdDev(xs, nil)
	}
	return c
}

// Complete reports whether all requested seeds have a value.
func (c Cell) Complete() bool { return c.State == OK && c.N > 0 && c.N >= c.RequestedSeeds }

// Partial reports whether some, but not all of the requested seeds have a value.
func (c Cell) Partial() bool { return c.State == OK && c.N < c.RequestedSeeds }

// Rows returns all rows in order.
func (t Table) Rows() []Row {
	var rows []Row
	for _, g := range t.Groups {
		rows = append(rows, g.Rows...)
	}
	return rows
}

// Row finds the row with this id.
func (t Table) Row(id string) (Row, bool) {
	for _, r := range t.Rows() {
		if r.ID == id {
			return r, true
		}
	}
	return Row{}, false
}

// Synthetic reports whether any column is of generated data.
func (t Table) Synthetic() bool {
	return slices.ContainsFunc(t.Columns, func(c Column) bool { return c.Synthetic })
}

// RowMetric is the metric of a row: its loss if the spec sweeps losses, or else that of the table.
func (t Table) RowMetric(r Row) Metric { return r.Setting.Metric(t.Metric) }

// Losses reports whether rows have different losses.
func (t Table) Losses() bool {
	rows := t.Rows()
	return slices.ContainsFunc(rows, func(r Row) bool { return t.RowMetric(r).Name != t.RowMetric(rows[0]).Name })
}

// HasResults reports whether any measured cell has a value.
func (t Table) HasResults() bool {
	for _, r := range t.Rows() {
		for j, c := range r.Cells {
			if c.State == OK && !t.Columns[j].Published {
				return true
			}
		}
	}
	return false
}

// MarkBest sets Best on the best cells of every measured column, among the complete cells of ranked rows with
// the same metric. Cells that show the same digits are equally good. Published columns keep the paper's marks.
func (t *Table) MarkBest() {
	for j, col := range t.Columns {
		if col.Published {
			continue
		}
		best := map[string]float64{} // by metric
		t.eachRanked(j, func(m Metric, c *Cell) {
			if !c.Complete() {
				return
			}
			v := m.rounded(c.Mean)
			if b, ok := best[m.Name]; !ok || m.Better(v, b) {
				best[m.Name] = v
			}
		})
		t.eachRanked(j, func(m Metric, c *Cell) { c.Best = c.Complete() && m.rounded(c.Mean) == best[m.Name] })
	}
}

// rounded is the value of the digits that tables show. math.Round differs on ties: it makes 92.3 of 92.25, which is
// shown as 92.2.
func (m Metric) rounded(v float64) float64 {
	shown, _ := strconv.ParseFloat(strconv.FormatFloat(v, 'f', m.Decimals, 64), 64)
	return shown
}

// eachRanked visits the cells of column j in ranked rows, with the metric of the row.
func (t *Table) eachRanked(j int, do func(Metric, *Cell)) {
	for g := range t.Groups {
		for r := range t.Groups[g].Rows {
			if row := &t.Groups[g].Rows[r]; j < len(row.Cells) && row.Ranked() {
				do(t.RowMetric(*row), &row.Cells[j])
			}
		}
	}
}

// Check refuses a table that cannot be printed: a row without one cell per column, an unknown state, a
// value that is not finite, a second row or column of the same id.
func (t Table) Check() error {
	if t.Metric.Decimals < 0 || t.Metric.Decimals > 15 {
		return fmt.Errorf("table %s: %d decimals, want 0 to 15", t.ID, t.Metric.Decimals)
	}
	if t.Metric.Unit != "" && t.Metric.Unit != "%" {
		return fmt.Errorf("table %s: unit %q, want %q or none", t.ID, t.Metric.Unit, "%")
	}
	if len(t.Columns) == 0 {
		return fmt.Errorf("table %s has no columns", t.ID)
	}
	measured := map[string]bool{}
	for _, c := range t.Columns {
		// A published column may come after each of several stand-ins for its set.
		if !c.Published && measured[c.ID] {
			return fmt.Errorf("table %s has two columns %q", t.ID, c.ID)
		}
		measured[c.ID] = measured[c.ID] || !c.Published
	}
	seen := map[string]bool{}
	for _, r := range t.Rows() {
		if seen[r.ID] {
			return fmt.Errorf("table %s has two rows %q", t.ID, r.ID)
		}
		seen[r.ID] = true
		if len(r.Cells) != len(t.Columns) {
			return fmt.Errorf("table %s, row %s: %d cells for %d columns", t.ID, r.ID, len(r.Cells), len(t.Columns))
		}
		for j, c := range r.Cells {
			if err := c.check(); err != nil {
				return fmt.Errorf("table %s, row %s, column %s: %w", t.ID, r.ID, t.Columns[j].ID, err)
			}
		}
		for name, v := range r.Setting.numbers() {
			if !finite(v) {
				return fmt.Errorf("table %s, row %s: %s is %v, want a finite value", t.ID, r.ID, name, v)
			}
		}
	}
	return nil
}

func (c Cell) check() error {
	switch c.State {
	case OK, NotRun, NoData, Failed, Timeout, OutOfMemory, Damaged, Inconsistent, Excluded, NotPrinted:
	default:
		return fmt.Errorf("unknown state %q", c.State)
	}
	if c.N < 0 || c.RequestedSeeds < 0 {
		return fmt.Errorf("%d of %d seeds", c.N, c.RequestedSeeds)
	}
	if !finite(c.Mean) || !finite(c.SD) || c.SD < 0 {
		return fmt.Errorf("mean %v and standard deviation %v, want finite values", c.Mean, c.SD)
	}
	for i, s := range c.Samples {
		if !finite(s.Value) {
			return fmt.Errorf("the value of seed %d is %v", s.Seed, s.Value)
		}
		if i > 0 && c.Samples[i-1].Seed >= s.Seed {
			return fmt.Errorf("seed %d stands after seed %d, want ascending seeds", s.Seed, c.Samples[i-1].Seed)
		}
	}
	return nil
}

func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }

// Shown converts a recorded value into the unit of tables: 75.9 for 0.759 of a metric in %.
func (m Metric) Shown(v float64) float64 {
	if is, ok := metric.Lookup(m.Name); ok {
		return is.Shown(v)
	}
	return v
}
