package report

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
)

// Formats are the names that Render knows; each is the extension of the format's files.
func Formats() []string { return []string{"txt", "md", "tex", "html", "csv", "json"} }

// Render writes t in one of the Formats. Everything printed has passed through Clean.
func Render(w io.Writer, t Table, format string) error {
	if err := t.Check(); err != nil {
		return err
	}
	t = t.cleaned()
	switch format {
	case "txt":
		return t.grid().Text(w)
	case "md":
		return t.grid().Markdown(w)
	case "tex":
		return latex(w, t)
	case "html":
		return HTML(w, t.grid())
	case "csv":
		return tidy(w, t)
	case "json":
		enc := json.NewEncoder(w)
		enc.SetIndent("", "  ")
		t.Caption = t.caption()
		return enc.Encode(t)
	}
	return fmt.Errorf("unknown table format %q; there are %s", format, strings.Join(Formats(), ", "))
}

// caption is the caption with the warning that generated data needs.
func (t Table) caption() string {
	if !t.Synthetic() {
		return t.Caption
	}
	return strings.TrimSpace(sentence(t.Caption) + " Columns marked synthetic are of generated data, not of images.")
}

// sentence is a text with a full stop.
func sentence(s string) string {
	if s == "" || strings.HasSuffix(s, ".") {
		return s
	}
	return s + "."
}

// mixed reports whether published and measured columns stand side by side, so that each
// published one must say what it is.
func (t Table) mixed() bool {
	return slices.ContainsFunc(t.Columns, func(c Column) bool { return c.Published }) && t.measured()
}

// measured reports whether any column is ours.
func (t Table) measured() bool {
	return slices.ContainsFunc(t.Columns, func(c Column) bool { return !c.Published })
}

// head is the head of column j with the words that tell what kind of data it is.
func (t Table) head(j int) string {
	c := t.Columns[j]
	switch {
	case c.Published && t.mixed() && j > 0 && t.Columns[j-1].ID == c.ID:
		return "paper"
	case c.Published && t.mixed():
		return "paper: " + c.Title
	case c.Synthetic:
		return c.Title + " (synthetic)"
	case c.StandsFor != "":
		return c.Title + " (stand-in)"
	}
	return c.Title
}

// source is where a method was published, as in "TPAMI, 2009".
func (r Row) source() string {
	if r.Year == 0 {
		return r.Venue
	}
	return strings.TrimPrefix(fmt.Sprintf("%s, %d", r.Venue, r.Year), ", ")
}

// value is the mean of an OK cell as shown, and its standard deviation where there is one.
func (t Table) value(c Cell) (mean, sd string) {
	mean = fmt.Sprintf("%.*f", t.Decimals, c.Mean)
	if c.N > 1 {
		sd = fmt.Sprintf("%.*f", t.Decimals, c.SD)
	}
	return mean, sd
}

// seeds is "(6/8)" for a cell with fewer values than declared.
func (c Cell) seeds() string {
	if c.State != OK || c.N >= c.Declared {
		return ""
	}
	return fmt.Sprintf("(%d/%d)", c.N, c.Declared)
}

// word is what stands in a cell without a value.
func (s State) word() string {
	switch s {
	case NotYet:
		return "not yet"
	case Failed:
		return "ERR"
	case Timeout:
		return "T/O"
	case Mixed:
		return "mixed"
	default: // Missing, Excluded, NotPrinted
		return "--"
	}
}

// Note is a line below a table. Mark is the letter that cells refer to; it is empty for a
// note on the whole table.
type Note struct {
	Mark, Text string
}

// footnotes collects the notes of a table. Equal texts share a letter.
type footnotes struct {
	notes  []Note
	letter map[string]string
}

// mark returns the letters for the texts that are not empty, in the order in which they
// first come up.
func (f *footnotes) mark(texts ...string) []string {
	var marks []string
	for _, text := range texts {
		if text == "" {
			continue
		}
		if f.letter == nil {
			f.letter = map[string]string{}
		}
		if f.letter[text] == "" {
			f.letter[text] = letters(len(f.letter))
			f.notes = append(f.notes, Note{f.letter[text], text})
		}
		marks = append(marks, f.letter[text])
	}
	return marks
}

// letters is a, b, ... z, aa, ab, ...
func letters(i int) string {
	s := string(rune('a' + i%26))
	if i >= 26 {
		s = letters(i/26-1) + s
	}
	return s
}

// explain is the text of a cell's footnote.
func (c Cell) explain() string {
	switch {
	case c.Detail == "":
		return ""
	case c.State == OK || c.State == Missing || c.State == NotPrinted:
		return c.Detail
	case c.State == Timeout:
		return "out of time: " + c.Detail
	}
	return string(c.State) + ": " + c.Detail
}

// DaggerText explains the sign † wherever it stands.
const DaggerText = "parameters chosen on the test part (select: test), which flatters the method"

// legend explains the signs that the table uses and what its columns are.
func (t Table) legend() []Note {
	var dagger, partial, spread, failed, late bool
	for _, r := range t.Rows() {
		for _, c := range r.Cells {
			dagger = dagger || c.Dagger
			partial = partial || c.seeds() != ""
			spread = spread || c.State == OK && c.N > 1
			failed = failed || c.State == Failed
			late = late || c.State == Timeout
		}
	}
	var notes []Note
	add := func(is bool, format string, args ...any) {
		if is {
			notes = append(notes, Note{Text: fmt.Sprintf(format, args...)})
		}
	}
	if dagger {
		notes = append(notes, Note{Mark: "†", Text: DaggerText})
	}
	add(spread, "mean ± standard deviation over seeds")
	add(partial, "(k/n): only k of the n declared seeds have a value")
	add(failed, "ERR: every run failed")
	add(late, "T/O: every run reached its time limit")
	add(t.LowerIsBetter && t.measured(), "lower is better")
	for _, c := range t.Columns {
		if c.Published || c.StandsFor == "" {
			continue
		}
		what := "is another data set in the place of"
		if c.Synthetic {
			what = "is generated data in the place of"
		}
		add(true, "%s %s %s; it is compared with no published value", c.Title, what, t.titleOf(c.StandsFor))
	}
	for _, text := range t.Notes {
		add(text != "", "%s", text)
	}
	return notes
}

// titleOf is the title of the data set with this id, or the id where no column has it.
func (t Table) titleOf(id string) string {
	for _, c := range t.Columns {
		if c.ID == id {
			return c.Title
		}
	}
	return id
}
