package pretext

import (
	"context"
	"errors"
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"
	"ssdl/methods"
)

func TestDegenerateInputs(t *testing.T) {
	base := clusters(30, 6, 3, 0.3, 10)
	pick := func(columns ...int) methods.Problem {
		q := base
		q.X, q.Labels = methods.Columns(base.X, columns), make([]int, len(columns))
		for i, j := range columns {
			q.Labels[i] = base.Labels[j]
		}
		return q
	}
	with := func(edit func(p *methods.Problem)) methods.Problem {
		q := base
		q.X, q.Labels = mat.DenseCopyOf(base.X), slices.Clone(base.Labels)
		edit(&q)
		return q
	}
	problems := map[string]methods.Problem{
		"one sample":        pick(0),
		"two samples":       pick(0, 1),
		"fewer than k":      pick(0, 1, 2, 3),
		"copies":            pick(0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1, 5, 6, 7),
		"only copies":       pick(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0),
		"two equal halves":  pick(0, 3, 6, 9, 12, 15, 18, 0, 3, 6, 9, 12, 15, 18),
		"everything known":  with(func(p *methods.Problem) { copy(p.Labels, base.Labels); knowAll(p) }),
		"one class":         with(func(p *methods.Problem) { p.Classes = 1; oneClass(p) }),
		"class without any": with(func(p *methods.Problem) { p.Classes = 5 }),
		"zero columns": with(func(p *methods.Problem) {
			for i := range 6 {
				p.X.Set(i, 0, 0)
				p.X.Set(i, 7, 0)
			}
		}),
		"all zero": with(func(p *methods.Problem) { p.X.Zero() }),
	}
	for name, p := range problems {
		var pretexts []methods.Pretext
		for _, graph := range []string{"knn", "rbf"} {
			pretexts = append(pretexts, GL{K: 5, Graph: graph, Lambda: 0.1, Fill: 0.5})
		}
		for _, bandwidth := range []string{"unit", "mean", "knn"} {
			pretexts = append(pretexts, HL{K: 5, Bandwidth: bandwidth, Lambda: 0.1, Fill: 0.5, Shift: 0.1})
		}
		for _, operator := range []string{"edge", "excess", "vertex", "literal"} {
			for _, power := range []float64{1.01, 2, 2.2} {
				m := defaultPAHL()
				m.Operator, m.P = operator, power
				pretexts = append(pretexts, m)
				m.Deflate, m.Step = true, "armijo"
				pretexts = append(pretexts, m)
			}
		}
		for _, m := range pretexts {
			F, err := m.PseudoLabels(t.Context(), p)
			if err != nil {
				t.Errorf("%s: %+v: %v", name, m, err)
				continue
			}
			if err := methods.CheckFinite("test", "F", F.F); err != nil {
				t.Errorf("%s: %+v: %v", name, m, err)
			}
			scores, err := F.Score(t.Context(), base.X)
			if err != nil {
				t.Errorf("%s: %+v: %v", name, m, err)
				continue
			}
			if err := methods.CheckFinite("test", "scores", scores); err != nil {
				t.Errorf("%s: %+v: %v", name, m, err)
			}
			if name == "class without any" {
				for _, c := range []int{3, 4} {
					if mat.Norm(F.F.Slice(c, c+1, 0, len(p.Labels)), 1) != 0 {
						t.Errorf("%+v: class %d has no labels, but a row that is not 0", m, c)
					}
				}
			}
		}
	}
	// A single sample keeps its label.
	if F := labels(t, HL{K: 5, Bandwidth: "unit", Lambda: 0.1, Fill: 0.5}, problems["one sample"]); math.Abs(F.At(base.Labels[0], 0)-1) > 1e-12 {
		t.Errorf("F of a single sample is %v", mat.Formatted(F))
	}
}

func knowAll(p *methods.Problem) {
	for j := range p.Labels {
		p.Labels[j] = j % p.Classes
	}
}

func oneClass(p *methods.Problem) {
	for j, y := range p.Labels {
		if y != methods.Unlabeled {
			p.Labels[j] = 0
		}
	}
}

func TestErrors(t *testing.T) {
	p := clusters(30, 6, 3, 0.3, 11)
	nan := p
	nan.X = mat.DenseCopyOf(p.X)
	nan.X.Set(2, 3, math.NaN())
	none := p
	none.Labels = slices.Repeat([]int{methods.Unlabeled}, 30)
	good := HL{K: 5, Bandwidth: "unit", Lambda: 0.1, Fill: 0.5}
	for _, m := range []methods.Pretext{good, GL{K: 5, Graph: "knn", Lambda: 0.1}, defaultPAHL()} {
		for _, q := range []methods.Problem{nan, none} {
			if _, err := m.PseudoLabels(t.Context(), q); !errors.Is(err, methods.ErrInput) {
				t.Errorf("%T: error %v, want ErrInput", m, err)
			}
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := m.PseudoLabels(ctx, p); !errors.Is(err, context.Canceled) {
			t.Errorf("%T: error %v, want Canceled", m, err)
		}
		F, err := m.PseudoLabels(t.Context(), p)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := F.Score(t.Context(), mat.NewDense(5, 2, nil)); !errors.Is(err, methods.ErrInput) {
			t.Errorf("%T: scoring five features of six: %v, want ErrInput", m, err)
		}
	}
	// Conjugate gradients must not accept what they cannot solve.
	h := hypergraph(t, p.X, 5)
	l := HL{}.Laplacian(h)
	negative := Laplacian{N: l.N, Top: 1, Apply: func(dst, Y *mat.Dense) { dst.Scale(-1, Y) }}
	if _, err := negative.Solve(t.Context(), "hl", initialLabels(p, 0.5), 0.5); err == nil {
		t.Error("a negative operator was solved")
	}
	skew := Laplacian{N: l.N, Top: 1, Apply: func(dst, Y *mat.Dense) {
		l.Apply(dst, Y)
		dst.Set(0, 0, dst.At(0, 0)+Y.At(1, 0))
	}}
	if _, err := skew.Solve(t.Context(), "hl", initialLabels(p, 0.5), 0.1); err == nil {
		t.Error("an operator that is not symmetric was solved")
	}
}
