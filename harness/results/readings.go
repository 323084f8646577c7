package results

import (
	"cmp"
	"slices"

	"ssdl/harness/spec"
)

// Readings is a row on one data set under every combination of its switches: a specification curve.
type Readings struct {
	Table string `json:"table"`
	// Row is the id of the spec's row.
	Row    string `json:"row"`
	Title  string `json:"title"`
	Column Column `json:"column"`
	// Metric is the metric of the table or, if the spec sweeps the loss, that loss.
	Metric   Metric   `json:"metric"`
	Switches []Switch `json:"switches"`
	// Readings are the readings with a value, the worst first. Missing counts the others.
	Readings []Reading `json:"readings"`
	Missing  int       `json:"missing"`
	// Baselines are rows without a switch.
	Baselines []Baseline `json:"baselines,omitempty"`
	// Alike are rows with some of the switches. Each reading is compared with their value for the same choices.
	Alike []Baseline `json:"alike,omitempty"`
}

// Baseline is a row that readings are compared with.
type Baseline struct {
	Row   string `json:"row"`
	Title string `json:"title"`
	// Mean is nil for a row of Alike, and without a value.
	Mean *float64 `json:"mean,omitempty"`
}

// Switch is a swept parameter in which readings differ.
type Switch struct {
	Name   string        `json:"name"`
	Values []SwitchValue `json:"values"`
}

// Notation is the notation of the switch's values.
func (s Switch) Notation() spec.Notation {
	values := make([]any, len(s.Values))
	for i, v := range s.Values {
		values[i] = v.Value
	}
	return spec.NotationOf(values)
}

// SwitchValue sums up the readings with one value of a switch.
type SwitchValue struct {
	Value any `json:"value"`
	N     int `json:"n"`
	// Ahead is how many of the N are better than all baselines and all rows of Alike; nil if there are none.
	Ahead  *int    `json:"ahead,omitempty"`
	Median float64 `json:"median"`
}

// Reading is one combination of choices, with its value.
type Reading struct {
	Row      string    `json:"row"` // RowID
	Setting  Setting   `json:"setting"`
	Mean     float64   `json:"mean"`
	N        int       `json:"n"`
	Interval *Interval `json:"interval,omitempty"`
	// Choice has, for each switch, the index of its value.
	Choice []int `json:"choice"`
	// Alike has the mean of each row of Readings.Alike; nil without a value.
	Alike []*float64 `json:"alike,omitempty"`
	// Ahead says whether it is better than all rows that it is compared with; nil if there are none.
	Ahead *bool `json:"ahead,omitempty"`
}

// Drawable reports whether a figure with axes can show the setting: at most three values, all numbers.
func (s Setting) Drawable() bool { return len(s) <= 3 && s.Numeric() }

// ReadingsOf returns the readings in column j of a table, one entry for each row and loss: rows whose settings
// are not Drawable. A row whose switches are a part of another row's is in Alike of that row.
func ReadingsOf(t Table, j int) []Readings {
	rows := t.Rows()
	var bases []string
	names := map[string][]string{}
	for _, r := range rows {
		if len(r.Setting) > 0 && !r.Setting.Drawable() && !slices.Contains(bases, r.Base) {
			bases = append(bases, r.Base)
			names[r.Base] = r.Setting.names()
		}
	}
	var out []Readings
	for _, base := range bases {
		var alike []string
		part := false // its switches are a part of another row's
		for _, other := range bases {
			switch {
			case len(names[other]) < len(names[base]) && subset(names[other], names[base]):
				alike = append(alike, other)
			case len(names[base]) < len(names[other]) && subset(names[base], names[other]):
				part = true
			}
		}
		if !part {
			out = append(out, readingsOf(t, j, base, alike)...)
		}
	}
	return out
}

func (s Setting) names() []string {
	names := make([]string, len(s))
	for i, v := range s {
		names[i] = v.Name
	}
	return names
}

func subset(a, b []string) bool {
	return !slices.ContainsFunc(a, func(s string) bool { return !slices.Contains(b, s) })
}

// readingsOf returns the readings of a row, by loss.
func readingsOf(t Table, j int, base string, alike []string) []Readings {
	var out []Readings
	for _, row := range t.Rows() {
		if row.Base != base || row.Cells[j].State == Excluded {
			continue
		}
		loss, setting := splitLoss(row.Setting)
		m := row.Setting.Metric(t.Metric)
		i := slices.IndexFunc(out, func(r Readings) bool { return r.Metric.Name == m.Name })
		if i < 0 {
			i = len(out)
			out = append(out, Readings{Table: t.ID, Row: base, Title: row.Title, Column: t.Columns[j], Metric: m})
			for _, v := range setting {
				out[i].Switches = append(out[i].Switches, Switch{Name: v.Name})
			}
			for _, id := range alike {
				out[i].Alike = append(out[i].Alike, Baseline{Row: id, Title: titleOfBase(t, id)})
			}
			for _, r := range t.Rows() {
				if c := r.Cells[j]; len(r.Setting) == 0 && c.State == OK && loss == "" {
					out[i].Baselines = append(out[i].Baselines, Baseline{r.ID, r.Title, &c.Mean})
				}
			}
		}
		out[i].add(t, j, row, setting)
	}
	for i := range out {
		out[i].finish()
	}
	return out
}

// Metric is the metric of a row with this setting: its loss, or else that of the table.
func (s Setting) Metric(ofTable Metric) Metric {
	if loss, _ := splitLoss(s); loss != "" {
		return MetricOf(loss)
	}
	return ofTable
}

// splitLoss takes the loss out of a setting.
func splitLoss(s Setting) (loss string, rest Setting) {
	for _, v := range s {
		if name, ok := v.Value.(string); ok && v.Name == spec.Loss {
			loss = name
			continue
		}
		rest = append(rest, v)
	}
	return loss, rest
}

func titleOfBase(t Table, base string) string {
	for _, r := range t.Rows() {
		if r.Base == base {
			return r.Title
		}
	}
	return base
}

// add adds the reading of a row.
func (r *Readings) add(t Table, j int, row Row, setting Setting) {
	reading := Reading{Row: row.ID, Setting: setting}
	for k, v := range setting {
		values := &r.Switches[k].Values
		i := slices.IndexFunc(*values, func(x SwitchValue) bool { return x.Value == v.Value })
		if i < 0 {
			i = len(*values)
			*values = append(*values, SwitchValue{Value: v.Value})
		}
		reading.Choice = append(reading.Choice, i)
	}
	c := row.Cells[j]
	if c.State != OK {
		r.Missing++
		return
	}
	reading.Mean, reading.N, reading.Interval = c.Mean, c.N, c.Interval(r.Metric)
	compared, ahead := false, true
	against := func(v *float64) {
		if v != nil {
			compared, ahead = true, ahead && r.Metric.Better(c.Mean, *v)
		}
	}
	for _, b := range r.Baselines {
		against(b.Mean)
	}
	for _, b := range r.Alike {
		var mean *float64
		for _, other := range t.Rows() {
			if o := other.Cells[j]; other.Base == b.Row && o.State == OK && other.Setting.Within(row.Setting) {
				mean = &o.Mean
				break
			}
		}
		reading.Alike = append(reading.Alike, mean)
		against(mean)
	}
	if compared {
		reading.Ahead = &ahead
	}
	r.Readings = append(r.Readings, reading)
}

// finish sorts the readings and sums up the values of the switches.
func (r *Readings) finish() {
	slices.SortStableFunc(r.Readings, func(a, b Reading) int {
		if r.Metric.HigherIsBetter {
			return cmp.Compare(a.Mean, b.Mean)
		}
		return cmp.Compare(b.Mean, a.Mean)
	})
	for k := range r.Switches {
		r.sortValues(k)
		for i := range r.Switches[k].Values {
			v := &r.Switches[k].Values[i]
			var means []float64
			for _, x := range r.Readings {
				if x.Choice[k] != i {
					continue
				}
				means = append(means, x.Mean)
				if x.Ahead != nil {
					if v.Ahead == nil {
						v.Ahead = new(int)
					}
					if *x.Ahead {
						*v.Ahead++
					}
				}
			}
			if v.N = len(means); v.N > 0 {
				slices.Sort(means)
				v.Median = (means[(v.N-1)/2] + means[v.N/2]) / 2
			}
		}
	}
}

// sortValues sorts the values of a switch in ascending order if all are numbers; else it keeps the order of the
// spec.
func (r *Readings) sortValues(k int) {
	values := r.Switches[k].Values
	number := func(i int) float64 {
		x, _ := Setting{{r.Switches[k].Name, values[i].Value}}.Number(r.Switches[k].Name)
		return x
	}
	order := make([]int, len(values))
	for i, v := range values {
		if order[i] = i; !(Setting{{r.Switches[k].Name, v.Value}}).Numeric() {
			return
		}
	}
	slices.SortFunc(order, func(i, j int) int { return cmp.Compare(number(i), number(j)) })
	sorted := make([]SwitchValue, len(values))
	for at, was := range order {
		sorted[at] = values[was]
	}
	r.Switches[k].Values = sorted
	for i := range r.Readings {
		r.Readings[i].Choice[k] = slices.Index(order, r.Readings[i].Choice[k])
	}
}
