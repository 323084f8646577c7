package results

import (
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ssdl/experiments/paper"
)

// seeds gives values to the seeds from 1000 on.
func seeds(values ...float64) map[uint64]float64 {
	m := map[uint64]float64{}
	for i, v := range values {
		m[1000+uint64(i)] = v
	}
	return m
}

func cell(requested int, values ...float64) Cell { return NewCell(seeds(values...), requested) }

// column is a table of one data set with a row for each cell.
func column(m Metric, cells ...Cell) Table {
	t := Table{ID: "t", Metric: m, Columns: []Column{{ID: "a", Title: "a"}}, Groups: []Group{{}}}
	for i, c := range cells {
		id := string(rune('a' + i))
		t.Groups[0].Rows = append(t.Groups[0].Rows, Row{ID: id, Base: id, Cells: []Cell{c}})
	}
	return t
}

func best(t Table) (marks []bool) {
	for _, r := range t.Rows() {
		marks = append(marks, r.Cells[0].Best)
	}
	return marks
}

func TestMarkBest(t *testing.T) {
	high, low := Metric{Decimals: 1, HigherIsBetter: true}, Metric{Decimals: 1}
	for _, c := range []struct {
		name   string
		metric Metric
		cells  []Cell
		want   []bool
	}{
		{"highest", high, []Cell{cell(1, 1), cell(1, 3), cell(1, 2)}, []bool{false, true, false}},
		{"lowest", low, []Cell{cell(1, 1), cell(1, 3), cell(1, 2)}, []bool{true, false, false}},
		{"tie in the digits shown", high, []Cell{cell(1, 75.91), cell(1, 75.94), cell(1, 75.84)}, []bool{true, true, false}},
		{"tie between two digits", high, []Cell{cell(1, 92.25), cell(1, 92.2), cell(1, 92.15)}, []bool{true, true, true}},
		{"rounded down", high, []Cell{cell(1, 92.25), cell(1, 92.2), cell(1, 92.3)}, []bool{false, false, true}},
		{"incomplete never", high, []Cell{cell(2, 9), cell(2, 1, 2)}, []bool{false, true}},
		{"failed never", low, []Cell{{State: Failed}, cell(1, 5)}, []bool{false, true}},
		{"nothing complete", high, []Cell{cell(2, 9), {State: NotRun}}, []bool{false, false}},
	} {
		for i := range c.cells {
			c.cells[i].Best = true // a mark from before must go
		}
		tab := column(c.metric, c.cells...)
		tab.MarkBest()
		if diff := cmp.Diff(c.want, best(tab)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
	}
}

// Values of different losses are no comparison.
func TestBestOfEachLoss(t *testing.T) {
	tab := column(MetricOf("bce"), cell(1, 0.3), cell(1, 0.4), cell(1, 1.7), cell(1, 1.6))
	for i, loss := range []string{"bce", "bce", "ce_row", "ce_row"} {
		tab.Groups[0].Rows[i].Setting = Setting{{"loss", loss}}
	}
	tab.MarkBest()
	if diff := cmp.Diff([]bool{true, false, false, true}, best(tab)); diff != "" || !tab.Losses() {
		t.Errorf("different losses: %v (-want +got):\n%s", tab.Losses(), diff)
	}
}

func TestOnlyRankedRowsAreBest(t *testing.T) {
	for role, ranked := range map[Role]bool{"": true, PaperRow: true, Variant: false, Control: false, OtherMethod: false} {
		tab := column(MetricOf("accuracy"), cell(1, 70), cell(1, 90))
		tab.Groups[0].Rows[1].Role = role
		tab.MarkBest()
		if diff := cmp.Diff([]bool{!ranked, ranked}, best(tab)); diff != "" {
			t.Errorf("a row of the role %q has the best value (-want +got):\n%s", role, diff)
		}
	}
}

// MarkBest marks the values that the paper prints in bold.
func TestPublishedBestIsTheBest(t *testing.T) {
	for _, l := range paper.Tables() {
		for _, col := range l.Columns {
			var cells []Cell
			var want []bool
			for _, r := range l.Rows() {
				p := publishedCell(r, col.ID)
				cells, want = append(cells, cell(1, p.Mean)), append(want, p.Best)
			}
			tab := column(metricOf(l), cells...)
			tab.MarkBest()
			if diff := cmp.Diff(want, best(tab)); diff != "" {
				t.Errorf("%s, %s (-in bold +best):\n%s", l.ID, col.ID, diff)
			}
		}
	}
}

func TestNewCellOrdersSamples(t *testing.T) {
	c := NewCell(map[uint64]float64{1 << 63: 3, 1000: 1, 1003: 2}, 8)
	want := []Sample{{1000, 1}, {1003, 2}, {1 << 63, 3}}
	if diff := cmp.Diff(want, c.Samples); diff != "" || c.Mean != 2 || c.SD != 1 || c.N != 3 || c.Complete() || !c.Partial() {
		t.Errorf("cell %+v\n%s", c, diff)
	}
}

func TestCheck(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(*Table)
		want   string
	}{
		{"few cells", func(t *Table) { t.Groups[0].Rows[0].Cells = nil }, "0 cells for"},
		{"NaN", func(t *Table) { t.Groups[0].Rows[0].Cells[0].Mean = math.NaN() }, "row a, column a: mean NaN"},
		{"infinite sample", func(t *Table) { t.Groups[0].Rows[0].Cells[0].Samples[1].Value = math.Inf(1) }, "seed 1001"},
		{"disorder", func(t *Table) { t.Groups[0].Rows[0].Cells[0].Samples[1].Seed = 5 }, "ascending"},
		{"state", func(t *Table) { t.Groups[0].Rows[0].Cells[0].State = "fine" }, `unknown state "fine"`},
		{"rows", func(t *Table) { t.Groups[0].Rows[1].ID = "a" }, `two rows "a"`},
		{"columns", func(t *Table) { t.Columns = append(t.Columns, t.Columns[0]) }, `two columns "a"`},
		{"decimals", func(t *Table) { t.Metric.Decimals = -1 }, "-1 decimals"},
		{"unit", func(t *Table) { t.Metric.Unit = "ms" }, `unit "ms"`},
		{"no columns", func(t *Table) { t.Columns = nil }, "no columns"},
		{"setting", func(t *Table) { t.Groups[0].Rows[0].Setting = Setting{{"p", math.NaN()}} }, "p is NaN"},
	} {
		tab := column(MetricOf("accuracy"), cell(2, 1, 2), cell(2, 1, 2))
		if err := tab.Check(); err != nil {
			t.Fatal(err)
		}
		c.change(&tab)
		if err := tab.Check(); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want %q in it", c.name, err, c.want)
		}
	}
}

func TestRowIDs(t *testing.T) {
	whole := Setting{{"alpha", 0x1p-14}, {"K", 300}, {"operator", "edge"}, {"deflate", true}}
	if got := RowID("ssdl", whole); got != "ssdl@alpha=2^-14 K=300 operator=edge deflate=true" || RowID("ssdl", nil) != "ssdl" {
		t.Errorf("the row is called %q", got)
	}
	alpha, isNumber := whole.Number("alpha")
	k, whether := whole.Number("K")
	if _, word := whole.Number("operator"); alpha != 0x1p-14 || !isNumber || k != 300 || !whether || word || whole.Numeric() || !whole[:2].Numeric() {
		t.Errorf("numbers of %v: %v, %v", whole, alpha, k)
	}
	if !(Setting{{"K", 300}}).Within(whole) || (Setting{{"K", 301}}).Within(whole) || (Setting{{"K", 300}, {"p", 2.0}}).Within(whole) {
		t.Error("a setting is within another if that has all its values")
	}
}
