package golden

import (
	"context"
	"encoding/json"
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"

	"ssdl/methods"
	"ssdl/methods/dense"
	"ssdl/methods/dictionary"
	"ssdl/methods/sparse"
)

func init() {
	handle("OMP", goldenOMP)
	handle("K-SVD", goldenKSVD)
	handle("D-KSVD", func(t *testing.T, raw []byte) { goldenLabelKSVD(t, raw, 0) })
	handle("LC-KSVD1", func(t *testing.T, raw []byte) { goldenLabelKSVD(t, raw, 1) })
	handle("LC-KSVD2", func(t *testing.T, raw []byte) { goldenLabelKSVD(t, raw, 2) })
	handle("SSDL dictionary step", goldenSSDL)
}

// Tolerances, relative to the largest entry expected where that is above 1.
const (
	dictFirst    = 1e-9 // after one iteration
	dictLast     = 1e-6 // after all iterations
	dictCodesTol = 1e-5 // the file's converged codes have a KKT residual of 1e-7
)

// rows is a matrix as the files have it.
type dictRows [][]float64

func (m dictRows) dense() *mat.Dense {
	out := mat.NewDense(len(m), len(m[0]), nil)
	for i, row := range m {
		out.SetRow(i, row)
	}
	return out
}

func dictNear(t *testing.T, what string, got mat.Matrix, want dictRows, tol float64) {
	t.Helper()
	if len(want) == 0 { // small files leave some out
		t.Logf("%s: the file has none", what)
		return
	}
	rows, cols := got.Dims()
	if rows != len(want) || cols != len(want[0]) {
		t.Fatalf("%s is %d x %d, want %d x %d", what, rows, cols, len(want), len(want[0]))
	}
	scale, worst := 1.0, 0.0
	for i, row := range want {
		for j, v := range row {
			scale = max(scale, math.Abs(v))
			worst = max(worst, math.Abs(got.At(i, j)-v))
		}
	}
	if !(worst <= tol*scale) {
		t.Errorf("%s is off by %.3g, want at most %.3g", what, worst, tol*scale)
	}
}

// dictNearSeries compares the traced values of iterations first, first+1, ... with want.
func dictNearSeries(t *testing.T, what string, got map[int]float64, first int, want []float64, tol float64) {
	t.Helper()
	if len(want) == 0 { // small files leave some out
		t.Logf("%s: the file has none", what)
		return
	}
	for i, v := range want {
		g, ok := got[first+i]
		if !ok || !(math.Abs(g-v) <= tol*max(1, math.Abs(v))) {
			t.Errorf("%s[%d] is %.17g (present: %t), want %.17g", what, i, g, ok, v)
		}
	}
}

func dictSameLabels(t *testing.T, got, want []int) {
	t.Helper()
	if len(want) == 0 { // small files leave some out
		t.Log("predictions: the file has none")
		return
	}
	if len(got) != len(want) {
		t.Fatalf("%d predictions, want %d", len(got), len(want))
	}
	for j := range want {
		if got[j] != want[j] {
			t.Errorf("prediction %d is %d, want %d", j, got[j], want[j])
		}
	}
}

// dictSeries returns a Trace that collects the values of one name.
func dictSeries(name string) (methods.Trace, map[int]float64) {
	out := map[int]float64{}
	return func(n string, it int, v float64) {
		if n == name {
			out[it] = v
		}
	}, out
}

func dictParse(t *testing.T, raw []byte, into any) {
	t.Helper()
	if err := json.Unmarshal(raw, into); err != nil {
		t.Fatal(err)
	}
}

func dictCode(t *testing.T, D, X *mat.Dense, sparsity int) *mat.Dense {
	t.Helper()
	var R mat.Dense
	R.Mul(D.T(), X)
	S, err := sparse.OMP(context.Background(), dense.Gram(D), &R, sparsity)
	if err != nil {
		t.Fatal(err)
	}
	return S
}

func goldenOMP(t *testing.T, raw []byte) {
	var file struct {
		Params  struct{ T int }
		Inputs  struct{ X, D dictRows }
		Outputs struct{ Codes dictRows }
	}
	dictParse(t, raw, &file)
	S := dictCode(t, file.Inputs.D.dense(), file.Inputs.X.dense(), file.Params.T)
	dictNear(t, "codes", S, file.Outputs.Codes, dictFirst)
}

func goldenKSVD(t *testing.T, raw []byte) {
	type state struct{ D, Codes dictRows }
	var file struct {
		Params       struct{ T, Iters int }
		Inputs       struct{ X, D0, Xt dictRows }
		Iter1, IterT state
		Objective    []float64
		Test         struct{ Codes dictRows }
	}
	dictParse(t, raw, &file)
	X, D0 := file.Inputs.X.dense(), file.Inputs.D0.dense()
	run := func(iterations int, want state, tol float64) *mat.Dense {
		trace, rmse := dictSeries("rmse")
		D, S, err := dictionary.KSVD(context.Background(), X, D0, file.Params.T, iterations, trace)
		if err != nil {
			t.Fatal(err)
		}
		dictNearSeries(t, "rmse", rmse, 1, file.Objective[:iterations], tol)
		dictNear(t, "D", D, want.D, tol)
		dictNear(t, "codes", S, want.Codes, tol)
		return D
	}
	run(1, file.Iter1, dictFirst)
	D := run(file.Params.Iters, file.IterT, dictLast)
	dictNear(t, "test codes", dictCode(t, D, file.Inputs.Xt.dense(), file.Params.T), file.Test.Codes, dictLast)
}

// goldenLabelKSVD checks D-KSVD (variant 0) and LC-KSVD1 and 2.
func goldenLabelKSVD(t *testing.T, raw []byte, variant int) {
	type state struct{ D, W, T, Codes dictRows }
	var file struct {
		Params struct {
			K, Sparsity, Iters int
			ItersInit          int     `json:"iters_init"`
			SqrtAlpha          float64 `json:"sqrt_alpha"`
			SqrtBeta           float64 `json:"sqrt_beta"`
		}
		Inputs struct {
			X, Xt dictRows
			Y     []int
		}
		Init         struct{ D0, T0, W0, Q dictRows }
		Iter1, IterT state
		Objective    []float64
		Test         struct {
			Scores dictRows
			Pred   []int
		}
	}
	dictParse(t, raw, &file)
	ctx, par := context.Background(), file.Params
	p := methods.Problem{X: file.Inputs.X.dense(), Labels: file.Inputs.Y, Classes: len(file.Init.W0)}

	start, err := dictionary.StartKSVD(ctx, p, par.K, par.Sparsity, par.ItersInit)
	if err != nil {
		t.Fatal(err)
	}
	spread := func(T *mat.Dense) *mat.Dense { // from a row for each class to a row for each atom
		out := mat.NewDense(par.K, par.K, nil)
		for k, c := range start.Class {
			out.SetRow(k, T.RawRowView(c))
		}
		return out
	}
	dictNear(t, "D0", start.D, file.Init.D0, dictLast)
	dictNear(t, "W0", start.W, file.Init.W0, dictLast)
	if variant > 0 {
		dictNear(t, "T0", spread(start.W), file.Init.T0, dictLast)
		Q := mat.NewDense(par.K, len(p.Labels), nil)
		for k, c := range start.Class {
			Q.SetRow(k, methods.OneHot(p.Labels, p.Classes, 0).RawRowView(c))
		}
		dictNear(t, "Q", Q, file.Init.Q, 0)
	}
	start.D, start.W = file.Init.D0.dense(), file.Init.W0.dense()

	run := func(iterations int, want state, tol float64) *dictionary.KSVDModel {
		trace, rmse := dictSeries("rmse")
		p.Trace = trace
		train := dictionary.LCKSVD{
			Variant: variant, Sparsity: par.Sparsity, Iterations: iterations,
			SqrtAlpha: par.SqrtAlpha, SqrtBeta: par.SqrtBeta,
		}.Train
		if variant == 0 {
			train = dictionary.DKSVD{Sparsity: par.Sparsity, Iterations: iterations, SqrtBeta: par.SqrtBeta}.Train
		}
		m, S, err := train(ctx, p, start)
		if err != nil {
			t.Fatal(err)
		}
		dictNearSeries(t, "rmse", rmse, 1, file.Objective[:iterations], tol)
		dictNear(t, "D", m.D, want.D, tol)
		dictNear(t, "W", m.W, want.W, tol)
		dictNear(t, "codes", S, want.Codes, tol)
		if variant > 0 {
			dictNear(t, "T", spread(m.T), want.T, tol)
		}
		return m
	}
	run(1, file.Iter1, dictFirst)
	m := run(par.Iters, file.IterT, dictLast)
	Xt := file.Inputs.Xt.dense()
	scores, err := m.Scores(ctx, Xt)
	if err != nil {
		t.Fatal(err)
	}
	dictNear(t, "scores", scores, file.Test.Scores, dictLast)
	pred, err := m.Predict(ctx, Xt)
	if err != nil {
		t.Fatal(err)
	}
	dictSameLabels(t, pred, file.Test.Pred)
}

func goldenSSDL(t *testing.T, raw []byte) {
	type state struct{ D, B, S dictRows }
	type model struct {
		Iter1, IterT state
		Objective    []float64
		Test         struct {
			After20   dictRows `json:"codes_after_20_sweeps"`
			Converged dictRows `json:"codes_converged"`
			Scores    dictRows
			Pred      []int
		}
	}
	var file struct {
		Params struct {
			K, Iters     int
			Alpha, Gamma float64
		}
		Inputs struct {
			X, F, Xt dictRows
			Y        []int
		}
		Init         struct{ D0, B0 dictRows }
		Sphere, Ball model
		Elementary   []float64 `json:"elementary_objective_trace_ball_iter1"`
	}
	dictParse(t, raw, &file)
	ctx, par := context.Background(), file.Params
	X, F, Xt := file.Inputs.X.dense(), file.Inputs.F.dense(), file.Inputs.Xt.dense()
	D0, B0 := file.Init.D0.dense(), file.Init.B0.dense()

	check := func(name string, want model, norm, test string) {
		sphere := norm == "sphere"
		s := dictionary.NewSteps(X, F, D0, B0, par.Alpha, par.Gamma, sphere)
		objective := map[int]float64{0: s.Objective()}
		for it := 1; it <= par.Iters; it++ {
			if err := s.Iterate(ctx); err != nil {
				t.Fatal(err)
			}
			objective[it] = s.Objective()
			if it == 1 {
				dictNear(t, name+": D after 1", s.D(), want.Iter1.D, dictFirst)
				dictNear(t, name+": B after 1", s.B(), want.Iter1.B, dictFirst)
				dictNear(t, name+": S after 1", s.S(), want.Iter1.S, dictFirst)
				if !sphere && file.Elementary != nil {
					dictElementary(t, X, F, D0, B0, s, par.Alpha, par.Gamma, file.Elementary)
				}
			}
		}
		dictNear(t, name+": D", s.D(), want.IterT.D, dictLast)
		dictNear(t, name+": B", s.B(), want.IterT.B, dictLast)
		dictNear(t, name+": S", s.S(), want.IterT.S, dictLast)
		dictNearSeries(t, name+": objective", objective, 0, want.Objective[:min(2, len(want.Objective))], dictFirst)
		dictNearSeries(t, name+": objective", objective, 0, want.Objective, dictLast)

		var R, scores mat.Dense
		G := dense.Gram(s.D())
		R.Mul(s.D().T(), Xt)
		k, m := R.Dims()
		S := mat.NewDense(k, m, nil)
		for range 20 {
			dense.Sweep(S, G, &R, par.Alpha)
		}
		dictNear(t, name+": codes after 20 sweeps", S, want.Test.After20, dictLast)
		S, report, err := sparse.Lasso{Lambda: par.Alpha}.Solve(ctx, G, &R, dense.ColumnSquares(Xt))
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%s: largest relative duality gap of a test code %.3g", name, report.WorstGap)
		dictNear(t, name+": converged codes", S, want.Test.Converged, dictCodesTol)
		scores.Mul(s.B(), S)
		dictNear(t, name+": scores", &scores, want.Test.Scores, dictCodesTol)

		p := methods.Problem{X: X, Labels: file.Inputs.Y, Classes: len(file.Inputs.F)}
		pred, err := dictionary.SSDL{Norm: norm, Test: test, Alpha: par.Alpha, Gamma: par.Gamma}.Model(s, p).Predict(ctx, Xt)
		if err != nil {
			t.Fatal(err)
		}
		dictSameLabels(t, pred, want.Test.Pred)
	}
	check("sphere", file.Sphere, "sphere", "sweeps")
	check("ball", file.Ball, "ball", "exact")
}

// dictElementary checks the objective after each row of S, column of D and column of B of
// the first iteration. Updates are cyclic, so the state after k of K updates of one matrix
// has its first k rows (columns) new and the others old.
func dictElementary(t *testing.T, X, F, D0, B0 *mat.Dense, s *dictionary.Steps, alpha, gamma float64, want []float64) {
	t.Helper()
	D, B := mat.DenseCopyOf(D0), mat.DenseCopyOf(B0)
	k, n := s.S().Dims()
	S := mat.NewDense(k, n, nil)
	got := map[int]float64{}
	record := func() {
		var e, g mat.Dense
		e.Mul(D, S)
		e.Sub(X, &e)
		g.Mul(B, S)
		g.Sub(F, &g)
		l1 := 0.0
		for i := range k {
			for _, v := range S.RawRowView(i) {
				l1 += math.Abs(v)
			}
		}
		a, b := mat.Norm(&e, 2), mat.Norm(&g, 2)
		got[len(got)] = a*a + gamma*b*b + 2*alpha*l1
	}
	record()
	for i := range k {
		S.SetRow(i, s.S().RawRowView(i))
		record()
	}
	for i := range k {
		D.SetCol(i, mat.Col(nil, i, s.D()))
		record()
	}
	for i := range k {
		B.SetCol(i, mat.Col(nil, i, s.B()))
		record()
	}
	if len(got) != len(want) {
		t.Fatalf("%d elementary objectives, want %d", len(got), len(want))
	}
	dictNearSeries(t, "elementary objective", got, 0, want, dictFirst)
}
