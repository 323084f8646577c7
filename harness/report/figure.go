package report

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"ssdl/harness/chart"
	"ssdl/harness/results"
	"ssdl/harness/sanitize"
)

// Figure is a picture of one column of a table: values side by side for rows without a setting, curves for
// rows that sweep one setting, a map for a row that sweeps two, maps for one that sweeps three, and a
// specification curve for a row that sweeps more or what is no number.
type Figure struct {
	// Name is that of its files, without the ending.
	Name string
	// Title stands above the picture.
	Title string
	// Column is the data set.
	Column results.Column
	// Settings are the swept settings.
	Settings []string
	rows     []results.Row // those without a value too
	column   int
	table    *results.Table
	// Readings is what a specification curve shows; nil in any other picture.
	Readings *results.Readings
	// Mark is the value of each setting that the paper works at; the picture shows it.
	Mark map[string]float64
}

// Figures lists the pictures of a table: one for each column that has results and each set of
// settings that its rows sweep. mark says where the paper works, by data set and setting.
func Figures(t *results.Table, mark func(dataset, setting string) (float64, bool)) []Figure {
	var out []Figure
	for j, col := range t.Columns {
		if col.Published {
			continue
		}
		readings := readingFigures(t, j)
		var done []string
		for _, r := range t.Rows() {
			if r.Cells[j].State != results.OK || !r.Setting.Drawable() || slices.Contains(done, picture(r)) {
				continue
			}
			if len(readings) > 0 && len(r.Setting) == 0 { // these are the lines of the curve
				continue
			}
			done = append(done, picture(r))
			out = append(out, newFigure(t, j, r, mark))
		}
		out = append(out, readings...)
	}
	return out
}

// readingFigures are the specification curves of column j.
func readingFigures(t *results.Table, j int) []Figure {
	list := slices.DeleteFunc(results.ReadingsOf(*t, j), func(r results.Readings) bool { return len(r.Readings) == 0 })
	var out []Figure
	for _, r := range list {
		f := Figure{Column: t.Columns[j], column: j, table: t, Readings: &r, Title: strings.TrimSuffix(t.Caption, ".") + ", " + head(t, j)}
		parts := []string{t.ID, f.Column.ID}
		if slices.ContainsFunc(list, func(o results.Readings) bool { return o.Row != r.Row }) {
			parts, f.Title = append(parts, r.Row), f.Title+", "+r.Title
		}
		if slices.ContainsFunc(list, func(o results.Readings) bool { return o.Metric.Name != r.Metric.Name }) {
			parts, f.Title = append(parts, r.Metric.Name), f.Title+", "+r.Metric.Title
		}
		for _, s := range r.Switches {
			f.Settings = append(f.Settings, s.Name)
		}
		for _, row := range t.Rows() {
			if slices.ContainsFunc(r.Readings, func(x results.Reading) bool { return x.Row == row.ID }) {
				f.rows = append(f.rows, row)
			}
		}
		f.name(append(parts, "readings"))
		out = append(out, f)
	}
	return out
}

// name joins the parts of the name of a figure's files.
func (f *Figure) name(parts []string) {
	if f.Column.Synthetic {
		parts = append(parts, "synthetic")
	}
	f.Name, f.Title = strings.Join(parts, "-"), sanitize.Line(f.Title)
}

// newFigure is the picture of column j that row r is in.
func newFigure(t *results.Table, j int, r results.Row, mark func(dataset, setting string) (float64, bool)) Figure {
	col, settings := t.Columns[j], swept(r)
	f := Figure{Column: col, Settings: settings, Title: strings.TrimSuffix(t.Caption, ".") + ", " + head(t, j), column: j, table: t, Mark: map[string]float64{}}
	parts := []string{t.ID, col.ID}
	alone := true
	for _, o := range t.Rows() {
		switch {
		case !slices.Equal(swept(o), settings) || !o.Setting.Numeric():
		case picture(o) != picture(r):
			alone = false
		default:
			f.rows = append(f.rows, o)
		}
	}
	if !alone {
		parts = append(parts, r.Base)
	}
	if !alone || len(settings) > 1 && !strings.Contains(f.Title, r.Title) { // a map names its method nowhere else
		f.Title += ", " + r.Title
	}
	for _, name := range settings {
		parts = append(parts, strings.TrimPrefix(name, "pretext."))
		if v, ok := mark(col.PaperSet(), name); ok {
			f.Mark[name] = v
		}
	}
	f.name(parts)
	return f
}

// swept are the names of what the row sweeps, in order.
func swept(r results.Row) []string {
	names := make([]string, len(r.Setting))
	for i, v := range r.Setting {
		names[i] = v.Name
	}
	slices.Sort(names)
	return names
}

// picture names what a row is drawn in: rows that sweep the same share a picture, but a map has room
// for one row.
func picture(r results.Row) string {
	key := strings.Join(swept(r), " ")
	if len(r.Setting) > 1 {
		key = r.Base + " " + key
	}
	return key
}

// at is the value of a swept setting.
func at(r results.Row, setting string) float64 {
	v, _ := r.Setting.Number(setting)
	return v
}

// Draw writes the picture as "png" or "svg".
func (f Figure) Draw(w io.Writer, format string) error {
	if err := f.Drawing(0, nil).Write(w, format); err != nil {
		return fmt.Errorf("figure %s: %w", f.Name, err)
	}
	return nil
}

// Drawing is the picture in a width, 0 for that of files. With link, which gives the address of a row, it
// is for a page: what is drawn leads there, and the title and the notes are for the page to say.
func (f Figure) Drawing(width float64, link func(row string) string) chart.Drawing {
	p := pictured{Figure: f, heading: daggered(f.Title, len(f.TunedOnTest()) > 0 && (len(f.Settings) > 1 || f.Readings != nil)), notes: f.Notes(), width: width, link: link}
	if link == nil {
		p.link = func(string) string { return "" }
	} else {
		p.heading, p.notes = "", nil
	}
	switch {
	case f.Readings != nil:
		return p.curveOfReadings()
	case len(f.Settings) == 0:
		return p.intervals().Draw()
	case len(f.Settings) == 1:
		return p.curves()
	}
	return p.maps()
}

// Values counts the values of the picture, and how many there should be.
func (f Figure) Values() (n, all int) {
	if r := f.Readings; r != nil {
		return len(r.Readings), len(r.Readings) + r.Missing
	}
	for _, r := range f.rows {
		if r.Cells[f.column].State == results.OK {
			n++
		}
	}
	return n, len(f.rows)
}

// TooFew says that the values there are make no picture: they stand at one place, or most are missing. Any two
// readings make a curve.
func (f Figure) TooFew() bool {
	n, all := f.Values()
	if f.Readings != nil {
		return n < 2
	}
	places := map[string]bool{}
	for _, r := range f.rows {
		if r.Cells[f.column].State == results.OK {
			at := r.Setting.String()
			if len(f.Settings) == 0 {
				at = r.ID
			}
			places[at] = true
		}
	}
	return len(places) < 2 || 8*n < all
}

// Notes are what the reader must know beside the picture.
func (f Figure) Notes() []string {
	notes := []string{f.note()}
	if f.Readings == nil && len(f.Settings) > 1 && f.marked() {
		notes = append(notes, "framed: the paper's setting")
	}
	if len(f.TunedOnTest()) > 0 {
		notes = append(notes, "† "+TunedOnTestText)
	}
	if slices.ContainsFunc(f.rows, func(r results.Row) bool { return strings.Contains(f.signs(r), "‡") }) {
		notes = append(notes, "‡ "+ModifiedText)
	}
	return notes
}

// note says what the values are of, and how many there should be.
func (f Figure) note() string {
	if f.Readings != nil {
		return f.readingsNote()
	}
	fewest, most, missing := math.MaxInt, 0, 0
	for _, r := range f.rows {
		c := r.Cells[f.column]
		if c.State != results.OK {
			missing++
			continue
		}
		fewest, most = min(fewest, c.N), max(most, c.N)
	}
	s := "mean and standard deviation over "
	if len(f.Settings) > 1 {
		s = "mean over " // the map has no room for more
	}
	switch {
	case most == 1:
		s = "one seed"
	case fewest == most:
		s += Count(most, "seed", "seeds")
	default:
		s += fmt.Sprintf("%d to %d seeds", fewest, most)
	}
	if missing > 0 {
		s += fmt.Sprintf("; values missing: %d of %d", missing, len(f.rows))
	}
	return s
}

// tunedOnTest says that the value of a row has parameters chosen on the test part.
func (f Figure) tunedOnTest(r results.Row) bool {
	c := r.Cells[f.column]
	return c.State == results.OK && c.TunedOnTest
}

// signs are those of the value of a row.
func (f Figure) signs(r results.Row) string {
	c := r.Cells[f.column]
	if c.State != results.OK {
		return ""
	}
	return signs(c)
}

// TunedOnTest lists the rows in the picture with a value whose parameters were chosen on the
// test part, by their titles: those with †.
func (f Figure) TunedOnTest() (titles []string) {
	for _, r := range f.rows {
		if title := sanitize.Line(r.Title); f.tunedOnTest(r) && !slices.Contains(titles, title) {
			titles = append(titles, title)
		}
	}
	return titles
}

// daggered is a name with the sign, where it needs one.
func daggered(name string, tunedOnTest bool) string {
	if tunedOnTest {
		return name + "†"
	}
	return name
}

// quantity names what the cells hold.
func (f Figure) quantity() string { return quantityOf(f.table.Metric) }

// quantityOf names a metric with its unit.
func quantityOf(m results.Metric) string {
	if m.Unit != "" {
		return sanitize.Line(m.Title + " (" + m.Unit + ")")
	}
	return sanitize.Line(m.Title)
}

// wide says that values ask for a logarithmic axis.
func wide(values []float64) bool {
	return values[0] > 0 && values[len(values)-1] >= 50*values[0]
}

// ticks puts a mark at each value.
func ticks(values []float64) []chart.Tick {
	out := make([]chart.Tick, len(values))
	for i, text := range texts(values) {
		out[i] = chart.Tick{Value: values[i], Text: text}
	}
	return out
}

// axisTitle names a setting.
func axisTitle(name string) string {
	if name == "label-rate" {
		return "share of labelled training samples"
	}
	return strings.TrimPrefix(name, "pretext.")
}

// distinct returns the values of a setting, in order.
func distinct(rows []results.Row, name string) (out []float64) {
	for _, r := range rows {
		if v := at(r, name); !slices.Contains(out, v) {
			out = append(out, v)
		}
	}
	slices.Sort(out)
	return out
}
