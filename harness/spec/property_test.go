package spec_test

import (
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"ssdl/harness/job"
	"ssdl/harness/spec"
	"ssdl/methods/catalog"
)

// A drawn row: its components and the given values of each. write can write it in many ways.
type drawnRow struct {
	id, method, pretext string
	params, pretextVals map[string]any
	tune                map[string]any // of the method, one value each
	when                map[string]map[string]any
}

func drawRows(t *rapid.T) []drawnRow {
	var methods, learners, pretexts []string
	for _, e := range catalog.All() {
		switch {
		case e.IsPretext():
			pretexts = append(pretexts, e.Name)
		case e.IsLearner():
			learners = append(learners, e.Name)
			methods = append(methods, e.Name)
		default:
			methods = append(methods, e.Name)
		}
	}
	rows := make([]drawnRow, rapid.IntRange(1, 4).Draw(t, "rows"))
	for i := range rows {
		r := drawnRow{id: fmt.Sprintf("row%d", i)}
		switch rapid.IntRange(0, 2).Draw(t, "kind") {
		case 0:
			r.method = rapid.SampledFrom(methods).Draw(t, "method")
		case 1:
			r.pretext = rapid.SampledFrom(pretexts).Draw(t, "pretext")
		case 2:
			r.method = rapid.SampledFrom(learners).Draw(t, "learner")
			r.pretext = rapid.SampledFrom(pretexts).Draw(t, "pretext")
		}
		r.params = drawValues(t, r.method, 0.5)
		r.pretextVals = drawValues(t, r.pretext, 0.5)
		r.when = map[string]map[string]any{}
		r.tune = map[string]any{}
		for name, v := range drawValues(t, r.method, 0.2) {
			if _, given := r.params[name]; !given {
				r.tune[name] = v
			}
		}
		for _, d := range drawnDatasets {
			if rapid.Bool().Draw(t, "when") {
				r.when[d] = map[string]any{}
				for name, v := range drawValues(t, r.method, 0.3) {
					if _, tuned := r.tune[name]; !tuned {
						r.when[d][name] = v
					}
				}
			}
		}
		rows[i] = r
	}
	return rows
}

var drawnDatasets = []string{"a", "b", "c"}

// drawValues draws values for about a share of an entry's parameters.
func drawValues(t *rapid.T, name string, share float64) map[string]any {
	out := map[string]any{}
	if name == "" {
		return out
	}
	e, err := catalog.Lookup(name)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range e.Params() {
		if rapid.Float64Range(0, 1).Draw(t, "given") > share {
			continue
		}
		switch p.Kind {
		case reflect.Float64:
			lo, hi := max(p.Min, -1e3), min(p.Max, 1e3)
			out[p.Name] = rapid.Float64Range(lo, hi).Draw(t, p.Name)
		case reflect.Int:
			lo, hi := max(p.Min, -100), min(p.Max, 100)
			out[p.Name] = rapid.IntRange(int(lo), int(hi)).Draw(t, p.Name)
		case reflect.Bool:
			out[p.Name] = rapid.Bool().Draw(t, p.Name)
		default:
			if p.Choices != nil {
				out[p.Name] = rapid.SampledFrom(p.Choices).Draw(t, p.Name)
			}
		}
	}
	return out
}

// write writes the rows as a spec, in one of many ways: the order of keys, rows and data
// sets, the form of numbers and whether defaults are spelled out are up to rng.
func write(rng *rand.Rand, rows []drawnRow) string {
	var fields []string
	add := func(text string) { fields = append(fields, text) }
	add("name: x")
	sets := slices.Clone(drawnDatasets)
	rng.Shuffle(len(sets), func(i, j int) { sets[i], sets[j] = sets[j], sets[i] })
	add("datasets: [" + strings.Join(sets, ", ") + "]")
	add(pick(rng, "seeds: 5..7", "seeds: [5, 6, 7]", "seeds: 5,6..7", `seeds: ["5..6", 7]`))
	add(pick(rng, "split: {kind: class, train: 0.7, labels: 0.4}", "split: {labels: 4e-1, train: 0.70, kind: class}"))
	text := make([]string, len(rows))
	for i, r := range rows {
		text[i] = writeRow(rng, r)
	}
	rng.Shuffle(len(text), func(i, j int) { text[i], text[j] = text[j], text[i] })
	add("rows:\n" + strings.Join(text, "\n"))
	rng.Shuffle(len(fields), func(i, j int) { fields[i], fields[j] = fields[j], fields[i] })
	return strings.Join(fields, "\n") + "\n"
}

func writeRow(rng *rand.Rand, r drawnRow) string {
	fields := []string{"id: " + r.id}
	add := func(key, value string) {
		if value != "" {
			fields = append(fields, key+": "+value)
		}
	}
	add("method", r.method)
	add("pretext", r.pretext)
	untouched := map[string]bool{}
	for name := range r.tune {
		untouched[name] = true
	}
	add("params", writeValues(rng, r.method, r.params, untouched))
	add("pretext_params", writeValues(rng, r.pretext, r.pretextVals, nil))
	var tunes []string
	for _, name := range slices.Sorted(maps.Keys(r.tune)) {
		tunes = append(tunes, name+": {grid: ["+writeValue(rng, r.tune[name])+"]}")
	}
	rng.Shuffle(len(tunes), func(i, j int) { tunes[i], tunes[j] = tunes[j], tunes[i] })
	if len(tunes) > 0 {
		add("tune", "{"+strings.Join(tunes, ", ")+"}")
	}
	// The whens of different data sets do not meet, so their order is free.
	var whens []string
	for _, d := range drawnDatasets {
		if values, ok := r.when[d]; ok && len(values) > 0 {
			whens = append(whens, "{datasets: ["+d+"], params: "+writeValues(rng, "", values, nil)+"}")
		}
	}
	rng.Shuffle(len(whens), func(i, j int) { whens[i], whens[j] = whens[j], whens[i] })
	if len(whens) > 0 {
		add("when", "["+strings.Join(whens, ", ")+"]")
	}
	rng.Shuffle(len(fields), func(i, j int) { fields[i], fields[j] = fields[j], fields[i] })
	return "  - {" + strings.Join(fields, ", ") + "}"
}

// writeValues writes a mapping of values. Defaults of the entry are spelled out at random,
// but for the parameters that are untouched.
func writeValues(rng *rand.Rand, entry string, values map[string]any, untouched map[string]bool) string {
	all := map[string]any{}
	if entry != "" {
		e, err := catalog.Lookup(entry)
		if err != nil {
			panic(err)
		}
		for _, p := range e.Params() {
			if rng.IntN(2) == 0 && !untouched[p.Name] {
				all[p.Name] = p.Default
			}
		}
	}
	maps.Copy(all, values)
	var out []string
	for _, name := range slices.Sorted(maps.Keys(all)) {
		out = append(out, name+": "+writeValue(rng, all[name]))
	}
	rng.Shuffle(len(out), func(i, j int) { out[i], out[j] = out[j], out[i] })
	if len(out) == 0 {
		return ""
	}
	return "{" + strings.Join(out, ", ") + "}"
}

func writeValue(rng *rand.Rand, v any) string {
	switch x := v.(type) {
	case float64:
		if frac, exp := math.Frexp(x); frac == 0.5 && rng.IntN(2) == 0 {
			return "2^" + strconv.Itoa(exp-1)
		}
		if x == 0 {
			return pick(rng, "0", "-0", "0.0", "-0e3")
		}
		return strconv.FormatFloat(x, pick(rng, "e", "g", "f")[0], -1, 64)
	case int:
		return pick(rng, strconv.Itoa(x), strconv.Itoa(x)+".0", fmt.Sprintf("%de0", x))
	}
	return fmt.Sprint(v)
}

func pick(rng *rand.Rand, options ...string) string { return options[rng.IntN(len(options))] }

// identities lists the jobs of a spec, by name and identity, sorted.
func identities(s *spec.Spec) []string {
	var out []string
	for _, c := range s.Cells() {
		for i := range c.Candidates {
			for _, j := range s.Jobs(c, i, job.EvalVal, s.Seeds) {
				out = append(out, fmt.Sprintf("%s %s %s", c.Row.ID, j.Name(), j.On("data of "+j.Dataset, "split").Encode()))
			}
		}
	}
	slices.Sort(out)
	return out
}

func TestIdentityDoesNotDependOnTheWriting(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rows := drawRows(t)
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "writing"), 0))
		var first []string
		for i := range 3 {
			text := write(rng, rows)
			s, err := spec.Parse("x.yaml", []byte(text))
			if err != nil {
				t.Fatalf("%v\n%s", err, text)
			}
			got := identities(s)
			if want := len(rows) * len(drawnDatasets) * 3; len(got) != want {
				t.Fatalf("%d jobs, want %d\n%s", len(got), want, text)
			}
			if i == 0 {
				first = got
			} else if diff := cmp.Diff(first, got); diff != "" {
				t.Fatalf("other jobs (-first +now):\n%s\n%s", diff, text)
			}
		}
	})
}

// Every drawn value reaches the job, and different jobs have different keys.
func TestJobsHaveTheValuesOfTheirRow(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rows := drawRows(t)
		rng := rand.New(rand.NewPCG(1, 2))
		s, err := spec.Parse("x.yaml", []byte(write(rng, rows)))
		if err != nil {
			t.Fatal(err)
		}
		keys := map[string]string{}
		for _, c := range s.Cells() {
			i := slices.IndexFunc(rows, func(r drawnRow) bool { return r.id == c.Row.ID })
			for _, j := range s.Jobs(c, 0, job.EvalTest, s.Seeds) {
				want := map[string]any{}
				maps.Copy(want, rows[i].params)
				maps.Copy(want, rows[i].tune)
				maps.Copy(want, rows[i].when[c.Dataset])
				checkValues(t, j.Method.Name, j.Method.Params, want)
				checkValues(t, j.Pretext.Name, j.Pretext.Params, rows[i].pretextVals)
				content := fmt.Sprint(j.Dataset, j.Seed, j.Name(), j.Method.Params, j.Pretext.Params)
				if had, ok := keys[j.On(j.Dataset, "").Key()]; ok && had != content {
					t.Fatalf("one key for %s and %s", had, content)
				}
				keys[j.On(j.Dataset, "").Key()] = content
			}
		}
	})
}

// checkValues tests that got is complete and has the given values and defaults else.
func checkValues(t *rapid.T, entry string, got catalog.Values, given map[string]any) {
	if entry == "" {
		if got != nil {
			t.Fatalf("values %v of nothing", got)
		}
		return
	}
	e, err := catalog.Lookup(entry)
	if err != nil {
		t.Fatal(err)
	}
	want, err := e.Complete(catalog.Values(given))
	if err != nil {
		t.Fatal(err)
	}
	for name, v := range want {
		if v == 0.0 {
			want[name] = 0.0 // -0 is written and read as 0
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Fatalf("%s (-want +got):\n%s", entry, diff)
	}
}

// A range or a log2 gives, bit by bit, the values of the equivalent grid.
func TestSweepFormsAgree(t *testing.T) {
	values := func(t *rapid.T, sweep string) (out []any) {
		s, err := spec.Parse("x.yaml", []byte(head+"  - {method: ssdl, params: {gamma: "+sweep+"}}\n"))
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range s.Cells() {
			out = append(out, c.Candidates[0].Params["gamma"])
		}
		return out
	}
	rapid.Check(t, func(t *rapid.T) {
		// Hundredths: where sums of floats go wrong.
		low, step := rapid.IntRange(0, 300).Draw(t, "low"), rapid.IntRange(1, 40).Draw(t, "step")
		n, over := rapid.IntRange(1, 30).Draw(t, "n"), rapid.IntRange(0, 39).Draw(t, "over")
		high := low + (n-1)*step + min(over, step-1)
		cents := func(i int) string { return fmt.Sprintf("%d.%02d", i/100, i%100) }
		var spelled []string
		for i := range n {
			spelled = append(spelled, cents(low+i*step))
		}
		grid := values(t, "{grid: ["+strings.Join(spelled, ", ")+"]}")
		spread := values(t, fmt.Sprintf("{range: [%s, %s, %s]}", cents(low), cents(high), cents(step)))
		if !reflect.DeepEqual(grid, spread) {
			t.Fatalf("grid %v, range %v", grid, spread)
		}

		from := rapid.IntRange(-60, 20).Draw(t, "from")
		by := rapid.IntRange(1, 5).Draw(t, "by")
		spelled = nil
		for i := range n {
			spelled = append(spelled, "2^"+strconv.Itoa(from+i*by))
		}
		grid = values(t, "{grid: ["+strings.Join(spelled, ", ")+"]}")
		powers := values(t, fmt.Sprintf("{log2: [%d, %d, %d]}", from, from+(n-1)*by+min(over, by-1), by))
		if !reflect.DeepEqual(grid, powers) {
			t.Fatalf("grid %v, log2 %v", grid, powers)
		}
	})
}

func TestFormatValueIsRead(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := rapid.Float64Range(-1e300, 1e300).Draw(t, "x")
		if rapid.Bool().Draw(t, "power") {
			x = math.Ldexp(1, rapid.IntRange(-1000, 1000).Draw(t, "exponent"))
		}
		if got, err := catalog.ParseNumber(spec.FormatValue(x)); err != nil || got != x {
			t.Fatalf("%v is written %s and read %v (%v)", x, spec.FormatValue(x), got, err)
		}
	})
}

func TestSeedsRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		near := rapid.SliceOfNDistinct(rapid.Uint64Range(0, 40), 1, 30, rapid.ID[uint64]).Draw(t, "near")
		far := rapid.SliceOfNDistinct(rapid.Uint64Min(100), 0, 5, rapid.ID[uint64]).Draw(t, "far")
		seeds := append(near, far...)
		if rapid.Bool().Draw(t, "sorted") {
			slices.Sort(seeds)
		}
		got, err := spec.ParseSeeds(spec.FormatSeeds(seeds))
		if err != nil || !slices.Equal(got, seeds) {
			t.Fatalf("%v is written %s and read %v (%v)", seeds, spec.FormatSeeds(seeds), got, err)
		}
	})
	for text, want := range map[string]string{
		"1000..1007": "[1000 1001 1002 1003 1004 1005 1006 1007]", "1000, 1003": "[1000 1003]", "5..5": "[5]",
		"3,1..2,18446744073709551615": "[3 1 2 18446744073709551615]",
	} {
		if got, err := spec.ParseSeeds(text); err != nil || fmt.Sprint(got) != want {
			t.Errorf("ParseSeeds(%q) = %v, %v", text, got, err)
		}
	}
	for _, text := range []string{
		"", ",", "1,", "1..", "..1", "2..1", "1,1", "1..3,2", "-1", "1.5", "a",
		"0..18446744073709551615", "18446744073709551616", "1..2..3", "0..999,2000",
	} {
		if got, err := spec.ParseSeeds(text); err == nil {
			t.Errorf("ParseSeeds(%q) = %v, want an error", text, got)
		}
	}
}

// A filter selects jobs and adds none.
func TestSelectionIsASubset(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rows := drawRows(t)
		s, err := spec.Parse("x.yaml", []byte(write(rand.New(rand.NewPCG(3, 4)), rows)))
		if err != nil {
			t.Fatal(err)
		}
		f := spec.Filter{
			Datasets: rapid.SliceOfDistinct(rapid.SampledFrom(drawnDatasets), rapid.ID[string]).Draw(t, "datasets"),
			Methods:  []string{s.Rows[rapid.IntRange(0, len(s.Rows)-1).Draw(t, "row")].Name()},
			Seeds:    rapid.SliceOfDistinct(rapid.Uint64Range(5, 7), rapid.ID[uint64]).Draw(t, "seeds"),
		}
		some, err := s.Select(f)
		if err != nil {
			t.Fatal(err)
		}
		all := identities(s)
		for _, id := range identities(some) {
			if _, ok := slices.BinarySearch(all, id); !ok {
				t.Fatalf("%s is not in the whole spec", id)
			}
		}
		want := 0 // a drawn row has one job for each data set and seed
		for i := range s.Rows {
			if name := f.Methods[0]; s.Rows[i].Method == name || s.Rows[i].Name() == name {
				want++
			}
		}
		for _, part := range []int{len(f.Datasets), len(f.Seeds)} {
			if part == 0 {
				part = 3 // an empty list filters nothing
			}
			want *= part
		}
		if got := len(identities(some)); got != want {
			t.Fatalf("%+v selects %d jobs, want %d", f, got, want)
		}
	})
}
