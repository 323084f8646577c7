package results

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ssdl/harness/data"
	"ssdl/harness/executor"
	"ssdl/harness/run"
	"ssdl/harness/spec"
	"ssdl/harness/store"
)

// planned is the plan of a spec without any results.
func planned(t *testing.T, src string) *run.Plan {
	t.Helper()
	s, err := spec.Parse("x.yaml", []byte(src))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for _, name := range s.Datasets {
		if _, ok := data.Builtin(name); ok {
			continue
		}
		var set strings.Builder
		for i := range 40 {
			fmt.Fprintf(&set, "%d,1,%d\n", 1+i, i%2)
		}
		if err := os.WriteFile(filepath.Join(dir, name+".csv"), []byte(set.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	st, err := store.Open(t.Context(), filepath.Join(dir, "runs.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	p, err := run.Resolve(t.Context(), &executor.Library{Roots: []string{dir}}, nil, st, s)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

const head = "name: x\ndatasets: [stanford40, sports8]\nseeds: 1000..1003\nsplit: {kind: class, train: 0.7, labels: 0.4}\n"

func TestTuning(t *testing.T) {
	all, few := []uint64{1000, 1001, 1002, 1003}, []uint64{1000, 1001}
	for _, x := range []struct {
		name, src string
		want      []Tuning
	}{
		{
			"SSDL is tuned and a baseline is not", "rows:\n" +
				"  - {method: ssdl, pretext: pahl, tune: {alpha: {log2: [-4, -1]}}}\n" +
				"  - {method: crc, select: fixed}\n  - {method: src, label: S}\n",
			[]Tuning{
				{"val", "stanford40", 4, all, []string{"pahl+ssdl"}},
				{"val", "sports8", 4, all, []string{"pahl+ssdl"}},
				{Selection: "fixed", Rows: []string{"crc", "src"}},
			},
		},
		{
			"shorter grids on one set, and a choice on a few seeds", "tune_seeds: [{datasets: [stanford40], seeds: 1000..1001}]\nrows:\n" +
				"  - {method: crc, tune: {lambda: {log2: [-2, 2]}}}\n" +
				"  - {method: src, tune: {lambda: {log2: [-2, 2]}}}\n" +
				"  - {method: dksvd, tune: {sqrt_beta: {grid: [1, 2]}}, when: [{datasets: [stanford40], tune: {sqrt_beta: {grid: [1]}}}]}\n" +
				"  - {method: ssdl, pretext: pahl, select: paper}\n",
			[]Tuning{
				{"val", "stanford40", 5, few, []string{"crc", "src"}},
				{"val", "sports8", 5, all, []string{"crc", "src"}},
				{"val", "stanford40", 1, few, []string{"dksvd"}},
				{"val", "sports8", 2, all, []string{"dksvd"}},
				{Selection: "paper", Rows: []string{"pahl+ssdl"}},
			},
		},
		{
			"tuned on the test part, and what is left out", "rows:\n" +
				"  - {method: crc, select: test, tune: {lambda: {log2: [-2, 2]}}}\n" +
				"  - {method: src, tune: {lambda: {grid: [0.1, 1]}}}\n" +
				"exclude: [{dataset: sports8, row: src, reason: why}, {dataset: stanford40, row: src, reason: why}]\n",
			[]Tuning{{"test", "stanford40", 5, all, []string{"crc"}}, {"test", "sports8", 5, all, []string{"crc"}}},
		},
	} {
		tab, err := TableOf(planned(t, head+x.src), true)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(x.want, tab.Tuning); diff != "" {
			t.Errorf("%s (-want +got):\n%s", x.name, diff)
		}
	}
}

// Selection is the select of the spec; a single candidate is not tuned.
func TestSelection(t *testing.T) {
	tab, err := TableOf(planned(t, strings.Replace(head, "stanford40, ", "", 1)+"rows:\n"+
		"  - {id: a, method: crc, tune: {lambda: {grid: [1, 2]}}}\n  - {id: b, method: crc, tune: {lambda: {grid: [1]}}}\n"+
		"  - {id: c, method: crc, select: fixed}\n  - {id: d, method: crc, select: paper}\n  - {id: e, method: crc, select: test, tune: {lambda: {grid: [1, 2]}}}\n"), true)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, r := range tab.Rows() {
		c := r.Cells[0]
		got = append(got, c.Selection)
		if c.TunedOnTest != (r.ID == "e") || c.State != NotRun || c.RequestedSeeds != 4 {
			t.Errorf("%s: %+v", r.ID, c)
		}
	}
	if want := []string{"val", "fixed", "fixed", "paper", "test"}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

// In a table of the paper a row comes after the one that it varies, with its role.
func TestRoles(t *testing.T) {
	p := planned(t, head+"table: table2\nmetric: bce\nselect: fixed\nrows:\n"+
		"  - {pretext: hl}\n  - {id: hl-shifted, role: control, pretext: hl, pretext_params: {shift: 0.1}}\n  - {id: hl-narrow, pretext: hl, pretext_params: {k: 4}}\n"+
		"  - {id: pahl-p, pretext: pahl, pretext_params: {p: {grid: [2, 2.2]}}}\n")
	tab, err := TableOf(p, true)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, r := range tab.Rows() {
		got = append(got, r.ID+" "+string(r.Role))
	}
	want := []string{"hl paper", "hl-shifted control", "hl-narrow variant", "pahl-p@pretext.p=2 variant", "pahl-p@pretext.p=2.2 variant"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("rows (-want +got):\n%s", diff)
	}
	whole, err := TableOf(p, false)
	if err != nil {
		t.Fatal(err)
	}
	if n := len(whole.Rows()); n != 5+4 { // gl, hlw, dhsl and pahl are not in the spec
		t.Errorf("%d rows with those of the paper that the spec has not, want 9", n)
	}
	if e := Explain(p, p.Cells[0]); e.Metric != whole.Metric {
		t.Errorf("explained by %+v, want the paper's decimals", e.Metric)
	}
	if whole.Title != "Table 2" || whole.Metric.Decimals != 2 || len(whole.Columns) != 4 || !whole.Columns[1].Published || whole.Columns[3].ID != "uiuc-se" {
		t.Errorf("%q, %+v, %+v", whole.Title, whole.Metric, whole.Columns)
	}
}

// A table of another metric than the paper's has no published column, and the unit of that metric.
func TestAnotherMetricHasNoPublishedColumn(t *testing.T) {
	tab, err := TableOf(planned(t, head+"table: table2\nmetric: ce_row\nselect: fixed\nrows: [{pretext: hl}]\n"), false)
	if err != nil {
		t.Fatal(err)
	}
	if len(tab.Columns) != 2 || tab.Metric != MetricOf("ce_row") || tab.Title == "Table 2" || len(tab.Rows()) != 5 {
		t.Errorf("%q has the columns %+v of %+v and %d rows", tab.Title, tab.Columns, tab.Metric, len(tab.Rows()))
	}
}

// A row of a sweep of losses has its own metric.
func TestRowsOfASweepOfLosses(t *testing.T) {
	tab, err := TableOf(planned(t, head+"metric: {grid: [bce, ce_row]}\nselect: fixed\nrows: [{pretext: hl}]\n"), false)
	if err != nil {
		t.Fatal(err)
	}
	for i, name := range []string{"bce", "ce_row"} {
		if r := tab.Rows()[i]; r.Metric == nil || *r.Metric != MetricOf(name) || tab.RowMetric(r) != MetricOf(name) {
			t.Errorf("%s: %+v, want %s", r.ID, r.Metric, name)
		}
	}
}

// A table can be read back from its JSON, but for the type of whole numbers in settings.
func TestTableReadsBack(t *testing.T) {
	tab, err := TableOf(planned(t, head+"rows: [{method: crc, select: fixed, params: {lambda: {grid: [0.1, 1]}}}]\n"), true)
	if err != nil {
		t.Fatal(err)
	}
	raw, err := json.Marshal(tab)
	if err != nil {
		t.Fatal(err)
	}
	var back Table
	if err := json.Unmarshal(raw, &back); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(tab, back); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestExplainWhatIsNotRun(t *testing.T) {
	p := planned(t, head+"rows:\n  - {method: crc, tune: {lambda: {grid: [0.1, 1]}}}\n  - {method: src, select: fixed, params: {lambda: {grid: [0.1, 1]}}}\n"+
		"exclude: [{dataset: sports8, row: src, reason: why}]\n")
	tuned, swept, excluded := Explain(p, p.Cells[0]), Explain(p, p.Cells[3]), Explain(p, p.Cells[len(p.Cells)-1])
	if len(tuned.Candidates) != 2 || tuned.Candidates[0].Score != nil || tuned.Candidates[1].Requested != 4 || tuned.Runs != nil || tuned.Method != nil {
		t.Errorf("a row that is tuned: %+v", tuned)
	}
	if swept.Row != "src@lambda=1" || swept.Base != "src" || swept.Candidates != nil || len(swept.Runs) != 4 || swept.Runs[0].State != run.New || swept.Method.Params["lambda"] != 1.0 {
		t.Errorf("a row of a sweep: %+v", swept)
	}
	if excluded.Cell.State != Excluded || excluded.Cell.Excluded != "why" || excluded.Runs != nil {
		t.Errorf("a cell that is left out: %+v", excluded)
	}
	plan := PlanOf(p, run.StageEstimate{Runs: 3, Asked: 4, Built: 4})
	if n := len(plan.Jobs); n != 2*2*4+2*4+2*4+2 || plan.Stages != nil { // tuning, what waits for it, the sweep, what is left out
		t.Errorf("%d jobs, stages %v", n, plan.Stages)
	}
	purposes := map[string]int{}
	for _, j := range plan.Jobs {
		purposes[j.Purpose+" "+string(j.State)]++
	}
	want := map[string]int{"tune not run": 16, "report pending": 8, "report not run": 8, "report excluded": 2}
	if diff := cmp.Diff(want, purposes); diff != "" {
		t.Errorf("jobs (-want +got):\n%s", diff)
	}
	if s := PlanOf(p, run.StageEstimate{Runs: 3, Asked: 4, Built: 2}).Stages; s == nil || s.Computed != 2 {
		t.Errorf("stages that runs share: %+v", s)
	}
}

// Tests between methods use the sizes of the splits.
func TestRatioOfSplits(t *testing.T) {
	dir := t.TempDir()
	set, ok := data.Builtin("synth8")
	if !ok {
		t.Fatal("there is no synth8")
	}
	write := func(seed uint64, name string, train float64) (ratio float64) {
		sp, err := data.MakeSplit(set, data.SplitSpec{Train: train, Labels: 0.4}, seed)
		if err != nil {
			t.Fatal(err)
		}
		var b strings.Builder
		if err := sp.Write(&b, set); err != nil {
			t.Fatal(err)
		}
		writeFile(t, filepath.Join(dir, name), b.String())
		return float64(len(sp.Test)) / float64(len(sp.Train))
	}
	write(1000, "a-1000.json", 0.7)
	few := write(1001, "a-1001.json", 0.5)
	ratio := func(split string) float64 {
		t.Helper()
		return TestToTrain(planned(t, "name: x\ndatasets: [synth8]\nseeds: 1000..1001\n"+split+"rows: [{method: crc, select: fixed}]\n"))
	}
	if got := ratio("split: {kind: file, file: '" + filepath.Join(dir, "a-{seed}.json") + "'}\n"); got != few {
		t.Errorf("a file for each seed: %v; want that of the one with fewer training samples, %v", got, few)
	}
	if got := ratio("split: {kind: file, file: " + filepath.Join(dir, "a-1000.json") + "}\n"); got != 0 {
		t.Errorf("one file for all seeds: %v; want 0", got)
	}
	if got := ratio("split: {kind: class, train: 0.5, labels: {grid: [0.1, 0.8]}}\n"); got != few {
		t.Errorf("a sweep of label rates: %v; want %v, whatever the rates", got, few)
	}
}

func writeFile(t *testing.T, path, content string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}
