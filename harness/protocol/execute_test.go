package protocol

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"

	"ssdl/methods"
)

// witness records its input and predicts class 1.
type witness struct{ w io.Writer }

func (l witness) see(what string, p methods.Problem, F *mat.Dense) {
	fmt.Fprintln(l.w, what, p.Labels, p.Classes, p.Rand.Uint64())
	for _, m := range []*mat.Dense{p.X, F} {
		if m != nil {
			fmt.Fprintln(l.w, m.RawMatrix().Data)
		}
	}
}

func (l witness) Fit(_ context.Context, p methods.Problem) (methods.Model, error) {
	l.see("method", p, nil)
	return l, nil
}

func (l witness) FitTargets(_ context.Context, p methods.Problem, F *mat.Dense) (methods.Model, error) {
	l.see("learner", p, F)
	return l, nil
}

func (l witness) PseudoLabels(_ context.Context, p methods.Problem) (methods.Pseudo, error) {
	l.see("pretext", p, nil)
	p.Trace.Add("step", 1, 2)
	p.Trace.Add("step", 1, 3)
	F := methods.OneHot(p.Labels, p.Classes, 0.5)
	return methods.Pseudo{F: F, Score: func(_ context.Context, X *mat.Dense) (*mat.Dense, error) {
		l.see("score", methods.Problem{X: X, Rand: Stream(0, "")}, nil)
		_, n := X.Dims()
		return methods.OneHot(make([]int, n), p.Classes, 0), nil
	}}, nil
}

func (l witness) Predict(_ context.Context, X *mat.Dense) ([]int, error) {
	fmt.Fprintln(l.w, "predict", X.RawMatrix().Data)
	_, n := X.Dims()
	out := make([]int, n)
	for i := range out {
		out[i] = 1
	}
	return out, nil
}

// The data that a method sees under a seed is fixed: a change changes the results of every job, so raise Protocol
// in harness/job with it.
func TestProtocolIsPinned(t *testing.T) {
	var seen bytes.Buffer
	w := witness{&seen}
	in := someInput(1000)
	for _, trial := range []Trial{
		{Method: w}, {Method: w, Tunes: true}, {Learner: w, Pretext: w}, {Pretext: w}, {Pretext: w, Transductive: true},
	} {
		trial.Seed = 1000
		out, err := Execute(t.Context(), in, trial)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintln(&seen, out.Truth, out.Predicted, out.HiddenTruth, out.Trace)
	}
	got := fmt.Sprintf("%.8x", sha256.Sum256(seen.Bytes()))
	const want = "5343305d28c71b7a"
	if got != want {
		t.Errorf("methods see %s and saw %s", got, want)
	}
}

// No method gets the labels of the scored samples: changing them changes nothing that it sees.
func TestScoredLabelsAreUnseen(t *testing.T) {
	for name, trial := range map[string]func(witness) Trial{
		"method":       func(w witness) Trial { return Trial{Method: w} },
		"learner":      func(w witness) Trial { return Trial{Learner: w, Pretext: w} },
		"oos":          func(w witness) Trial { return Trial{Pretext: w} },
		"transductive": func(w witness) Trial { return Trial{Pretext: w, Transductive: true} },
	} {
		seen := func(change bool) string {
			in := someInput(1000)
			if change {
				for _, j := range in.Test {
					in.Labels[j] = (in.Labels[j] + 1) % in.Classes
				}
				for i, j := range in.Train {
					if !in.Labelled[i] {
						in.Labels[j] = (in.Labels[j] + 1) % in.Classes
					}
				}
			}
			var b bytes.Buffer
			if _, err := Execute(t.Context(), in, trial(witness{&b})); err != nil {
				t.Fatal(err)
			}
			return b.String()
		}
		if seen(false) != seen(true) {
			t.Errorf("%s: hidden labels reach it", name)
		}
	}
}

func TestTraceKeepsTheLatest(t *testing.T) {
	var o Outcome
	o.Add("objective", 2, 5)
	o.Add("objective", 2, math.Inf(1))
	o.Add("objective", 3, 1)
	if len(o.Trace) != 2 || !math.IsInf(o.Trace[0].Value, 1) {
		t.Errorf("%v", o.Trace)
	}
}
