package golden

import (
	"context"
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"ssdl/methods"
	"ssdl/methods/catalog"
	"ssdl/methods/dictionary"
)

func init() { handle("LEDL", goldenLEDL) }

// ledlClasses reads the class of each atom off Q (K x N), which has a 1 where atom and sample
// agree in class. An atom of no sample's class gets one without samples.
func ledlClasses(t *testing.T, Q dictRows, y []int, k, classes int) []int {
	t.Helper()
	if len(Q) != k {
		t.Fatalf("Q has %d rows, want %d", len(Q), k)
	}
	empty := -1
	for c := range classes {
		if !slices.Contains(y, c) {
			empty = c
		}
	}
	out := make([]int, k)
	for i := range out {
		out[i] = empty
		for n, v := range Q[i] {
			if v == 1 {
				out[i] = y[n]
			}
		}
		if out[i] < 0 {
			t.Fatalf("atom %d has no class in Q", i)
		}
		for n, v := range Q[i] {
			if (v == 1) != (y[n] == out[i]) || v != 0 && v != 1 {
				t.Fatalf("Q has %g for atom %d and sample %d; want 1 where the classes agree and 0 elsewhere", v, i, n)
			}
		}
	}
	return out
}

// ledlConstants are what LEDL does not let choose.
func ledlConstants(t *testing.T, par fields) {
	t.Helper()
	for _, name := range []string{"gd", "gd_test"} {
		par.fixed(t, name, 0.5)
	}
	for _, name := range []string{"gd_decay", "decay"} {
		par.fixed(t, name, 0.99)
	}
	par.fixed(t, "min_gd", 1e-4)
}

// visible is omega, or for 0 the smallest number above it: A decides nothing then and LEDL does not update it, but
// the references do, and their files have it.
func visible(omega float64) float64 { return max(omega, math.SmallestNonzeroFloat64) }

func goldenLEDL(t *testing.T, raw []byte) {
	type state struct{ D, W, A, C, Z, Delta dictRows }
	var file struct {
		Params fields
		Inputs struct {
			X, Q, Xt dictRows
			Y        []int
		}
		Init         struct{ D0, W0, A0 dictRows }
		Iter1, IterT state
		Objective    []float64
		Test         struct {
			C, Z, Scores dictRows
			Pred         []int
		}
	}
	dictParse(t, raw, &file)
	ctx, par, in := context.Background(), file.Params, file.Inputs
	need(t, "X, y and Q", len(in.X) > 0 && len(in.Y) > 0 && len(in.Q) > 0)
	need(t, "D0, W0 and A0", len(file.Init.D0) > 0 && len(file.Init.W0) > 0 && len(file.Init.A0) > 0)
	ledlConstants(t, par)
	values := catalog.Values{
		"lambda": par.number(t, "lambda"), "omega": visible(par.number(t, "omega")), "epsilon": par.number(t, "epsilon"), "rho": par.number(t, "rho"),
	}
	m := build[dictionary.LEDL](t, "ledl", values)
	iterations, all := field[int](t, par, "iters")
	if !has(t, "iters", all) {
		iterations = 1
	}
	classes := dictClassCount(in.Y, file.Init.W0)
	start := dictionary.LEDLStart{D: file.Init.D0.dense(), W: file.Init.W0.dense(), A: file.Init.A0.dense()}
	_, k := start.D.Dims()
	par.agrees(t, "K", k)
	start.Class = ledlClasses(t, in.Q, in.Y, k, classes)
	s := m.Steps(in.X.dense(), methods.OneHot(in.Y, classes, 0), start)
	compare := func(name string, want state, tol float64) {
		dictNear(t, name+": D", s.D(), want.D, tol)
		dictNear(t, name+": W", s.W(), want.W, tol)
		dictNear(t, name+": A", s.A(), want.A, tol)
		dictNear(t, name+": C", s.S, want.C, tol)
		dictNear(t, name+": Z", s.Z, want.Z, tol)
		dictNear(t, name+": delta", s.Delta, want.Delta, tol)
	}
	objective := map[int]float64{}
	for it := 1; it <= iterations; it++ {
		if err := s.Iterate(ctx); err != nil {
			t.Fatal(err)
		}
		objective[it] = s.Objective()
		if it == 1 {
			compare("after 1", file.Iter1, dictFirst)
		}
	}
	dictNearSeries(t, "objective", objective, 1, dictUpTo(file.Objective, 1), dictFirst)
	if !all {
		return
	}
	compare("at the end", file.IterT, dictLast)
	dictNearSeries(t, "objective", objective, 1, file.Objective, dictLast)
	epsilon, tested := field[float64](t, par, "eps_test")
	passes, limited := field[int](t, par, "iters_test")
	if !has(t, "Xt, eps_test and iters_test", len(in.Xt) > 0 && tested && limited) {
		return
	}
	values["test_epsilon"], values["test_iterations"] = epsilon, passes
	m = build[dictionary.LEDL](t, "ledl", values)
	par.fixed(t, "rho_test", m.Rho)
	known := make([]bool, classes)
	for _, c := range in.Y {
		known[c] = true
	}
	model, err := m.Model(s, known)
	if err != nil {
		t.Fatal(err)
	}
	Xt := in.Xt.dense()
	S, Z, err := model.Codes(ctx, Xt)
	if err != nil {
		t.Fatal(err)
	}
	dictNear(t, "test C", S, file.Test.C, dictLast)
	dictNear(t, "test Z", Z, file.Test.Z, dictLast)
	scores := reprMust[*mat.Dense](t)(model.Scores(ctx, Xt))
	dictNear(t, "scores", scores, file.Test.Scores, dictLast)
	dictSameLabels(t, reprMust[[]int](t)(model.Predict(ctx, Xt)), file.Test.Pred)
}
