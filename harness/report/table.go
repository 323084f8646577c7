// Package report renders tables of results: aligned text for the terminal, Markdown,
// LaTeX in the form of the paper, CSV and JSON. A Table is plain data; the package
// reads no store and runs nothing, and it prints what a cell lacks (failed, timed out,
// not run) as plainly as what it has.
package report

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/stat"

	"ssdl/experiments/paper"
)

// State says what a cell holds.
type State string

// The states of a cell. Only an OK cell has a value.
const (
	OK         State = "ok"
	NotYet     State = "not yet"     // planned, not run
	Missing    State = "missing"     // cannot be run here, e.g. for want of the data
	Failed     State = "failed"      // every run ended in an error
	Timeout    State = "timeout"     // every run reached its time limit
	Mixed      State = "mixed"       // runs that must not be averaged; Detail says in what they differ
	Excluded   State = "excluded"    // left out on purpose; Detail gives the reason
	NotPrinted State = "not printed" // a published column has no such value
)

// Table is a table of results: methods by data sets.
type Table struct {
	// ID names the table's files; Title is "Table 1"; Caption and RowHead are plain text;
	// Label is the LaTeX label.
	ID      string `json:"id"`
	Title   string `json:"title"`
	Caption string `json:"caption"`
	Label   string `json:"label,omitempty"`
	RowHead string `json:"row_head"`
	// Columns are the heads of the cells of every row, in order.
	Columns []Column `json:"columns"`
	// Groups are the blocks of rows between the horizontal rules.
	Groups []Group  `json:"groups"`
	Notes  []string `json:"notes,omitempty"`
	// Unit is "%" or empty. Values are in that unit: 75.9, not 0.759.
	Unit string `json:"unit"`
	// Decimals is the number of decimals shown.
	Decimals      int  `json:"decimals"`
	LowerIsBetter bool `json:"lower_is_better"`
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
	// StandsFor is the data set of the paper in whose place this one is used, if any.
	StandsFor string `json:"stands_for,omitempty"`
}

// Group is a block of rows.
type Group struct {
	Rows []Row `json:"rows"`
}

// Row is a method, or a method at one point of a sweep.
type Row struct {
	// ID is the method's name; in a sweep it is followed by @ and what tells the rows apart.
	ID    string `json:"id"`
	Title string `json:"title"`
	Venue string `json:"venue,omitempty"`
	Cite  string `json:"cite,omitempty"`
	Year  int    `json:"year,omitempty"`
	// Bold sets the title in bold.
	Bold bool `json:"bold,omitempty"`
	// Note is shown below the table.
	Note string `json:"note,omitempty"`
	// Aside marks a control or another reading beside the paper's rows: it is never the
	// best of a column.
	Aside bool `json:"aside,omitempty"`
	// At is the value of each swept setting, e.g. {"p": 2.2}; nil in a table without a sweep.
	At map[string]float64 `json:"at,omitempty"`
	// Cells has one entry per column of the table.
	Cells []Cell `json:"cells"`
}

// Cell is a value over seeds, or the reason why there is none.
type Cell struct {
	State State `json:"state"`
	// Mean and SD (standard deviation over seeds, 0 for one seed) are in the table's unit.
	Mean float64 `json:"mean"`
	SD   float64 `json:"sd"`
	// N of Declared seeds have a value; both are 0 in a published cell.
	N        int `json:"n"`
	Declared int `json:"declared"`
	// Selection is how the parameters came about: chosen on val or test, or given, by the paper or
	// fixed by the spec; empty in a published cell. Tried is how many settings there were.
	Selection string `json:"selection,omitempty"`
	Tried     int    `json:"tried,omitempty"`
	// Dagger says that the parameters were chosen on the test part.
	Dagger bool `json:"dagger,omitempty"`
	// Best is set by MarkBest.
	Best bool `json:"best,omitempty"`
	// Samples are the values that Mean is of, ordered by seed; nil in a published cell.
	Samples []Sample `json:"samples,omitempty"`
	RunIDs  []string `json:"run_ids,omitempty"`
	// Detail is shown below the table: the reason of an exclusion, the first line of an error.
	Detail string `json:"detail,omitempty"`
}

// Sample is the value of one seed, in the table's unit.
type Sample struct {
	Seed  uint64  `json:"seed"`
	Value float64 `json:"value"`
}

// NewCell returns the OK cell of the values by seed, of which declared were asked for;
// without values it is a NotYet cell.
func NewCell(values map[uint64]float64, declared int) Cell {
	c := Cell{State: NotYet, N: len(values), Declared: declared}
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

// Rows returns all rows in order.
func (t Table) Rows() []Row {
	var rows []Row
	for _, g := range t.Groups {
		rows = append(rows, g.Rows...)
	}
	return rows
}

// Synthetic reports whether any column is of generated data.
func (t Table) Synthetic() bool {
	return slices.ContainsFunc(t.Columns, func(c Column) bool { return c.Synthetic })
}

// What a table says of values that the best of their column was not sought among.
const (
	onlyComplete = "the best of a column is the best of its complete cells: one marked (k/n) does not compete"
	notAside     = "rows beside the paper's, controls and other readings, do not compete for the best of a column"
)

// MarkBest sets Best on the best cells of every measured column. Only complete cells
// take part: all declared seeds have a value. Rows aside do not. Cells that show the same digits are
// equally good. Published columns keep the marks of the paper. A note says which values did not
// compete with a best one.
func (t *Table) MarkBest() {
	without := map[string]bool{} // the notes that hold
	for j, col := range t.Columns {
		if col.Published {
			continue
		}
		best := math.Inf(1)
		eachCell(t, j, func(c *Cell) {
			if c.complete() {
				best = min(best, t.rank(c.Mean))
			}
		})
		eachCell(t, j, func(c *Cell) {
			c.Best = c.complete() && t.rank(c.Mean) == best
			without[onlyComplete] = without[onlyComplete] || !math.IsInf(best, 1) && c.seeds() != ""
		})
		without[notAside] = without[notAside] || !math.IsInf(best, 1) && slices.ContainsFunc(t.Rows(), func(r Row) bool {
			return r.Aside && j < len(r.Cells) && r.Cells[j].State == OK
		})
	}
	for _, note := range []string{onlyComplete, notAside} {
		if without[note] && !slices.Contains(t.Notes, note) {
			t.Notes = append(t.Notes, note)
		}
	}
}

// complete reports whether all declared seeds have a value.
func (c Cell) complete() bool { return c.State == OK && c.N > 0 && c.N >= c.Declared }

// rank is v as shown, with the sign that makes smaller better.
func (t *Table) rank(v float64) float64 {
	scale := math.Pow10(t.Decimals)
	if !t.LowerIsBetter {
		v = -v
	}
	return math.Round(v * scale)
}

// eachCell visits the cells of column j, those of rows aside left out.
func eachCell(t *Table, j int, do func(*Cell)) {
	for g := range t.Groups {
		for r := range t.Groups[g].Rows {
			row := &t.Groups[g].Rows[r]
			if j < len(row.Cells) && !row.Aside {
				do(&row.Cells[j])
			}
		}
	}
}

func publishedCell(r paper.Row, column string) Cell {
	v, ok := r.Values[column]
	if !ok {
		return Cell{State: NotPrinted}
	}
	return Cell{State: OK, Mean: v, Best: slices.Contains(r.Best, column)}
}

// WithPublished returns t with the paper's column beside each measured one: that of the
// same data set, or of the set it stands for. Rows that the paper does not have show no
// published value.
func WithPublished(t Table, l paper.Layout) Table {
	printed := map[string]paper.Row{}
	for _, r := range l.Rows() {
		printed[r.ID] = r
	}
	titles := map[string]string{}
	for _, c := range l.Columns {
		titles[c.ID] = c.Title
	}
	out := t
	out.Columns = nil
	var from []int // the column of t behind each column of out, or -1 for a published one
	for j, c := range t.Columns {
		if c.Published {
			continue
		}
		out.Columns, from = append(out.Columns, c), append(from, j)
		set := c.ID
		if c.StandsFor != "" {
			set = c.StandsFor
		}
		if title, ok := titles[set]; ok {
			out.Columns, from = append(out.Columns, Column{ID: set, Title: title, Published: true}), append(from, -1)
		}
	}
	out.Groups = nil
	for _, g := range t.Groups {
		var rows []Row
		for _, r := range g.Rows {
			cells := make([]Cell, len(from))
			for j, src := range from {
				if src >= 0 {
					cells[j] = r.Cells[src]
				} else {
					cells[j] = publishedCell(printed[r.ID], out.Columns[j].ID)
				}
			}
			r.Cells = cells
			rows = append(rows, r)
		}
		out.Groups = append(out.Groups, Group{rows})
	}
	return out
}

// FileName is the name of the table's file: its ID, "-synthetic" if a column is of
// generated data, and the extension.
func FileName(t Table, ext string) string {
	name := strings.Map(func(r rune) rune {
		if r < 0x80 && (r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '_') {
			return r
		}
		return '_'
	}, t.ID)
	if name == "" {
		name = "table"
	}
	if t.Synthetic() {
		name += "-synthetic"
	}
	return name + "." + strings.TrimPrefix(ext, ".")
}

// Check reports what makes the table unfit to print: a row without one cell per column,
// an unknown state, a value that is not finite, a second row or column of the same name.
func (t Table) Check() error {
	if t.Decimals < 0 || t.Decimals > 15 {
		return fmt.Errorf("table %s: %d decimals, want 0 to 15", t.ID, t.Decimals)
	}
	if t.Unit != "" && t.Unit != "%" {
		return fmt.Errorf("table %s: unit %q, want %q or none", t.ID, t.Unit, "%")
	}
	if len(t.Columns) == 0 {
		return fmt.Errorf("table %s has no columns", t.ID)
	}
	measured := map[string]bool{}
	for _, c := range t.Columns {
		// The paper's numbers for a set may stand beside each of several sets in its place.
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
		for _, name := range slices.Sorted(maps.Keys(r.At)) {
			if !finite(r.At[name]) {
				return fmt.Errorf("table %s, row %s: %s is %v, want a finite value", t.ID, r.ID, name, r.At[name])
			}
		}
	}
	return nil
}

func (c Cell) check() error {
	switch c.State {
	case OK, NotYet, Missing, Failed, Timeout, Mixed, Excluded, NotPrinted:
	default:
		return fmt.Errorf("unknown state %q", c.State)
	}
	if c.N < 0 || c.Declared < 0 {
		return fmt.Errorf("%d of %d seeds", c.N, c.Declared)
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
