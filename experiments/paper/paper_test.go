package paper

import (
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
)

func TestTablesAreWhole(t *testing.T) {
	want := map[string]string{
		"table1": "src crc nrc slrc euler-src | addl fddl lcksvd lcpdl ledl cdlf | ssdl",
		"table2": "gl hl hlw dhsl | pahl",
	}
	for _, l := range Tables() {
		var groups []string
		for _, g := range l.Groups {
			var ids []string
			for _, r := range g {
				ids = append(ids, r.ID)
				if len(r.Values) != len(l.Columns) {
					t.Errorf("%s, row %s: %d values for %d columns", l.ID, r.ID, len(r.Values), len(l.Columns))
				}
				for _, c := range l.Columns {
					v, ok := r.Values[c.ID]
					if !ok {
						t.Errorf("%s, row %s has no value of %s", l.ID, r.ID, c.ID)
					}
					if s := v * math.Pow10(l.Decimals); math.Abs(s-math.Round(s)) > 1e-6 {
						t.Errorf("%s, row %s: %v has more than %d decimals", l.ID, r.ID, v, l.Decimals)
					}
				}
			}
			groups = append(groups, strings.Join(ids, " "))
		}
		if got := strings.Join(groups, " | "); got != want[l.ID] {
			t.Errorf("rows of %s are %q, want %q", l.ID, got, want[l.ID])
		}
	}
}

// The values are read out of the paper's own table as well, without the renderer.
func TestValuesAreThePapers(t *testing.T) {
	for _, l := range Tables() {
		tex, err := os.ReadFile(l.ID + ".tex")
		if err != nil {
			t.Fatal(err)
		}
		rows := map[string][]string{}
		for line := range strings.Lines(string(tex)) {
			line = strings.NewReplacer(`\textbf{`, "", "}", "", `$\%$`, "", `\\`, "").Replace(line)
			parts := strings.Split(line, "&")
			for i := range parts {
				parts[i] = strings.TrimSpace(parts[i])
			}
			title, _, _ := strings.Cut(parts[0], " (")
			rows[title] = parts[1:]
		}
		for _, r := range l.Rows() {
			for j, c := range l.Columns {
				printed := rows[r.Title]
				if len(printed) != len(l.Columns) {
					t.Fatalf("%s.tex: row %s has the values %q", l.ID, r.Title, printed)
				}
				if v, err := strconv.ParseFloat(printed[j], 64); err != nil || v != r.Values[c.ID] {
					t.Errorf("%s, row %s, column %s: %v, the paper has %s", l.ID, r.ID, c.ID, r.Values[c.ID], printed[j])
				}
			}
		}
	}
}

func TestHalfUnit(t *testing.T) {
	if got := (Layout{Decimals: 1}).HalfUnit(); math.Abs(got-0.05) > 1e-15 {
		t.Errorf("half unit of one decimal is %v, want 0.05", got)
	}
}

func TestClaimsAreWhole(t *testing.T) {
	layouts := map[string]Layout{}
	for _, l := range Tables() {
		layouts[l.ID] = l
	}
	sets := []string{"stanford40", "uiuc-se"}
	seen := map[string]bool{}
	for _, c := range Claims() {
		if seen[c.ID] || c.ID == "" {
			t.Errorf("claim %q stands there twice or has no name", c.ID)
		}
		seen[c.ID] = true
		if c.Quote == "" || c.Where == "" || c.Table == "" || c.Row == "" || len(c.Columns) == 0 {
			t.Errorf("claim %s lacks quote, where, table, row or columns", c.ID)
		}
		if !slices.Contains([]Kind{Best, Margin, Similar, Minimum, Flat, Slower}, c.Kind) {
			t.Errorf("claim %s has the unknown kind %q", c.ID, c.Kind)
		}
		for set, number := range c.Columns {
			if !slices.Contains(sets, set) || !(number >= 0) {
				t.Errorf("claim %s: column %s with the number %v", c.ID, set, number)
			}
		}
		if c.Kind == Minimum && !(c.Setting != "" && c.From < c.To) || c.Kind == Slower && (c.Setting == "" || len(c.Over) == 0) ||
			c.Readings && (len(c.Over) == 0 || !slices.Contains([]Kind{Best, Margin, Similar}, c.Kind)) {
			t.Errorf("claim %s lacks its setting, its range or the other row", c.ID)
		}
		if l, ok := layouts[c.Table]; ok {
			for _, id := range append([]string{c.Row}, c.Over...) {
				if !c.Variant && !slices.ContainsFunc(l.Rows(), func(r Row) bool { return r.ID == id }) {
					t.Errorf("claim %s names the row %q, which %s does not have", c.ID, id, l.ID)
				}
			}
		}
	}
}

// The least of the margins that a claim names must be the least in the table it is about.
func TestMarginsAreThePapers(t *testing.T) {
	l := Tables()[0]
	values := map[string]map[string]float64{}
	for _, r := range l.Rows() {
		values[r.ID] = r.Values
	}
	for _, c := range Claims() {
		if c.Kind != Margin {
			continue
		}
		for set, number := range c.Columns {
			least := math.Inf(1)
			for id, v := range values {
				if id != c.Row && (len(c.Over) == 0 || slices.Contains(c.Over, id)) {
					least = min(least, values[c.Row][set]-v[set])
				}
			}
			if least < number-1e-9 {
				t.Errorf("claim %s on %s: %v, the table gives %.1f", c.ID, set, number, least)
			}
			if c.ID == "ssdl-margin" && math.Abs(least-number) > 1e-9 {
				t.Errorf("claim %s on %s: %v, the table gives %.1f", c.ID, set, number, least)
			}
		}
	}
}

// Every row that cites has its reference, of the year that is printed, and there are no others.
func TestReferences(t *testing.T) {
	years := map[string]int{}
	for _, l := range Tables() {
		for _, r := range l.Rows() {
			if r.Cite != "" {
				years[r.Cite] = r.Year
			}
		}
	}
	for _, r := range References() {
		if year, ok := years[r.Key]; !ok || year != r.Year || r.Title == "" || len(r.Authors) == 0 || r.In == "" {
			t.Errorf("%+v, cited in %d", r, year)
		}
		delete(years, r.Key)
	}
	if len(years) > 0 {
		t.Errorf("cited without a reference: %v", years)
	}
}
