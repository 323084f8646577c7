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
// rows that sweep one setting, a map for a row that sweeps two, a map per value for a third, and a
// specification curve for a row that sweeps more settings or one that is not numeric.
type Figure struct {
	// Name is the name of its files, without extension.
	Name string
	// Title stands above the picture.
	Title string
	// Column is the data set.
	Column results.Column
	// Settings are the swept settings.
	Settings []string
	rows     []results.Row // with and without a value
	excluded int           // rows without a setting that the spec excludes on the data set
	column   int
	table    *results.Table
	// Readings is the content of a specification curve; nil for other pictures.
	Readings *results.Readings
	// Mark holds the paper's value of each setting, which the picture marks.
	Mark map[string]float64
}

// Figures lists the pictures of a table: one for each column with results and each set of settings that its
// rows sweep. mark returns the paper's value of a setting on a data set.
func Figures(t *results.Table, mark func(dataset, setting string) (float64, bool)) []Figure {
	var out []Figure
	for j, col := range t.Columns {
		if col.Published {
			continue
		}
		readings := readingFigures(t, j)
		var done []string
		for _, r := range t.Rows() {
			if r.Cells[j].State != results.OK || !r.Setting.Drawable() || slices.Contains(done, pictureKey(r)) {
				continue
			}
			if len(readings) > 0 && len(r.Setting) == 0 { // the curve shows these rows as lines
				continue
			}
			done = append(done, pictureKey(r))
			out = append(out, newFigure(t, j, r, mark))
		}
		out = append(out, readings...)
	}
	return out
}

// readingFigures makes the specification curves of column j.
func readingFigures(t *results.Table, j int) []Figure {
	list := slices.DeleteFunc(results.ReadingsOf(*t, j), func(r results.Readings) bool { return len(r.Readings) == 0 })
	var out []Figure
	for _, r := range list {
		f := Figure{Column: t.Columns[j], column: j, table: t, Readings: &r, Title: strings.TrimSuffix(t.Caption, ".") + ", " + columnHead(t, j)}
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
		f.setName(append(parts, "readings"))
		out = append(out, f)
	}
	return out
}

// setName joins the parts of the file name, and cleans the title.
func (f *Figure) setName(parts []string) {
	if f.Column.Synthetic {
		parts = append(parts, "synthetic")
	}
	f.Name, f.Title = strings.Join(parts, "-"), sanitize.Line(f.Title)
}

// newFigure makes the picture of column j that shows row r.
func newFigure(t *results.Table, j int, r results.Row, mark func(dataset, setting string) (float64, bool)) Figure {
	col, settings := t.Columns[j], swept(r)
	f := Figure{Column: col, Settings: settings, Title: strings.TrimSuffix(t.Caption, ".") + ", " + columnHead(t, j), column: j, table: t, Mark: map[string]float64{}}
	parts := []string{t.ID, col.ID}
	alone := true
	for _, o := range t.Rows() {
		switch {
		case !slices.Equal(swept(o), settings) || !o.Setting.Numeric():
		case pictureKey(o) != pictureKey(r):
			alone = false
		case len(settings) == 0 && o.Cells[j].State == results.Excluded:
			f.excluded++
		default:
			f.rows = append(f.rows, o)
		}
	}
	if !alone {
		parts = append(parts, r.Base)
	}
	if !alone || len(settings) > 1 && !strings.Contains(f.Title, r.Title) { // a map names its method only in the title
		f.Title += ", " + r.Title
	}
	// The names of files drop "pretext.", unless other rows sweep the same settings without it.
	file := shortNames(settings)
	for _, o := range t.Rows() {
		if names := swept(o); !slices.Equal(names, settings) && slices.Equal(shortNames(names), file) {
			file = settings
		}
	}
	parts = append(parts, file...)
	for _, name := range settings {
		if v, ok := mark(col.PaperSet(), name); ok {
			f.Mark[name] = v
		}
	}
	f.setName(parts)
	return f
}

// swept returns the names of the settings that the row sweeps, sorted.
func swept(r results.Row) []string {
	names := make([]string, len(r.Setting))
	for i, v := range r.Setting {
		names[i] = v.Name
	}
	slices.Sort(names)
	return names
}

// shortNames returns the names of settings without "pretext.".
func shortNames(settings []string) []string {
	short := make([]string, len(settings))
	for i, s := range settings {
		short[i] = strings.TrimPrefix(s, "pretext.")
	}
	return short
}

// pictureKey identifies the picture of a row. Rows that sweep the same setting share a picture; a map has
// room for one row.
func pictureKey(r results.Row) string {
	key := strings.Join(swept(r), " ")
	if len(r.Setting) > 1 {
		key = r.Base + " " + key
	}
	return key
}

// settingValue is the value of a swept setting.
func settingValue(r results.Row, setting string) float64 {
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

// Drawing draws the picture in a width, 0 for the width of files. link, if not nil, gives the address of a
// row: the drawing is then for a page, with links, and without title and notes.
func (f Figure) Drawing(width float64, link func(row string) string) chart.Drawing {
	p := figureDrawing{Figure: f, heading: withDagger(f.Title, len(f.TunedOnTest()) > 0 && (len(f.Settings) > 1 || f.Readings != nil)), notes: f.Notes(), width: width, link: link}
	if link == nil {
		p.link = func(string) string { return "" }
	} else {
		p.heading, p.notes = "", nil
	}
	switch {
	case f.Readings != nil:
		return p.readingCurve()
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

// TooFew reports whether there are too few values for a picture: all at one place, or most missing.
func (f Figure) TooFew() bool {
	n, all := f.Values()
	if f.Readings != nil {
		return n < 2 || 8*n < all
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

// Notes explain the picture.
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

// note says over how many seeds the values are, and how many are missing.
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
		s = "mean over " // a map has no room for deviations
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
	if f.excluded > 0 {
		s += fmt.Sprintf("; %s excluded", Count(f.excluded, "row", "rows"))
	}
	return s
}

// tunedOnTest reports whether the row has a value with parameters chosen on the test part.
func (f Figure) tunedOnTest(r results.Row) bool {
	c := r.Cells[f.column]
	return c.State == results.OK && c.TunedOnTest
}

// signs returns the signs behind the value of a row.
func (f Figure) signs(r results.Row) string {
	c := r.Cells[f.column]
	if c.State != results.OK {
		return ""
	}
	return signs(c)
}

// TunedOnTest lists the titles of the rows marked †: their parameters were chosen on the test part.
func (f Figure) TunedOnTest() (titles []string) {
	for _, r := range f.rows {
		if title := sanitize.Line(r.Title); f.tunedOnTest(r) && !slices.Contains(titles, title) {
			titles = append(titles, title)
		}
	}
	return titles
}

// withDagger appends † to name if tunedOnTest.
func withDagger(name string, tunedOnTest bool) string {
	if tunedOnTest {
		return name + "†"
	}
	return name
}

// Quantity is the title of a metric with its unit.
func Quantity(m results.Metric) string {
	if m.Unit != "" {
		return sanitize.Line(m.Title + " (" + m.Unit + ")")
	}
	return sanitize.Line(m.Title)
}

// needsLog reports whether ascending values need a logarithmic axis.
func needsLog(values []float64) bool {
	return values[0] > 0 && values[len(values)-1] >= 50*values[0]
}

// ticks makes a tick for each value.
func ticks(values []float64) []chart.Tick {
	out := make([]chart.Tick, len(values))
	for i, text := range texts(values) {
		out[i] = chart.Tick{Value: values[i], Text: text}
	}
	return out
}

// axisTitle is the title of a setting.
func axisTitle(name string) string {
	if name == "label-rate" {
		return "share of labelled training samples"
	}
	return strings.TrimPrefix(name, "pretext.")
}

// distinct returns the distinct values of a setting, sorted.
func distinct(rows []results.Row, name string) (out []float64) {
	for _, r := range rows {
		if v := settingValue(r, name); !slices.Contains(out, v) {
			out = append(out, v)
		}
	}
	slices.Sort(out)
	return out
}
