package report

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"ssdl/experiments"
	"ssdl/experiments/paper"
	"ssdl/harness/compare"
	"ssdl/harness/provenance"
	"ssdl/harness/results"
	"ssdl/harness/run"
	"ssdl/harness/store"
	"ssdl/harness/verdict"
)

var update = flag.Bool("update", false, "rewrite the files of testdata")

// cell has values for the seeds from 1000 on.
func cell(requested int, values ...float64) results.Cell {
	m := map[uint64]float64{}
	for i, v := range values {
		m[1000+uint64(i)] = v
	}
	c := results.NewCell(m, requested)
	c.Tested = 9532
	return c
}

// nasty is text with a meaning in every format.
const nasty = "\x1b[31mR&D_50% | {x}^2 ~ $5 #1 \\cmd <b> `c` \"q\" *s*\t[1]\nline\u202etwo é ±β 中"

// example has every state, daggers, missing seeds, a stand-in, a synthetic set, a tie for the best,
// published columns, rows of every role, and characters that every format must escape.
func example() results.Table {
	with := func(c results.Cell, change func(*results.Cell)) results.Cell { change(&c); return c }
	failed := func(status store.Status, message string, attempts int) results.Cell {
		c := results.Cell{State: results.Failed, RequestedSeeds: 3}
		if status == store.StatusTimeout {
			c.State = results.Timeout
		}
		c.Failure = &results.Failure{Status: status, Message: message, Seed: 1000, Attempts: attempts}
		return c
	}
	inconsistent := results.Cell{State: results.Inconsistent, RequestedSeeds: 3}
	inconsistent.Inconsistencies = []run.Inconsistency{
		{Kind: provenance.BLAS, Is: "openblas", Want: "go", Seed: 1001, WantSeed: 1000, WantTuning: true},
		{Kind: provenance.MethodCode, Is: "0123456789abcdef", Want: "fedcba9876543210", Seed: 1001, WantSeed: 1000},
	}
	l := paper.Tables()[0]
	m := results.MetricOf("accuracy")
	t := results.Table{
		ID: "table1", Title: l.Title, Caption: l.Caption, Label: l.Label, RowHead: l.RowHead, Metric: m,
		Columns: []results.Column{
			{ID: "stanford40", Title: "Stanford40"},
			{ID: "sports8", Title: "Sports8", StandsFor: "uiuc-se"},
			{ID: "synth8", Title: "Synth8", StandsFor: "uiuc-se", Synthetic: true},
		},
		Groups: []results.Group{
			{Rows: []results.Row{
				{ID: "src", Title: "SRC", Venue: "TPAMI", Year: 2009, Cite: "wright2009robust", Cells: []results.Cell{
					with(cell(3, 66.1, 66.5, 65.9), func(c *results.Cell) { c.RunIDs = []string{"0a1b", "2c3d", "4e5f"} }),
					cell(3, 91.2, 91.3),
					{State: results.NotRun, RequestedSeeds: 3},
				}},
				{ID: "crc", Title: "CRC", Venue: "ICCV", Year: 2011, Cite: "zhang2011sparse", Note: "the ratio rule", Cells: []results.Cell{
					with(cell(3, 75.91, 75.92, 75.93), func(c *results.Cell) { c.TunedOnTest = true }),
					failed(store.StatusError, "singular matrix in 50% of the folds", 1),
					failed(store.StatusTimeout, "after 30 min", 2),
				}},
				{ID: "nrc", Title: "\x1b[1mN&R_C |50%^\\ \n*[1]*", Venue: "P&R", Year: 2019, Cite: "bad}key{", Note: nasty, Cells: []results.Cell{
					{State: results.Excluded, RequestedSeeds: 3, Remarks: results.Remarks{Excluded: "the method needs the " + nasty}},
					{State: results.NoData, RequestedSeeds: 3, Remarks: results.Remarks{NoData: "data set sports8 was not found"}},
					cell(1, 7),
				}},
				{ID: "[evil", Title: "[2pt] =1+1", Cells: []results.Cell{
					{State: results.NotPrinted},
					inconsistent,
					{State: results.Failed, RequestedSeeds: 3, Candidates: 4, Remarks: results.Remarks{FailedCandidates: 4}},
				}},
			}},
			{Rows: []results.Row{
				{ID: "ssdl", Title: "SSDL", Bold: true, Role: results.PaperRow, Cells: []results.Cell{cell(3, 75.9, 76.3, 75.6), cell(3, 93.1, 92.8, 93.9), cell(3, 93, 94, 95)}},
				{ID: "ssdl@K=300 pretext.p=2.2", Setting: results.Setting{{Name: "K", Value: 300}, {Name: "pretext.p", Value: 2.2}}, Title: "SSDL", Role: results.Variant, Cells: []results.Cell{
					with(cell(3, 80, 81), func(c *results.Cell) {
						c.TunedOnTest = true
						c.Remarks = failed(store.StatusInterrupted, "cancelled", 1).Remarks
						c.Unconverged, c.FailedCandidates = 12, 1
					}), cell(3, -1.5, 2, 0), cell(3, 70, 71, 72),
				}},
				{ID: "null", Title: "null", Role: results.Control, Cells: []results.Cell{cell(3, 1, 2, 3), {State: results.NotRun}, {State: results.NotRun}}},
			}},
		},
		Protocol: &results.Protocol{Seeds: []uint64{1000, 1001, 1002}, Split: "class", Train: 0.7, Labels: 0.4},
		Data:     []results.DataVersion{{Column: "stanford40", Hash: "0123456789abcdef"}, {Column: "sports8", Hash: "fedcba9876543210"}},
		Tuning: []results.Tuning{
			{Selection: "val", Column: "stanford40", Candidates: 10, Rows: []string{"src", "nrc"}},
			{Selection: "test", Rows: []string{"crc"}},
			{Selection: "paper", Rows: []string{"ssdl"}},
			{Selection: "fixed", Rows: []string{"[evil"}},
		},
	}
	for g := range t.Groups {
		for i := range t.Groups[g].Rows {
			r := &t.Groups[g].Rows[i]
			r.Base, _, _ = strings.Cut(r.ID, "@")
		}
	}
	t.MarkBest()
	return results.WithPublished(t, l)
}

// doubtful has everything that a table must warn about.
func doubtful() results.Table {
	fault := store.Fault{Table: "metrics", ID: "0a1b", What: "accuracy", Is: "0.999", Want: "0.717 by its predictions"}
	modified := cell(2, 91.2, 91.3)
	modified.Modified, modified.Imported = 2, 1
	t := results.Table{
		ID: "table1", Title: "Table 1", Caption: "Recognition results.", RowHead: "Methods", Metric: results.MetricOf("accuracy"),
		Columns: []results.Column{
			{ID: "uiuc-se", Title: "uiuc-se", Differences: []experiments.Difference{{Property: experiments.PropertySamples, Is: "1580", Want: "1579"}, {Property: experiments.PropertyName, Is: "sports8", Want: "uiuc-se"}}},
		},
		Groups: []results.Group{{Rows: []results.Row{
			{ID: "src", Base: "src", Title: "SRC", Method: "src", Role: results.PaperRow, Cells: []results.Cell{modified}},
			{ID: "nrc", Base: "nrc", Title: "NRC", Method: "nrc", Role: results.PaperRow, Cells: []results.Cell{{State: results.Damaged, RequestedSeeds: 2, Remarks: results.Remarks{Fault: &fault}}}},
			{ID: "ledl", Base: "ledl", Title: "LEDL", Method: "ledl", Role: results.PaperRow, Cells: []results.Cell{{State: results.OutOfMemory, RequestedSeeds: 2}}},
			{ID: "ssdl", Base: "ssdl", Title: "CRC", Method: "crc", Role: results.Misnamed, Cells: []results.Cell{cell(2, 94, 95)}},
		}}},
		Data: []results.DataVersion{{Column: "uiuc-se", Hash: "0123456789abcdef", Samples: 1580, Train: 1000, Labelled: 400, Test: 500, Unused: 80}},
		Provenance: &run.Provenance{
			Runs: 8, Damaged: 1, Modified: 2, Unknown: 1, Repeated: 3, Differ: 1,
			Imported: []run.Import{{Name: "theirs.zip", SHA256: "00112233445566778899", Signer: "jo@example.org (SHA256:abc)", Runs: 1}, {Name: "runs.db", SHA256: "ffeeddccbbaa", Runs: 1}},
		},
	}
	t.MarkBest()
	return t
}

// published is the table of the paper's own values.
func published(l paper.Layout) results.Table {
	t := results.Table{ID: l.ID, Title: l.Title, Caption: l.Caption, Label: l.Label, RowHead: l.RowHead, Metric: results.MetricOf(l.Metric)}
	t.Metric.Decimals = l.Decimals
	for _, c := range l.Columns {
		t.Columns = append(t.Columns, results.Column{ID: c.ID, Title: c.Title, Published: true})
	}
	for _, rows := range l.Groups {
		var g results.Group
		for _, r := range rows {
			row := results.Row{ID: r.ID, Base: r.ID, Title: r.Title, Venue: r.Venue, Cite: r.Cite, Year: r.Year, Bold: r.Bold}
			for _, c := range l.Columns {
				row.Cells = append(row.Cells, results.Cell{State: results.OK, Mean: r.Values[c.ID], Best: slices.Contains(r.Best, c.ID)})
			}
			g.Rows = append(g.Rows, row)
		}
		t.Groups = append(t.Groups, g)
	}
	return t
}

// judged has every verdict on a cell.
func judged(t *testing.T) verdict.Verdicts {
	t.Helper()
	l := paper.Tables()[0]
	tab := results.Table{
		ID: l.ID, Metric: results.MetricOf("accuracy"),
		Columns: []results.Column{{ID: "stanford40", Title: "Stanford40"}, {ID: "sports8", Title: "Sports8", StandsFor: "uiuc-se"}},
	}
	tuned := cell(8, 75, 75.3, 74.8)
	tuned.TunedOnTest = true
	failed := results.Cell{State: results.Failed, RequestedSeeds: 8}
	failed.Failure = &results.Failure{Status: store.StatusError, Message: "singular | \x1b[31mmatrix", Attempts: 1}
	given := map[string][]results.Cell{
		"src":    {cell(8, 66.1, 65.7, 66.4), cell(8, 91, 91.4)},
		"crc":    {cell(8, 71.5, 71.6, 71.4), cell(8, 92, 92.4)},
		"lcksvd": {tuned, cell(8, 88, 88.5)},
		"fddl":   {failed, {State: results.Timeout, RequestedSeeds: 8}},
		"ledl":   {cell(8, 73), cell(8, 92)},
		"ssdl":   {cell(8, 76.9, 76.5, 77.0), cell(8, 93, 94)},
	}
	var g results.Group
	for _, r := range l.Rows() {
		cells := given[r.ID]
		if cells == nil {
			cells = []results.Cell{{State: results.NotRun}, {State: results.NotRun}}
		}
		g.Rows = append(g.Rows, results.Row{ID: r.ID, Base: r.ID, Title: r.Title, Cells: cells})
	}
	tab.Groups = []results.Group{g}
	v, err := verdict.Of(tab, "table1", 3.0/7)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// accounts are the claims of judged, two without results on a further data set.
func accounts(t *testing.T) []verdict.Account {
	t.Helper()
	list, err := verdict.Accounts(judged(t), "table1", func(column string, rows []string) (results.Work, error) {
		w := results.Work{Rows: rows[:min(2, len(rows))], Cost: run.Cost{Runs: len(rows), Wall: float64(1500 * len(rows)), CPU: 4000, Peak: 1_480_000_000, Disk: 2_340_000}}
		if column == "sports8" {
			w = results.Work{Cost: run.Cost{Runs: 1, Wall: 59.4, CPU: 3, Disk: 812_000}}
		}
		return w, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// Of a claim about readings, the brief form has the counts and the range, the long one also the rows.
func TestVariantsText(t *testing.T) {
	points := results.MetricOf("accuracy")
	contrast := func(row string, gain float64, tuned bool) verdict.Contrast {
		return verdict.Contrast{Row: verdict.Side{Row: row}, Over: verdict.Side{Row: "crc", TunedOnTest: tuned}, Difference: compare.Difference{N: 2, Gain: gain}, RequestedSeeds: 2}
	}
	v := verdict.Variants{All: 7, Missing: 1, Holds: 2, Fails: 3, Best: 1, Worst: 0}
	v.Alone.Holds, v.Alone.Fails = 4, 3
	f := verdict.Finding{Kind: paper.Best, Variants: &v, Contrasts: []verdict.Contrast{contrast("low", -2, true), contrast("high", 0.5, false)}}

	brief := "significantly better in 2 of 7 variants, significantly worse in 3; 1 lacks results; at best recognition rate 0.50 points higher, at worst recognition rate 2.00 points lower†"
	if got := findingInBrief(points, f); got != brief {
		t.Errorf("in brief %q, want %q", got, brief)
	}
	f.Contrasts[1].N = 0
	if got := findingInBrief(points, f); !strings.Contains(got, "at best no common seed, at worst") {
		t.Errorf("without a common seed %q", got)
	}
	f.Contrasts[1].N = 2
	long := FindingText(points, f)
	for _, want := range []string{"2 of 7 variants", "Benjamini and Hochberg; 4 and 3 before", "1 lacks results", "at best high's recognition rate is 0.50 points higher than crc's", "at worst low's"} {
		if !strings.Contains(long, want) {
			t.Errorf("%q lacks %q", long, want)
		}
	}
}

// contest is a comparison with a failed row, an incomplete one and one with a nasty title.
func contest(t *testing.T) compare.Comparison {
	t.Helper()
	tuned := cell(8, 74, 75.5, 76, 77)
	tuned.TunedOnTest = true
	row := func(id, title string, cells ...results.Cell) results.Row {
		return results.Row{ID: id, Base: id, Title: title, Cells: cells}
	}
	tab := results.Table{
		ID: "arena", Metric: results.MetricOf("accuracy"),
		Columns: []results.Column{{ID: "stanford40", Title: "Stanford40"}, {ID: "sports8", Title: "sports8", StandsFor: "uiuc-se"}},
		Groups: []results.Group{
			{Rows: []results.Row{
				row("a", "A", cell(8, 70, 71, 72, 73), cell(8, 80, 81)), row("b", "B", tuned, cell(8, 90, 91.5)),
				row("c", "C", results.Cell{State: results.Failed, RequestedSeeds: 8}, cell(8, 90)),
			}},
			{Rows: []results.Row{row("bad", "=bad\x1b[31m | <b>\n& name", cell(8, 60, 61, 62, 63.5), cell(8, 70, 71.5))}},
		},
	}
	c, err := compare.Compare(tab, "a", 3.0/7)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// documents has one document of each kind that has every format.
func documents(t *testing.T) map[string]Document {
	checks, err := verdict.PaperCheck([]verdict.DataSet{{Name: "stanford40", Samples: 9532, Classes: 40}, {Name: "uiuc-se", Samples: 1579, Classes: 8}}, 0.3)
	if err != nil {
		t.Fatal(err)
	}
	return map[string]Document{
		"example": OfTable(example()), "doubtful": OfTable(doubtful()), "published2": OfTable(published(paper.Tables()[1])),
		"verdicts": OfVerdicts(judged(t)), "comparison": OfComparison(contest(t)), "papercheck": OfPaperCheck(checks),
		"claims": OfClaims(accounts(t)), "findings": OfFindings(accounts(t)),
	}
}

func render(t *testing.T, d Document, format string) string {
	t.Helper()
	var b bytes.Buffer
	if err := d.Write(&b, format); err != nil {
		t.Fatalf("%s: %v", format, err)
	}
	return b.String()
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", path, diff)
	}
}

func TestGolden(t *testing.T) {
	for name, d := range documents(t) {
		for _, f := range Formats() {
			golden(t, name+"."+f.Extension, render(t, d, f.Name))
		}
	}
	var bib strings.Builder
	if err := Bibliography(&bib, published(paper.Tables()[0])); err != nil {
		t.Fatal(err)
	}
	golden(t, "published1.bib", bib.String())
}

// Rendering leaves the value unchanged, and does not depend on what was rendered before.
func TestRenderChangesNothing(t *testing.T) {
	tab, same := example(), example()
	d := OfTable(tab)
	for _, format := range FormatNames() {
		if first := render(t, d, format); first != render(t, d, format) {
			t.Errorf("%s differs the second time", format)
		}
	}
	if diff := cmp.Diff(same, tab); diff != "" {
		t.Errorf("the table is changed:\n%s", diff)
	}
}

func TestUnknownFormat(t *testing.T) {
	if err := (Document{}).Write(&bytes.Buffer{}, "pdf"); err == nil || !strings.Contains(err.Error(), "text, md, latex, html, csv, json") {
		t.Errorf("error %v, want the list of formats", err)
	}
}

// Keys are in snake_case, and an empty list is not null.
func TestJSONKeys(t *testing.T) {
	st, err := store.Open(t.Context(), filepath.Join(t.TempDir(), "runs.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	check, err := st.Check(t.Context(), nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	docs := documents(t)
	docs["check"] = OfCheck(check, nil, check)
	docs["run"] = OfRun(results.RunDetails{Origin: &store.Origin{Name: "theirs.zip", Signer: "jo"}, Identity: []byte("{}"), Environment: map[string]string{}, Metrics: map[string]float64{}, Traces: []results.Trace{}})
	empty, err := verdict.Of(results.Table{ID: "charity", Metric: results.MetricOf("accuracy"), Columns: []results.Column{{ID: "tiny"}}}, "charity", 0.5)
	if err != nil {
		t.Fatal(err)
	}
	docs["empty"] = OfVerdicts(empty)
	for name, d := range docs {
		s := render(t, d, "json")
		if bad := regexp.MustCompile(`(?m)^ *"\w*[A-Z]\w*":|"(faults|sizes|never|cells|ranks|claims)": null`).FindString(s); bad != "" {
			t.Errorf("%s has %s", name, bad)
		}
		if name == "empty" && !(strings.Contains(s, `"cells": []`) && strings.Contains(s, `"claims": []`)) {
			t.Errorf("%s", s)
		}
	}
}

// The JSON is the whole value.
func TestJSONIsTheValue(t *testing.T) {
	var c compare.Comparison
	if err := json.Unmarshal([]byte(render(t, OfComparison(contest(t)), "json")), &c); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(contest(t), c); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	var list []verdict.Verdicts
	if err := json.Unmarshal([]byte(render(t, OfVerdicts(judged(t)), "json")), &list); err != nil || len(list) != 1 || list[0].Summary != judged(t).Summary {
		t.Errorf("%+v, %v", list, err)
	}
}

func TestCells(t *testing.T) {
	tuned := results.Cell{State: results.OK, Mean: 66, TunedOnTest: true}
	for _, c := range []struct {
		cell results.Cell
		text string
		tex  string
	}{
		{cell(8, 75.9), "75.9 (1/8)", `75.9$\%$ (1/8)`},
		{cell(2, 75, 77), "76.0 ± 1.4", `76.0$\%$ $\pm$ 1.4`},
		{cell(8, 75, 77), "76.0 ± 1.4 (2/8)", `76.0$\%$ $\pm$ 1.4 (2/8)`},
		{cell(8), "not run", "not run"},
		{results.Cell{State: results.Failed}, "ERR", "ERR"},
		{results.Cell{State: results.Timeout}, "T/O", "T/O"},
		{results.Cell{State: results.Inconsistent}, "inconsistent", "inconsistent"},
		{results.Cell{State: results.NoData}, "no data", "no data"},
		{results.Cell{State: results.Excluded}, "--", "--"},
		{results.Cell{State: results.OK, Mean: 66, Best: true}, "66.0*", `\textbf{66.0$\%$}`},
		{tuned, "66.0†", `66.0$\%$$^{\dagger}$`},
	} {
		it := cellItem(results.MetricOf("accuracy"), c.cell)
		if got := it.Text + it.tail(); got != c.text {
			t.Errorf("text of %+v is %q, want %q", c.cell, got, c.text)
		}
		if got := it.latex(); got != c.tex {
			t.Errorf("LaTeX of %+v is %q, want %q", c.cell, got, c.tex)
		}
	}
}

func TestCSVIsTidy(t *testing.T) {
	records, err := csv.NewReader(strings.NewReader(render(t, OfTable(example()), "csv"))).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	tab := example()
	if want := 1 + len(tab.Rows())*3; len(records) != want {
		t.Fatalf("%d lines, want %d: one per measured cell", len(records), want)
	}
	col := map[string]int{}
	for i, name := range records[0] {
		col[name] = i
	}
	for name, want := range map[string]string{
		"table": "table1", "row": "src", "column": "stanford40", "n": "3", "requested_seeds": "3", "state": "ok",
		"published": "66", "published_column": "stanford40", "runs": "0a1b 2c3d 4e5f", "tuned_on_test": "false", "metric": "accuracy",
	} {
		if got := records[1][col[name]]; got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
	if got := records[2][col["published"]]; got != "88.4" {
		t.Errorf("beside the stand-in of uiuc-se stands %q, want 88.4", got)
	}
}

// Verdicts on several tables are one CSV table.
func TestCSVOfSeveral(t *testing.T) {
	v := judged(t)
	lines, err := csv.NewReader(strings.NewReader(render(t, OfVerdicts(v, v), "csv"))).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	kinds := map[string]int{}
	for _, line := range lines {
		kinds[line[1]]++
	}
	contrasts := 0
	for _, f := range v.Claims {
		contrasts += len(f.Contrasts)
	}
	if kinds["kind"] != 1 || kinds["cell"] != 2*len(v.Cells) || kinds["claim"] != 2*len(v.Claims) || kinds["contrast"] != 2*contrasts || kinds["rank"] != 2 {
		t.Errorf("lines %v", kinds)
	}
}

func TestSyntheticIsSaid(t *testing.T) {
	if got := FileName("table1", true, "tex"); got != "table1-synthetic.tex" {
		t.Errorf("FileName is %q", got)
	}
	if got := FileName("../a b", false, "csv"); got != "___a_b.csv" {
		t.Errorf("FileName is %q", got)
	}
	for _, format := range []string{"text", "md", "latex", "html"} {
		s := render(t, OfTable(example()), format)
		if !strings.Contains(s, "Synth8 (synthetic)") || !strings.Contains(s, "marked synthetic") {
			t.Errorf("%s does not say that Synth8 is synthetic", format)
		}
	}
}

func TestLettersGoOn(t *testing.T) {
	for i, want := range map[int]string{0: "a", 25: "z", 26: "aa", 51: "az", 52: "ba", 702: "aaa"} {
		if got := letters(i); got != want {
			t.Errorf("letters(%d) = %q, want %q", i, got, want)
		}
	}
}

func TestRanges(t *testing.T) {
	for want, v := range map[string][]int{"": nil, "3": {3}, "1..3, 5, 7..8": {1, 2, 3, 5, 7, 8}} {
		if got := ranges(v); got != want {
			t.Errorf("%v is %q, want %q", v, got, want)
		}
	}
}

func TestSummaryText(t *testing.T) {
	s := verdict.Summary{Match: 1, Differs: 2, Open: 3, StandIn: 4, Missing: 5, Failed: 6, Holds: 7, Fails: 8, Undecided: 9, NotTested: 13, StandInClaims: 10, VariantClaims: 11, TunedOnTest: 12}
	want := "cells: 1 match, 2 differ, 3 undecided, 4 on stand-ins, 5 missing, 6 failed; " +
		"claims: 7 hold, 8 fail, 9 undecided, 13 not tested, 10 on stand-ins, 11 of variants; 12 cells were tuned on the test part (†)"
	if got := SummaryText(s); got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if got := SummaryText(verdict.Summary{TunedOnTest: 1}); !strings.HasSuffix(got, "; 1 cell was tuned on the test part (†)") {
		t.Errorf("%s", got)
	}
	if got := SummaryText(verdict.Summary{}); strings.Contains(got, "†") {
		t.Errorf("%s", got)
	}
}

func TestNothingUnsafeIsPrinted(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		s := rapid.StringOf(rapid.OneOf(rapid.Rune(), rapid.SampledFrom([]rune("\x1b\u009b[]\x07\n\r\t|=+-@\\%{}_&<")))).Draw(rt, "s")
		failed := results.Cell{State: results.Failed, RunIDs: []string{s}}
		failed.Failure = &results.Failure{Message: s}
		tab := results.Table{
			ID: "t", Title: s, Caption: s, Label: s, RowHead: s, Columns: []results.Column{{ID: "c", Title: s}},
			Groups: []results.Group{{Rows: []results.Row{{ID: "r" + s, Title: s, Venue: s, Cite: s, Note: s, Cells: []results.Cell{failed}}}}},
		}
		for _, format := range FormatNames() {
			var b bytes.Buffer
			if err := OfTable(tab).Write(&b, format); err != nil {
				rt.Fatal(err)
			}
			for _, r := range b.String() {
				if r != '\n' && (r < ' ' || r >= 0x7f && r < 0xa0 || r >= 0x202a && r <= 0x202e) {
					rt.Fatalf("%s has the control character %q:\n%q", format, r, b.String())
				}
			}
			switch format {
			case "md": // head, separator and one row, each with exactly three unescaped bars
				rows := 0
				for line := range strings.Lines(b.String()) {
					if strings.HasPrefix(line, "|") {
						rows++
						live := strings.NewReplacer(`\\`, "", `\|`, "").Replace(line)
						if n := strings.Count(live, "|"); n != 3 {
							rt.Fatalf("%d bars in %q, want 3", n, line)
						}
					}
				}
				if rows != 3 {
					rt.Fatalf("%d lines of a table, want 3:\n%s", rows, b.String())
				}
			case "csv":
				records, err := csv.NewReader(&b).ReadAll()
				if err != nil || len(records) != 2 {
					rt.Fatalf("%d records, error %v", len(records), err)
				}
				for _, field := range records[1] {
					if strings.IndexAny(field, "=+-@\t\r") == 0 {
						rt.Fatalf("field %q begins like a formula", field)
					}
				}
			}
		}
	})
}
