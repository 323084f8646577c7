package golden

import (
	"context"
	"testing"

	"gonum.org/v1/gonum/mat"

	"ssdl/methods"
	"ssdl/methods/dictionary"
)

func init() { handle("LEDL", goldenLEDL) }

// ledlClasses reads the class of each atom off Q (K x N): that of a sample it has a 1 for.
func ledlClasses(t *testing.T, Q dictRows, y []int, k int) []int {
	t.Helper()
	out := make([]int, k)
	for i := range out {
		out[i] = -1
		for n, v := range Q[i] {
			if v == 1 {
				out[i] = y[n]
			}
		}
		if out[i] < 0 {
			t.Fatalf("atom %d has no class in Q", i)
		}
	}
	return out
}

func ledlClassCount(y []int) int {
	classes := 0
	for _, c := range y {
		classes = max(classes, c+1)
	}
	return classes
}

func goldenLEDL(t *testing.T, raw []byte) {
	type state struct{ D, W, A, C, Z, Delta dictRows }
	var file struct {
		Params struct {
			Lambda, Omega, Epsilon, Rho float64
			Iters                       int
			EpsTest                     float64 `json:"eps_test"`
			ItersTest                   int     `json:"iters_test"`
		}
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
	ctx, par := context.Background(), file.Params
	m := dictionary.LEDL{
		Lambda: par.Lambda, Omega: par.Omega, Epsilon: par.Epsilon, TestEpsilon: par.EpsTest,
		Rho: par.Rho, Iterations: par.Iters, TestIterations: par.ItersTest,
	}
	classes := ledlClassCount(file.Inputs.Y)
	start := dictionary.LEDLStart{D: file.Init.D0.dense(), W: file.Init.W0.dense(), A: file.Init.A0.dense()}
	_, k := start.D.Dims()
	start.Class = ledlClasses(t, file.Inputs.Q, file.Inputs.Y, k)
	s := m.Steps(file.Inputs.X.dense(), methods.OneHot(file.Inputs.Y, classes, 0), start)
	compare := func(name string, want state, tol float64) {
		dictNear(t, name+": D", s.D(), want.D, tol)
		dictNear(t, name+": W", s.W(), want.W, tol)
		dictNear(t, name+": A", s.A(), want.A, tol)
		dictNear(t, name+": C", s.S, want.C, tol)
		dictNear(t, name+": Z", s.Z, want.Z, tol)
		dictNear(t, name+": delta", s.Delta, want.Delta, tol)
	}
	objective := map[int]float64{}
	for it := 1; it <= par.Iters; it++ {
		if err := s.Iterate(ctx); err != nil {
			t.Fatal(err)
		}
		objective[it] = s.Objective()
		if it == 1 {
			compare("after 1", file.Iter1, dictFirst)
		}
	}
	compare("at the end", file.IterT, dictLast)
	dictNearSeries(t, "objective", objective, 1, file.Objective, dictLast)
	known := make([]bool, classes)
	for _, c := range file.Inputs.Y {
		known[c] = true
	}
	model, err := m.Model(s, known)
	if err != nil {
		t.Fatal(err)
	}
	Xt := file.Inputs.Xt.dense()
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
