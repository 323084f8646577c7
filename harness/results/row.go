package results

import (
	"iter"
	"slices"
	"strings"

	"ssdl/harness/run"
	"ssdl/harness/spec"
)

// Row is a row of a table: a row of a spec, or one setting of its sweep.
type Row struct {
	// ID is RowID of Base, the id of the spec's row, and Setting.
	ID      string  `json:"id"`
	Base    string  `json:"base"`
	Setting Setting `json:"setting,omitempty"`
	// Metric is Setting.Metric if the spec sweeps losses; nil if the metric is that of the table.
	Metric *Metric `json:"metric,omitempty"`
	// Method and Pretext are names of the catalog; one of them may be empty.
	Method  string `json:"method,omitempty"`
	Pretext string `json:"pretext,omitempty"`
	// Title is that of the spec's row, without the setting.
	Title string `json:"title"`
	Venue string `json:"venue,omitempty"`
	Cite  string `json:"cite,omitempty"`
	Year  int    `json:"year,omitempty"`
	// Bold sets the title in bold.
	Bold bool `json:"bold,omitempty"`
	// Note is the catalog's note about the method.
	Note string `json:"note,omitempty"`
	// Program is the external program of the row, with its arguments; nil if there is none.
	Program []string `json:"program,omitempty"`
	// Predictions is the path of a file of predictions; empty for a row that is run.
	Predictions string `json:"predictions,omitempty"`
	Role        Role   `json:"role,omitempty"`
	// Cells has one entry per column of the table.
	Cells []Cell `json:"cells"`
}

// Role is the role of a row in a table of the paper; in other tables it is Step or empty.
type Role string

// The roles.
const (
	PaperRow    Role = "paper"    // a row of the paper's table
	Variant     Role = "variant"  // changes or interprets a row of the paper
	Control     Role = "control"  // tests an explanation
	OtherMethod Role = "other"    // a method that the paper's table lacks
	Misnamed    Role = "misnamed" // has the id of a row of the paper, but another method
	Step        Role = "step"     // changes one thing of the step above it
)

// Ranked reports whether the row may be the best of a column.
func (r Row) Ranked() bool { return r.Role == "" || r.Role == PaperRow || r.Role == Step }

// FullTitle is the title with the setting.
func (r Row) FullTitle() string { return strings.TrimSpace(r.Title + " " + r.Setting.String()) }

// RowID is the id of a row: that of the spec's row, as in claims and the flag -m, and in a sweep "@" and the
// setting.
func RowID(base string, setting Setting) string {
	if len(setting) == 0 {
		return base
	}
	return base + "@" + setting.String()
}

// RowOf is the RowID of a cell.
func RowOf(c *run.Cell) string { return RowID(c.Row.ID, settingOf(c.Setting)) }

// BaseOf returns the id of the spec's row whose sweep has the row id; false if there is none.
func BaseOf(s *spec.Spec, id string) (string, bool) {
	for _, c := range s.Cells() {
		if len(c.Setting) > 0 && RowID(c.Row.ID, settingOf(c.Setting)) == id {
			return c.Row.ID, true
		}
	}
	return "", false
}

// Setting is the values of swept parameters, in the order of the spec.
type Setting []Value

// Value is a parameter and its value: float64, int, bool or string.
type Value struct {
	Name  string `json:"name"`
	Value any    `json:"value"`
}

func settingOf(s spec.Setting) Setting {
	var out Setting
	for _, a := range s {
		out = append(out, Value(a))
	}
	return out
}

// String formats the setting as in "alpha=2^-14 gamma=0.1".
func (s Setting) String() string {
	return s.In(nil)
}

// Notations maps names of parameters to the notations of their values.
type Notations map[string]spec.Notation

// NotationsOf returns the notations of settings that are shown in one list.
func NotationsOf(settings []Setting) Notations {
	values := map[string][]any{}
	for _, s := range settings {
		for _, v := range s {
			values[v.Name] = append(values[v.Name], v.Value)
		}
	}
	out := Notations{}
	for name, list := range values {
		out[name] = spec.NotationOf(list)
	}
	return out
}

// Notations returns the notations of the settings of the rows.
func (t Table) Notations() Notations {
	var list []Setting
	for _, r := range t.Rows() {
		list = append(list, r.Setting)
	}
	return NotationsOf(list)
}

// Notations returns the notations of the candidates.
func (e Explanation) Notations() Notations {
	var list []Setting
	for _, c := range e.Candidates {
		list = append(list, c.Setting)
	}
	return NotationsOf(list)
}

// In formats the setting for readers. Ids and addresses use String.
func (s Setting) In(n Notations) string {
	parts := make([]string, len(s))
	for i, v := range s {
		parts[i] = v.Name + "=" + n[v.Name].Format(v.Value)
	}
	return strings.Join(parts, " ")
}

// Number is the value of a parameter; false if there is none or it is not a number.
func (s Setting) Number(name string) (float64, bool) {
	for n, v := range s.numbers() {
		if n == name {
			return v, true
		}
	}
	return 0, false
}

// Numeric reports whether all values are numbers.
func (s Setting) Numeric() bool {
	n := 0
	for range s.numbers() {
		n++
	}
	return n == len(s)
}

func (s Setting) numbers() iter.Seq2[string, float64] {
	return func(yield func(string, float64) bool) {
		for _, v := range s {
			x, ok := v.Value.(float64)
			if i, whole := v.Value.(int); whole {
				x, ok = float64(i), true
			}
			if ok && !yield(v.Name, x) {
				return
			}
		}
	}
}

// Within reports whether other has every value of s.
func (s Setting) Within(other Setting) bool {
	return !slices.ContainsFunc(s, func(v Value) bool { return !slices.Contains(other, v) })
}
