package command

import (
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"ssdl/harness/data"
	"ssdl/harness/job"
)

// nearest is a program that gives each sample the class of the nearest labelled one. Its arguments name
// faults to make.
func nearest(faults []string) error {
	train, err := readRows("X_train.npy")
	if err != nil {
		return err
	}
	labels, err := readRows("labels.npy")
	if err != nil {
		return err
	}
	has := func(fault string) bool { return slices.Contains(faults, fault) }
	classes := 0
	for _, y := range labels {
		if y[0] < 0 && has("needs labels") {
			return os.ErrInvalid
		}
		classes = max(classes, int(y[0])+1)
	}
	class := func(x []float64) int {
		best, at := -1., 0
		for j, y := range labels {
			dot := 0.
			for i := range x {
				dot += x[i] * train[j][i]
			}
			if y[0] >= 0 && dot > best {
				best, at = dot, int(y[0])
			}
		}
		return at
	}
	if has("targets") {
		F := mat.NewDense(classes, len(train), nil)
		for j, x := range train {
			F.Set(class(x), j, 1)
		}
		_, err := writeFile("targets.npy", func(w io.Writer) error { return data.WriteColumns(w, F) })
		return err
	}
	test, err := readRows("X_test.npy")
	if err != nil {
		return err
	}
	var out []int
	for _, x := range test {
		out = append(out, class(x))
	}
	switch {
	case has("draws"):
		for i := range out {
			out[i] = rand.IntN(classes)
		}
	case has("reversed"):
		slices.Sort(out)
	}
	_, err = writeFile("predictions.npy", func(w io.Writer) error { return data.WriteIntegers(w, out) })
	return err
}

func readRows(name string) (rows [][]float64, err error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	a, err := data.ReadNPYHeader(name, f, info.Size())
	if err != nil {
		return nil, err
	}
	if err := a.ReadValues(f); err != nil {
		return nil, err
	}
	for i := range a.Rows {
		row := make([]float64, a.Cols)
		a.Row(i, row)
		rows = append(rows, row)
	}
	return rows, nil
}

// Each rule finds the program that breaks it; a correct program breaks none.
func TestCheckNotices(t *testing.T) {
	runner := Runner{Self: self(t)}
	if runner.confinement() == Unconfined {
		t.Skip("this system cannot confine programs")
	}
	for _, c := range []struct {
		faults []string
		broken []string
	}{
		{nil, nil},
		{[]string{"reversed"}, []string{"learns"}},
		{[]string{"draws"}, []string{"deterministic"}},
		{[]string{"needs labels"}, []string{"task"}},
	} {
		is := job.Command{Args: append([]string{runner.Self[0], "nearest"}, c.faults...)}
		findings, err := Trial{Runner: runner, Command: is}.Check(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		var broken []string
		for _, f := range findings {
			if !f.OK && (f.Rule != "learns" || !slices.Contains(c.faults, "draws")) {
				broken = append(broken, f.Rule)
			}
		}
		if !slices.Equal(broken, c.broken) {
			t.Errorf("%q breaks %q, want %q: %+v", c.faults, broken, c.broken, findings)
		}
	}
	is := job.Command{Args: []string{runner.Self[0], "nearest", "targets"}}
	findings, err := Trial{Runner: runner, Command: is, Targets: true}.Check(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range findings {
		// It takes the largest label for the number of classes, which is wrong where one has no label.
		if f.OK != (f.Rule != "empty class") {
			t.Errorf("targets: %+v", f)
		}
	}
	// Unconfined programs are told.
	findings, err = Trial{Command: job.Command{Args: []string{runner.Self[0], "nearest"}}}.Check(t.Context())
	if err != nil || findings[0].Rule != "confined" || findings[0].OK {
		t.Errorf("%+v, %v", findings, err)
	}
}

// The finding says why the second call fails.
func TestSecondCallFails(t *testing.T) {
	seen := filepath.Join(t.TempDir(), "seen")
	c := script(t, "mkdir "+seen+" 2>/dev/null || { echo no luck >&2; exit 3; }; cp answer.npy predictions.npy", map[string]func(io.Writer) error{
		"answer.npy": integers(make([]int, trialClasses*trialTest)...),
	})
	findings, err := Trial{Command: c}.Check(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	want := Finding{"deterministic", false, "the same task again: crashed: exit status 3: no luck"}
	if !slices.Contains(findings, want) {
		t.Errorf("%+v", findings)
	}
}
