package results

import (
	"slices"

	"ssdl/experiments/paper"
	"ssdl/harness/spec"
)

func layoutOf(table string) (paper.Layout, bool) {
	for _, l := range paper.Tables() {
		if l.ID == table {
			return l, true
		}
	}
	return paper.Layout{}, false
}

// publishedLayout is the layout of a spec's table, and whether the paper's values are of the spec's metric.
func publishedLayout(s *spec.Spec) (l paper.Layout, published bool) {
	l, known := layoutOf(s.Table)
	return l, known && slices.Equal(s.Metrics, []string{l.Metric})
}

// specMetric describes a metric of a spec, with the paper's number of decimals beside the paper's values.
func specMetric(s *spec.Spec, name string) Metric {
	if l, published := publishedLayout(s); published {
		return metricOf(l)
	}
	return MetricOf(name)
}

// PaperTable is the id of the paper's table or figure that a spec remakes; a figure has the name of the spec.
func PaperTable(s *spec.Spec) string {
	if s.Table == "" {
		return s.Name
	}
	return s.Table
}

// WithPublished returns t with the paper's column after each measured one: that of the same data set, or of
// the set that it stands in for. Rows that the paper lacks get no published value.
func WithPublished(t Table, l paper.Layout) Table {
	printed := map[string]paper.Row{}
	for _, r := range l.Rows() {
		printed[r.ID] = r
	}
	out := t
	out.Columns, out.Groups = nil, nil
	var from []int // column of t for each column of out, -1 for a published one
	for j, c := range t.Columns {
		out.Columns, from = append(out.Columns, c), append(from, j)
		if i := slices.IndexFunc(l.Columns, func(p paper.Column) bool { return p.ID == c.PaperSet() }); i >= 0 {
			out.Columns, from = append(out.Columns, Column{ID: l.Columns[i].ID, Title: l.Columns[i].Title, Published: true}), append(from, -1)
		}
	}
	for _, g := range t.Groups {
		rows := slices.Clone(g.Rows)
		for i, r := range rows {
			cells := make([]Cell, len(from))
			for j, source := range from {
				if source >= 0 {
					cells[j] = r.Cells[source]
				} else {
					cells[j] = publishedCell(printed[r.ID], out.Columns[j].ID)
				}
			}
			rows[i].Cells = cells
		}
		out.Groups = append(out.Groups, Group{rows})
	}
	return out
}

func publishedCell(r paper.Row, column string) Cell {
	v, ok := r.Values[column]
	if !ok {
		return Cell{State: NotPrinted}
	}
	return Cell{State: OK, Mean: v, Best: slices.Contains(r.Best, column)}
}

// metricOf is the metric of a published table, with the paper's number of decimals.
func metricOf(l paper.Layout) Metric {
	m := MetricOf(l.Metric)
	m.Decimals = l.Decimals
	return m
}

// paperRow is a row of the paper without its values.
func paperRow(r paper.Row) Row {
	return Row{ID: r.ID, Base: r.ID, Title: r.Title, Venue: r.Venue, Year: r.Year, Cite: r.Cite, Bold: r.Bold, Role: PaperRow}
}
