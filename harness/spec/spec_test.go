package spec_test

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ssdl/docs"
	"ssdl/harness/job"
	"ssdl/harness/spec"
)

const header = `name: x
datasets: [synth8]
seeds: 1000..1001
split: {kind: class, train: 0.7, labels: 0.4}
`

const head = header + "rows:\n"

// rows parses a spec of these rows, indented as they are.
func rows(t *testing.T, text string) *spec.Spec {
	t.Helper()
	s, err := spec.Parse("x.yaml", []byte(head+text))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestBuiltInSpecs(t *testing.T) {
	files, err := filepath.Glob("../../experiments/*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var want []string
	for _, path := range files {
		if name := strings.TrimSuffix(filepath.Base(path), ".yaml"); name != "datasets" {
			want = append(want, name)
		}
	}
	slices.Sort(want) // file names sort by their extension too
	if diff := cmp.Diff(want, spec.Names()); diff != "" {
		t.Errorf("specs in experiments and built in (-want +got):\n%s", diff)
	}
	for _, name := range spec.Names() {
		s, err := spec.Load(name)
		if err != nil {
			t.Error(err)
			continue
		}
		if s.Name != name {
			t.Errorf("%s.yaml calls itself %q", name, s.Name)
		}
		if len(s.Cells()) == 0 {
			t.Errorf("%s has no cells", name)
		}
		fromDisk, err := spec.Load("../../experiments/" + name + ".yaml")
		if err != nil {
			t.Error(err)
		} else if fromDisk.Hash != s.Hash {
			t.Errorf("%s is not built in as it is on disk; build again", name)
		}
	}
}

func TestLoadErrors(t *testing.T) {
	for arg, want := range map[string]string{
		"tabel1":            `did you mean "table1"?`,
		"elsewhere":         "there are",
		"./elsewhere":       "no such file",
		"nowhere/none.yaml": "no such file",
		"none.yml":          "no such file",
		".":                 "",
		"":                  "",
	} {
		if _, err := spec.Load(arg); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Load(%q): %v, want something with %q", arg, err, want)
		}
	}
}

// The examples of the documents are specs, or the rows of one.
func TestDocumentedExamples(t *testing.T) {
	pages, err := filepath.Glob("../../docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	examples := map[string][]string{"example.yaml": {docs.ExampleSpec}}
	for _, page := range append(pages, "../../README.md") {
		raw, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range regexp.MustCompile("(?ms)^```yaml\n(.*?)^```$").FindAllStringSubmatch(string(raw), -1) {
			name := filepath.Base(page)
			examples[name] = append(examples[name], m[1])
		}
	}
	if n := len(examples["specs.md"]); n < 5 {
		t.Errorf("specs.md has %d examples", n)
	}
	for page, list := range examples {
		for i, text := range list {
			if strings.HasPrefix(text, "rows:") {
				text = header + text
			}
			s, err := spec.Parse(fmt.Sprintf("%s: example %d", page, i+1), []byte(text))
			if err != nil {
				t.Errorf("%v\n%s", err, text)
				continue
			}
			for _, c := range s.Cells() {
				if len(s.Jobs(c, 0, job.EvalTest, s.Seeds)) != len(s.Seeds) {
					t.Errorf("%s: example %d: row %s has no jobs", page, i+1, c.Row.ID)
				}
			}
		}
	}
}

// cells writes a spec's cells as lines: row, data set, point, setting, and the candidates.
func cells(s *spec.Spec) []string {
	var out []string
	for _, c := range s.Cells() {
		line := fmt.Sprintf("%s %s %d [%s]", c.Row.ID, c.Dataset, c.Point, c.Setting)
		for _, cand := range c.Candidates {
			line += fmt.Sprintf(" (%s)", cand.Tuned)
		}
		out = append(out, line)
	}
	return out
}

func TestCells(t *testing.T) {
	s := rows(t, `
  - {method: crc, params: {lambda: 0.5}}
  - id: swept
    method: ssdl
    pretext: pahl
    params: {alpha: {grid: [0.25, 3]}}
    pretext_params: {k: {range: [3, 5, 2]}}
    zip: {gamma: [0, 1], pretext.p: [1.8, 2.2]}
  - id: tuned
    method: ssdl
    pretext: pahl
    tune: {K: {grid: [8, 16]}, gamma: {grid: [1, 0]}, pretext.p: {grid: [2.2, 1.8]}}
    when:
      - {datasets: [other], tune: {gamma: {grid: [5]}, pretext.p: {grid: [2]}, iterations: {grid: [2, 1]}}}
exclude:
  - {dataset: synth8, row: tuned, reason: too slow}
`)
	want := []string{
		"crc synth8 0 [] ()",
		"swept synth8 0 [alpha=0.25 pretext.k=3 gamma=0 pretext.p=1.8] ()",
		"swept synth8 1 [alpha=0.25 pretext.k=3 gamma=1 pretext.p=2.2] ()",
		"swept synth8 2 [alpha=0.25 pretext.k=5 gamma=0 pretext.p=1.8] ()",
		"swept synth8 3 [alpha=0.25 pretext.k=5 gamma=1 pretext.p=2.2] ()",
		"swept synth8 4 [alpha=3 pretext.k=3 gamma=0 pretext.p=1.8] ()",
		"swept synth8 5 [alpha=3 pretext.k=3 gamma=1 pretext.p=2.2] ()",
		"swept synth8 6 [alpha=3 pretext.k=5 gamma=0 pretext.p=1.8] ()",
		"swept synth8 7 [alpha=3 pretext.k=5 gamma=1 pretext.p=2.2] ()",
		// The pretext's parameters first, then as in the catalog: gamma before K.
		"tuned synth8 0 [] (pretext.p=2.2 gamma=1 K=8) (pretext.p=2.2 gamma=1 K=16)" +
			" (pretext.p=2.2 gamma=0 K=8) (pretext.p=2.2 gamma=0 K=16)" +
			" (pretext.p=1.8 gamma=1 K=8) (pretext.p=1.8 gamma=1 K=16)" +
			" (pretext.p=1.8 gamma=0 K=8) (pretext.p=1.8 gamma=0 K=16)",
	}
	if diff := cmp.Diff(want, cells(s)); diff != "" {
		t.Errorf("cells (-want +got):\n%s", diff)
	}
	all := s.Cells()
	if got := all[len(all)-1].Excluded; got != "too slow" {
		t.Errorf("excluded for %q", got)
	}
	if p := all[8].Candidates[0]; p.Params["alpha"] != 3.0 || p.Params["gamma"] != 1.0 ||
		p.PretextParams["k"] != 5 || p.PretextParams["p"] != 2.2 {
		t.Errorf("the last point has %v and %v", p.Params, p.PretextParams)
	}

	other, err := s.Select(spec.Filter{Datasets: []string{"other"}, Methods: []string{"tuned"}})
	if err != nil {
		t.Fatal(err)
	}
	want = []string{"tuned other 0 [] (pretext.p=2 gamma=5 K=8 iterations=2) (pretext.p=2 gamma=5 K=8 iterations=1)" +
		" (pretext.p=2 gamma=5 K=16 iterations=2) (pretext.p=2 gamma=5 K=16 iterations=1)"}
	if diff := cmp.Diff(want, cells(other)); diff != "" {
		t.Errorf("cells of the other data set (-want +got):\n%s", diff)
	}
}

// A zip may repeat the value of a parameter, but not those of all.
func TestZips(t *testing.T) {
	s := rows(t, `
  - method: ssdl
    zip: [{alpha: [1, 1, 2], gamma: [3, 4, 4]}, {norm: [ball, sphere], test: [exact, sweeps]}]
`)
	want := []string{
		"ssdl synth8 0 [alpha=1 gamma=3 norm=ball test=exact] ()", "ssdl synth8 1 [alpha=1 gamma=3 norm=sphere test=sweeps] ()",
		"ssdl synth8 2 [alpha=1 gamma=4 norm=ball test=exact] ()", "ssdl synth8 3 [alpha=1 gamma=4 norm=sphere test=sweeps] ()",
		"ssdl synth8 4 [alpha=2 gamma=4 norm=ball test=exact] ()", "ssdl synth8 5 [alpha=2 gamma=4 norm=sphere test=sweeps] ()",
	}
	if diff := cmp.Diff(want, cells(s)); diff != "" {
		t.Errorf("cells (-want +got):\n%s", diff)
	}
}

// The parameters of a zip in tune vary together; a when replaces grids that share a parameter with it.
func TestTunedTogether(t *testing.T) {
	s := rows(t, `
  - id: tuned
    method: ssdl
    pretext: pahl
    tune:
      K: {grid: [8, 16]}
      zip: [{targets: [unit, raw], pretext.fill: [0, 0.5]}, {alpha: [1, 2], gamma: [3, 4]}]
    when:
      - {datasets: [other], tune: {zip: {alpha: [5, 6], gamma: [7, 8]}, targets: {grid: [raw]}}}
`)
	want := []string{"tuned synth8 0 [] (targets=unit pretext.fill=0 alpha=1 gamma=3 K=8) (targets=unit pretext.fill=0 alpha=1 gamma=3 K=16)" +
		" (targets=unit pretext.fill=0 alpha=2 gamma=4 K=8) (targets=unit pretext.fill=0 alpha=2 gamma=4 K=16)" +
		" (targets=raw pretext.fill=0.5 alpha=1 gamma=3 K=8) (targets=raw pretext.fill=0.5 alpha=1 gamma=3 K=16)" +
		" (targets=raw pretext.fill=0.5 alpha=2 gamma=4 K=8) (targets=raw pretext.fill=0.5 alpha=2 gamma=4 K=16)"}
	if diff := cmp.Diff(want, cells(s)); diff != "" {
		t.Errorf("cells (-want +got):\n%s", diff)
	}
	if c := s.Cells()[0].Candidates[7]; c.PretextParams["fill"] != 0.5 || c.Params["targets"] != "raw" || c.Params["gamma"] != 4.0 {
		t.Errorf("the last candidate has %v and %v", c.Params, c.PretextParams)
	}
	other, err := s.Select(spec.Filter{Datasets: []string{"other"}})
	if err != nil {
		t.Fatal(err)
	}
	want = []string{"tuned other 0 [] (targets=raw alpha=5 gamma=7 K=8) (targets=raw alpha=5 gamma=7 K=16) (targets=raw alpha=6 gamma=8 K=8) (targets=raw alpha=6 gamma=8 K=16)"}
	if diff := cmp.Diff(want, cells(other)); diff != "" {
		t.Errorf("cells of the other data set (-want +got):\n%s", diff)
	}
}

// The later `when` wins, and each applies only to its data sets.
func TestWhenOrder(t *testing.T) {
	s := rows(t, `
  - method: ssdl
    params: {alpha: 1, gamma: 1, K: 8}
    when:
      - {datasets: [synth8, a], params: {alpha: 2, gamma: 2}}
      - {datasets: [a], params: {alpha: 3}}
`)
	for dataset, want := range map[string][3]any{
		"synth8": {2.0, 2.0, 8}, "a": {3.0, 2.0, 8}, "b": {1.0, 1.0, 8},
	} {
		on, err := s.Select(spec.Filter{Datasets: []string{dataset}})
		if err != nil {
			t.Fatal(err)
		}
		p := on.Cells()[0].Candidates[0].Params
		if got := [3]any{p["alpha"], p["gamma"], p["K"]}; got != want {
			t.Errorf("%s: %v, want %v", dataset, got, want)
		}
	}
}

// table1 runs SSDL with the parameters that the paper prints.
func TestTable1HasThePapersValues(t *testing.T) {
	s, err := spec.Load("table1")
	if err != nil {
		t.Fatal(err)
	}
	if len(s.Seeds) != 8 || s.Seeds[0] != 1000 || s.Seeds[7] != 1007 || s.Split != (spec.Split{Kind: "class", Train: 0.7, Labels: 0.4}) {
		t.Errorf("seeds %v, split %+v", s.Seeds, s.Split)
	}
	type values struct{ alpha, gamma, p, lambda, K any }
	paper := map[string]values{
		"stanford40": {1. / (1 << 14), 1. / (1 << 12), 1.8, 0.1, 0},
		"uiuc-se":    {1. / (1 << 12), 1. / (1 << 12), 2.2, 0.1, 0},
		"sports8":    {1. / (1 << 12), 1. / (1 << 12), 2.2, 0.1, 0},
		"synth8":     {1. / (1 << 12), 1. / (1 << 12), 2.2, 0.1, 256},
		"synth40":    {1. / (1 << 14), 1. / (1 << 12), 1.8, 0.1, 256},
	}
	for dataset, want := range paper {
		on, err := s.Select(spec.Filter{Datasets: []string{dataset}})
		if err != nil {
			t.Fatal(err)
		}
		found := 0
		for _, c := range on.Cells() {
			if c.Row.Method != "ssdl" || strings.HasSuffix(c.Row.ID, "-tuned") {
				continue
			}
			found++
			p, q := c.Candidates[0].Params, c.Candidates[0].PretextParams
			fill, from := 0.5, "paper"
			if c.Row.ID == "ssdl-fill0" {
				fill, from = 0, "fixed"
			}
			if q["fill"] != fill {
				t.Errorf("%s on %s: fill %v, want %v", c.Row.ID, dataset, q["fill"], fill)
			}
			words := [3]any{p["size_of"], p["targets"], p["norm"]}
			if want := map[string][3]any{
				"ssdl": {"labelled", "raw", "ball"}, "ssdl-half-all": {"all", "raw", "ball"}, "ssdl-unit": {"labelled", "unit", "ball"},
				"ssdl-fill0": {"labelled", "unit", "ball"}, "ssdl-printed": {"all", "raw", "sphere"},
			}[c.Row.ID]; words != want {
				t.Errorf("%s on %s: %v, want %v", c.Row.ID, dataset, words, want)
			}
			want := want
			if want.K == 256 && words[0] == "all" {
				want.K = 512
			}
			if got := (values{p["alpha"], p["gamma"], q["p"], q["lambda"], p["K"]}); got != want || len(c.Candidates) != 1 || c.Select != from {
				t.Errorf("%s on %s: %v (%s), want %v as in the paper", c.Row.ID, dataset, got, c.Select, want)
			}
		}
		if found != 5 {
			t.Errorf("%d rows of SSDL on %s, want the printed one, the three that vary it, and the updates as printed", found, dataset)
		}
	}
	crc, err := s.Select(spec.Filter{Methods: []string{"crc"}})
	if err != nil {
		t.Fatal(err)
	}
	c := crc.Cells()[0]
	if n := len(c.Candidates); n != 15 || c.Candidates[0].Params["lambda"] != 1./4096 || c.Candidates[14].Params["lambda"] != 4.0 {
		t.Errorf("CRC chooses among %d candidates, want 2^-12..2^2", n)
	}
	if c.Row.Name() != "crc" || c.Select != "val" {
		t.Errorf("row %s selects by %s", c.Row.Name(), c.Select)
	}
}

// SSDL and its learner alone have as many candidates, in which every tuned parameter varies.
func TestTunedAlike(t *testing.T) {
	for _, name := range []string{"table1", "ladder"} {
		s, err := spec.Load(name)
		if err != nil {
			t.Fatal(err)
		}
		s, err = s.Select(spec.Filter{Datasets: []string{"stanford40", "uiuc-se"}, Methods: []string{"ssdl-tuned", "ssdl-labelled-tuned"}})
		if err != nil {
			t.Fatal(err)
		}
		if len(s.Cells()) != 4 {
			t.Errorf("%s: %d cells, want 4", name, len(s.Cells()))
		}
		for _, c := range s.Cells() {
			varies := map[string]map[any]bool{}
			for _, x := range c.Candidates {
				for _, a := range x.Tuned {
					if varies[a.Name] == nil {
						varies[a.Name] = map[any]bool{}
					}
					varies[a.Name][a.Value] = true
				}
			}
			for name, values := range varies {
				if len(values) < 2 {
					t.Errorf("%s does not vary in %s", name, c.Row.ID)
				}
			}
			want := "alpha gamma size_of"
			if c.Row.Pretext != "" {
				want = "alpha gamma pretext.fill pretext.lambda pretext.p size_of targets"
			}
			if got := strings.Join(slices.Sorted(maps.Keys(varies)), " "); got != want || len(c.Candidates) != 32 || c.Select != spec.SelectVal {
				t.Errorf("%s on %s chooses %s among %d settings (%s)", c.Row.ID, c.Dataset, got, len(c.Candidates), c.Select)
			}
		}
	}
}

// Rows with select: paper have the values that the paper prints for each data set.
func TestPaperMeansPrinted(t *testing.T) {
	p := map[string]float64{"stanford40": 1.8, "uiuc-se": 2.2}
	alpha := map[string]float64{"stanford40": 1. / (1 << 14), "uiuc-se": 1. / (1 << 12)}
	found := map[string]int{}
	for _, name := range spec.Names() {
		s, err := spec.Load(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range s.Cells() {
			if _, real := p[c.Dataset]; !real || c.Select != spec.SelectPaper {
				continue
			}
			found[name+" "+c.Row.ID]++
			q := c.Candidates[0].PretextParams
			printed := c.Row.Pretext == "pahl" && q["p"] == p[c.Dataset] && q["lambda"] == 0.1 && q["fill"] == 0.5 && q["deflate"] == false
			if m := c.Candidates[0].Params; c.Row.Method != "" {
				printed = printed && c.Row.Method == "ssdl" && m["alpha"] == alpha[c.Dataset] && m["gamma"] == 1./(1<<12) && m["K"] == 0
			}
			if !printed {
				t.Errorf("%s: %s %s on %s is none of the paper's: %v", name, c.Row.ID, c.Setting, c.Dataset, c.Candidates[0])
			}
		}
	}
	for _, row := range []string{"table1 ssdl", "table1 ssdl-half-all", "table1 ssdl-unit", "table1 ssdl-printed", "table2 pahl", "label-rate ssdl", "model-agnostic ssdl"} {
		if found[row] == 0 {
			t.Errorf("%s has the paper's values and does not say so", row)
		}
	}
}

// A given value is not tuned, and makes the same job wherever it is given.
func TestGivenValues(t *testing.T) {
	const text = "name: r\ndatasets: [d]\nseeds: 1\nsplit: {kind: class, train: 0.7, labels: 0.4}\nselect: %s\nrows: [{method: crc, params: {lambda: 0.5}}]\n"
	var keys []string
	for _, how := range []string{spec.SelectPaper, spec.SelectFixed} {
		s, err := spec.Parse("r.yaml", fmt.Appendf(nil, text, how))
		if err != nil {
			t.Fatal(err)
		}
		c := s.Cells()[0]
		j := s.Jobs(c, 0, job.EvalTest, s.Seeds)[0]
		if c.Select != how || len(c.Candidates) != 1 || c.Candidates[0].Params["lambda"] != 0.5 {
			t.Errorf("%s: %+v", how, c)
		}
		keys = append(keys, j.Key())
	}
	if keys[0] != keys[1] {
		t.Error("the word is in the identity of the job")
	}
}

func TestSelect(t *testing.T) {
	s, err := spec.Load("table1")
	if err != nil {
		t.Fatal(err)
	}
	ids := func(s *spec.Spec) (out []string) {
		for _, r := range s.Rows {
			out = append(out, r.ID)
		}
		return out
	}
	for _, c := range []struct {
		methods string
		want    string
	}{
		{"", strings.Join(ids(s), " ")},
		{"crc src", "src crc"},
		{"ssdl", "ssdl"},
		{"pahl+ssdl", "ssdl ssdl-half-all ssdl-unit ssdl-fill0 ssdl-printed ssdl-tuned"},
		{"ssdl-printed crc crc", "crc ssdl-printed"},
		{"SSDL Euler-SRC lc-ksvd", "euler-src lcksvd ssdl"},
	} {
		got, err := s.Select(spec.Filter{Methods: strings.Fields(c.methods)})
		if err != nil {
			t.Error(err)
		} else if strings.Join(ids(got), " ") != c.want {
			t.Errorf("-m %s selects %v, want %s", c.methods, ids(got), c.want)
		}
	}
	got, err := s.Select(spec.Filter{Seeds: []uint64{1005, 1001}, Datasets: []string{"sports8", "sports8"}})
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(got.Seeds, []uint64{1001, 1005}) || !slices.Equal(got.Datasets, []string{"sports8"}) {
		t.Errorf("seeds %v, data sets %v", got.Seeds, got.Datasets)
	}
	if len(s.Seeds) != 8 || len(s.Datasets) != 2 || got.Hash != s.Hash {
		t.Error("Select changed the spec it was called on, or its hash")
	}

	if _, err = s.Select(spec.Filter{Datasets: []string{"sports8", strings.Repeat("d", 65)}}); err == nil || !strings.Contains(err.Error(), "has 65 characters. Use at most 64") {
		t.Errorf("a name too long for a file: %v", err)
	}

	if got, err = s.Select(spec.Filter{Seeds: []uint64{7, 3, 7}}); err != nil || !slices.Equal(got.Seeds, []uint64{3, 7}) {
		t.Errorf("other seeds than the spec's: %v, %v", got, err)
	}

	_, err = s.Select(spec.Filter{Methods: []string{"crs", "pahl+ssld", "zzzzzz"}, Datasets: []string{"../x"}})
	if err == nil {
		t.Fatal("no error")
	}
	for _, want := range []string{
		`no row or method "crs"; did you mean "crc"?`, `did you mean "pahl+ssdl"?`,
		`no row or method "zzzzzz"; it has src, crc,`, `"../x" is not a name`,
	} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%v\nlacks %q", err, want)
		}
	}
}

func TestScoreIsThePretexts(t *testing.T) {
	s := rows(t, `
  - {method: crc}
  - {pretext: hl}
`)
	if !slices.Equal(s.Scores, []string{"oos"}) || !slices.Equal(s.Metrics, []string{"accuracy"}) {
		t.Errorf("scores %q, metrics %q", s.Scores, s.Metrics)
	}
	for i, want := range []string{"", "oos"} {
		if j := s.Jobs(s.Cells()[i], 0, job.EvalTest, s.Seeds)[0]; j.Score != want {
			t.Errorf("%s has score %q, want %q", j.Name(), j.Score, want)
		}
	}
	if s := rows(t, "  - {method: crc}\n"); len(s.Scores) != 0 {
		t.Errorf("scores %q without a pretext to score", s.Scores)
	}
}

func TestHashIsOfTheFile(t *testing.T) {
	src, err := os.ReadFile("../../experiments/smoke.yaml")
	if err != nil {
		t.Fatal(err)
	}
	a, err := spec.Parse("a", src)
	if err != nil {
		t.Fatal(err)
	}
	b, err := spec.Parse("b", append(src, "# more\n"...))
	if err != nil {
		t.Fatal(err)
	}
	if a.Hash == b.Hash || len(a.Hash) != 64 {
		t.Errorf("hashes %s and %s", a.Hash, b.Hash)
	}
}

// The bound of settings includes the sweeps of the spec.
func TestSettingsOfAllSweeps(t *testing.T) {
	const sweep = "{lambda: {range: [0.001, 1, 0.001]}}" // 1000 points
	for _, x := range []struct {
		head, row string
		labels    string
		fits      bool
	}{
		{"", "{method: crc, params: " + sweep + "}", "{range: [0.1, 1, 0.1]}", true},
		{"", "{method: crc, params: " + sweep + "}", "{range: [0.01, 1, 0.01]}", false},
		{"", "{method: crc}", "{range: [0.001, 1, 0.001]}", true},
		{"metric: bce\n", "{pretext: hl, pretext_params: " + sweep + "}", "{grid: [0.1, 0.2, 0.3, 0.4]}", true},
		{"metric: {grid: [bce, ce_row, ce_softmax]}\n", "{pretext: hl, pretext_params: " + sweep + "}", "{grid: [0.1, 0.2, 0.3, 0.4]}", false},
		{"metric: bce\nscore: {grid: [oos, transductive]}\n", "{pretext: hl, pretext_params: " + sweep + "}", "{grid: [0.1, 0.2, 0.3, 0.4, 0.5, 0.6]}", false},
	} {
		text := fmt.Sprintf("name: b\ndatasets: [c, d]\nseeds: 1\n%ssplit: {kind: class, train: 0.7, labels: %s}\nrows: [%s]\n", x.head, x.labels, x.row)
		_, err := spec.Parse("b.yaml", []byte(text))
		if x.fits && err != nil || !x.fits && (err == nil || !strings.Contains(err.Error(), "the rows make more than 20000 settings")) {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// A sweep over the share of labels makes a cell, a split and a key of its own for each.
func TestLabelRates(t *testing.T) {
	const text = "name: r\ndatasets: [d]\nseeds: 1\nsplit: {kind: class, train: 0.7, labels: %s}\nrows: [{method: crc, params: {lambda: {grid: [0.1, 0.2]}}}]\n"
	s, err := spec.Parse("r.yaml", fmt.Appendf(nil, text, "{range: [0.2, 1, 0.4]}"))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	keys := map[string]bool{}
	for _, c := range s.Cells() {
		job := s.Jobs(c, 0, job.EvalTest, s.Seeds)[0]
		got = append(got, fmt.Sprintf("%s: %g", c.Setting, job.Split.Labels))
		if _, ok := job.Method.Params[spec.LabelRate]; ok {
			t.Error("the share of labels is among the parameters of the method")
		}
		keys[job.On("d", fmt.Sprint(job.Split)).Key()] = true
	}
	want := []string{
		"label-rate=0.2 lambda=0.1: 0.2", "label-rate=0.2 lambda=0.2: 0.2",
		"label-rate=0.6 lambda=0.1: 0.6", "label-rate=0.6 lambda=0.2: 0.6",
		"label-rate=1 lambda=0.1: 1", "label-rate=1 lambda=0.2: 1",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("cells (-want +got):\n%s", diff)
	}
	if len(keys) != len(want) {
		t.Errorf("%d keys of %d cells", len(keys), len(want))
	}
	for labels, wrong := range map[string]string{
		"{range: [0, 1, 0.5]}": "must be above 0", "{grid: [0.5, 0.5]}": "twice", "{grid: [0.5, 1.5]}": "at most 1",
		"{log2: [-2, 0]}": "log2", "{grid: []}": "empty",
	} {
		if _, err := spec.Parse("r.yaml", fmt.Appendf(nil, text, labels)); err == nil || !strings.Contains(err.Error(), wrong) {
			t.Errorf("labels: %s: %v, want an error with %q", labels, err, wrong)
		}
	}
}

// The seeds of tune_seeds choose the candidate, whatever the final seeds are.
func TestTuneSeeds(t *testing.T) {
	const text = "name: r\ndatasets: [d, e]\nseeds: 1..4\n%ssplit: {kind: class, train: 0.7, labels: 0.4}\nrows: [{method: crc, tune: {lambda: {grid: [0.1, 0.2]}}}]\n"
	s, err := spec.Parse("r.yaml", fmt.Appendf(nil, text, "tune_seeds: [{datasets: [d], seeds: 2..3}]\n"))
	if err != nil {
		t.Fatal(err)
	}
	if s, err = s.Select(spec.Filter{Seeds: []uint64{4}}); err != nil {
		t.Fatal(err)
	}
	got := map[string][]uint64{}
	for _, c := range s.Cells() {
		for _, j := range s.Jobs(c, 0, job.EvalVal, c.TuneSeeds) {
			got[c.Dataset] = append(got[c.Dataset], j.Seed)
		}
	}
	if diff := cmp.Diff(map[string][]uint64{"d": {2, 3}, "e": {4}}, got); diff != "" {
		t.Errorf("seeds of the tuning (-want +got):\n%s", diff)
	}
	for line, wrong := range map[string]string{
		"tune_seeds: [{datasets: [d]}]\n":                                      "is {datasets: [..], seeds: ..}",
		"tune_seeds: [{datasets: [d], seeds: 1.5}]\n":                          "1.5",
		"tune_seeds: [{datasets: [d], seeds: 1}, {datasets: [d], seeds: 2}]\n": "d twice",
		"tune_seeds: [{datasets: [d], seeds: 1, methods: [crc]}]\n":            "methods",
		"tune_seeds: 2\n": "tune_seeds",
	} {
		if _, err := spec.Parse("r.yaml", fmt.Appendf(nil, text, line)); err == nil || !strings.Contains(err.Error(), wrong) {
			t.Errorf("%s: %v, want an error with %q", strings.TrimSpace(line), err, wrong)
		}
	}
}

// Sweeps over the loss and the score make cells; a loss makes no new job.
func TestLossesAndScores(t *testing.T) {
	const text = "name: r\ndatasets: [d]\nseeds: 1\nsplit: {kind: class, train: 0.7, labels: 0.4}\nselect: paper\nmetric: %s\nscore: %s\nrows: [{pretext: gl}]\n"
	s, err := spec.Parse("r.yaml", fmt.Appendf(nil, text, "{grid: [bce, ce_row]}", "{grid: [oos, transductive]}"))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	keys := map[string]bool{}
	for _, c := range s.Cells() {
		job := s.Jobs(c, 0, job.EvalTest, s.Seeds)[0]
		got = append(got, fmt.Sprintf("%s: %s %s %s", c.Setting, c.Metric, c.Score, job.Score))
		keys[job.On("d", "s").Key()] = true
		for name := range job.Pretext.Params {
			if name == spec.Loss || name == spec.Scoring {
				t.Errorf("%s is among the parameters of the pretext", name)
			}
		}
	}
	want := []string{
		"scoring=oos loss=bce: bce oos oos", "scoring=oos loss=ce_row: ce_row oos oos",
		"scoring=transductive loss=bce: bce transductive transductive", "scoring=transductive loss=ce_row: ce_row transductive transductive",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("cells (-want +got):\n%s", diff)
	}
	if len(keys) != 2 {
		t.Errorf("%d keys, want one for each score", len(keys))
	}
	for _, wrong := range [][3]string{
		{"{grid: [bce, accuracy]}", "oos", "accuracy"},
		{"{grid: [bce, bce]}", "oos", "twice"},
		{"{log2: [-2, 0]}", "oos", "log2"},
		{"{grid: []}", "oos", "empty"},
		{"bce", "{grid: [oos, else]}", "else"},
		{"bce", "{range: [0, 1]}", "range"},
	} {
		if _, err := spec.Parse("r.yaml", fmt.Appendf(nil, text, wrong[0], wrong[1])); err == nil || !strings.Contains(err.Error(), wrong[2]) {
			t.Errorf("%v: %v", wrong, err)
		}
	}
}
