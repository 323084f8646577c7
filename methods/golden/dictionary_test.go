package golden

import (
	"context"
	"encoding/json"
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"

	"ssdl/methods"
	"ssdl/methods/catalog"
	"ssdl/methods/dictionary"
	"ssdl/methods/linalg"
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

// dictRows is a matrix as the files have it.
type dictRows = pretextRows

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
	S, err := sparse.OMP(context.Background(), linalg.Gram(D), &R, sparsity)
	if err != nil {
		t.Fatal(err)
	}
	return S
}

func goldenOMP(t *testing.T, raw []byte) {
	var file struct {
		Params  fields
		Inputs  struct{ X, D dictRows }
		Outputs struct{ Codes dictRows }
	}
	dictParse(t, raw, &file)
	in := file.Inputs
	need(t, "X, D and codes", len(in.X) > 0 && len(in.D) > 0 && len(file.Outputs.Codes) > 0)
	S := dictCode(t, in.D.dense(), in.X.dense(), file.Params.count(t, "T"))
	dictNear(t, "codes", S, file.Outputs.Codes, dictFirst)
}

// ksvdConstants are the rules of the clean-up, which KSVD does not let choose.
func ksvdConstants(t *testing.T, par fields) {
	t.Helper()
	par.fixed(t, "muthresh", 0.99)
	par.fixed(t, "use_thresh", 4)
}

func goldenKSVD(t *testing.T, raw []byte) {
	type state struct{ D, Codes dictRows }
	var file struct {
		Params       fields
		Inputs       struct{ X, D0, Xt dictRows }
		Init         struct{ D0 dictRows }
		Iter1, IterT state
		Objective    []float64
		Test         struct{ Codes dictRows }
	}
	dictParse(t, raw, &file)
	if len(file.Inputs.D0) == 0 {
		file.Inputs.D0 = file.Init.D0
	}
	need(t, "X and D0", len(file.Inputs.X) > 0 && len(file.Inputs.D0) > 0)
	X, D0 := file.Inputs.X.dense(), file.Inputs.D0.dense()
	sparsity := file.Params.count(t, "T")
	ksvdConstants(t, file.Params)
	run := func(iterations int, want state, objective []float64, tol float64) *mat.Dense {
		trace, rmse := dictSeries("rmse")
		D, S, err := dictionary.KSVD(context.Background(), X, D0, sparsity, iterations, trace)
		if err != nil {
			t.Fatal(err)
		}
		dictNearSeries(t, "rmse", rmse, 1, objective, tol)
		dictNear(t, "D", D, want.D, tol)
		dictNear(t, "codes", S, want.Codes, tol)
		return D
	}
	run(1, file.Iter1, dictUpTo(file.Objective, 1), dictFirst)
	iterations, ok := field[int](t, file.Params, "iters")
	if !has(t, "iters", ok) {
		return
	}
	D := run(iterations, file.IterT, file.Objective, dictLast)
	if has(t, "Xt", len(file.Inputs.Xt) > 0) {
		dictNear(t, "test codes", dictCode(t, D, file.Inputs.Xt.dense(), sparsity), file.Test.Codes, dictLast)
	}
}

// dictUpTo returns the first n values, or all where there are fewer.
func dictUpTo(v []float64, n int) []float64 { return v[:min(n, len(v))] }

// goldenLabelKSVD checks D-KSVD (variant 0) and LC-KSVD1 and 2.
func goldenLabelKSVD(t *testing.T, raw []byte, variant int) {
	type state struct{ D, W, T, Codes dictRows }
	var file struct {
		Params fields
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
	ctx, par, init := context.Background(), file.Params, file.Init
	need(t, "X and y", len(file.Inputs.X) > 0 && len(file.Inputs.Y) > 0)
	p := methods.Problem{X: file.Inputs.X.dense(), Labels: file.Inputs.Y}
	p.Classes = dictClassCount(p.Labels, init.W0, file.Iter1.W, file.IterT.W, file.Test.Scores)
	ksvdConstants(t, par)
	sparsity := par.count(t, "sparsity")
	atoms, ok := field[int](t, par, "K")
	if !ok {
		need(t, "K or D0", len(init.D0) > 0)
		atoms = len(init.D0[0])
	}
	passes, compare := field[int](t, par, "iters_init")
	if !has(t, "iters_init", compare) {
		need(t, "iters_init, nor D0 and W0", len(init.D0) > 0 && len(init.W0) > 0)
		passes = 1 // the classes of the atoms are wanted only
	}

	start, err := dictionary.StartKSVD(ctx, p, float64(atoms), sparsity, passes)
	if err != nil {
		t.Fatal(err)
	}
	spread := func(T *mat.Dense) *mat.Dense { // from a row for each class to a row for each atom
		_, k := T.Dims()
		out := mat.NewDense(len(start.Class), k, nil)
		for k, c := range start.Class {
			out.SetRow(k, T.RawRowView(c))
		}
		return out
	}
	if compare {
		dictNear(t, "D0", start.D, init.D0, dictLast)
		dictNear(t, "W0", start.W, init.W0, dictLast)
		dictNear(t, "T0", spread(start.W), init.T0, dictLast)
	}
	dictNear(t, "Q", spread(methods.OneHot(p.Labels, p.Classes, 0)), init.Q, 0)
	if len(init.D0) > 0 {
		start.D = init.D0.dense()
	}
	if len(init.W0) > 0 {
		start.W = init.W0.dense()
	}
	if _, k := start.D.Dims(); k != len(start.Class) {
		t.Fatalf("D0 has %d atoms, want %d", k, len(start.Class))
	}

	values := catalog.Values{"sparsity": sparsity}
	if variant != 1 {
		if values["sqrt_beta"], ok = field[float64](t, par, "sqrt_beta"); !has(t, "sqrt_beta", ok) {
			return
		}
	}
	if variant != 0 {
		values["variant"] = variant
		if values["sqrt_alpha"], ok = field[float64](t, par, "sqrt_alpha"); !has(t, "sqrt_alpha", ok) {
			return
		}
	}
	run := func(iterations int, want state, objective []float64, tol float64) *dictionary.KSVDModel {
		trace, rmse := dictSeries("rmse")
		p.Trace = trace
		values["iterations"] = iterations
		var m *dictionary.KSVDModel
		var S *mat.Dense
		if variant == 0 {
			m, S, err = build[dictionary.DKSVD](t, "dksvd", values).Train(ctx, p, start)
		} else {
			m, S, err = build[dictionary.LCKSVD](t, "lcksvd", values).Train(ctx, p, start)
		}
		if err != nil {
			t.Fatal(err)
		}
		dictNearSeries(t, "rmse", rmse, 1, objective, tol)
		dictNear(t, "D", m.D, want.D, tol)
		dictNear(t, "W", m.W, want.W, tol)
		dictNear(t, "codes", S, want.Codes, tol)
		if variant > 0 {
			dictNear(t, "T", spread(m.T), want.T, tol)
		}
		return m
	}
	run(1, file.Iter1, dictUpTo(file.Objective, 1), dictFirst)
	iterations, ok := field[int](t, par, "iters")
	if !has(t, "iters", ok) {
		return
	}
	m := run(iterations, file.IterT, file.Objective, dictLast)
	if !has(t, "Xt", len(file.Inputs.Xt) > 0) {
		return
	}
	Xt := file.Inputs.Xt.dense()
	dictNear(t, "scores", reprMust[*mat.Dense](t)(m.Scores(ctx, Xt)), file.Test.Scores, dictLast)
	dictSameLabels(t, reprMust[[]int](t)(m.Predict(ctx, Xt)), file.Test.Pred)
}

// dictClassCount is the number of classes: that of the rows of any matrix with one for
// each class, and more than every label.
func dictClassCount(y []int, perClass ...dictRows) int {
	classes := 0
	for _, c := range y {
		classes = max(classes, c+1)
	}
	for _, m := range perClass {
		classes = max(classes, len(m))
	}
	return classes
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
		Params fields
		Inputs struct {
			X, F, Xt dictRows
			Y        []int
		}
		Init         struct{ D0, B0 dictRows }
		Sphere, Ball model
		Elementary   []float64 `json:"elementary_objective_trace_ball_iter1"`
	}
	dictParse(t, raw, &file)
	ctx, in := context.Background(), file.Inputs
	need(t, "X and F", len(in.X) > 0 && len(in.F) > 0)
	need(t, "D0 and B0", len(file.Init.D0) > 0 && len(file.Init.B0) > 0)
	X, F := in.X.dense(), in.F.dense()
	D0, B0 := file.Init.D0.dense(), file.Init.B0.dense()
	values := catalog.Values{"alpha": file.Params.number(t, "alpha"), "gamma": file.Params.number(t, "gamma")}
	m := build[dictionary.SSDL](t, "ssdl", values)
	alpha, gamma := m.Alpha, m.Gamma
	file.Params.fixed(t, "sweeps_per_iteration", 1)
	file.Params.fixed(t, "dead_atom_tol", 1e-12)
	iterations, all := field[int](t, file.Params, "iters")
	has(t, "iters", all)
	if !all {
		iterations = 1
	}
	if len(in.Y) == 0 { // the predictions may then be of any class
		for c := range in.F {
			in.Y = append(in.Y, c)
		}
	}

	file.Params.agrees(t, "K", len(file.Init.D0[0]))
	check := func(name string, want model) {
		sphere := name == "sphere"
		s := dictionary.NewSteps(X, F, D0, B0, alpha, gamma, sphere)
		objective := map[int]float64{0: s.Objective()}
		for it := 1; it <= iterations; it++ {
			if err := s.Iterate(ctx); err != nil {
				t.Fatal(err)
			}
			objective[it] = s.Objective()
			if it == 1 {
				dictNear(t, name+": D after 1", s.D(), want.Iter1.D, dictFirst)
				dictNear(t, name+": B after 1", s.B(), want.Iter1.B, dictFirst)
				dictNear(t, name+": S after 1", s.S(), want.Iter1.S, dictFirst)
				if !sphere && file.Elementary != nil {
					dictElementary(t, X, F, D0, B0, s, alpha, gamma, file.Elementary)
				}
			}
		}
		dictNearSeries(t, name+": objective", objective, 0, dictUpTo(want.Objective, 2), dictFirst)
		if !all {
			return
		}
		dictNear(t, name+": D", s.D(), want.IterT.D, dictLast)
		dictNear(t, name+": B", s.B(), want.IterT.B, dictLast)
		dictNear(t, name+": S", s.S(), want.IterT.S, dictLast)
		dictNearSeries(t, name+": objective", objective, 0, want.Objective, dictLast)
		if !has(t, "Xt", len(in.Xt) > 0) {
			return
		}
		Xt := in.Xt.dense()

		var R, scores mat.Dense
		G := linalg.Gram(s.D())
		R.Mul(s.D().T(), Xt)
		k, m := R.Dims()
		S := mat.NewDense(k, m, nil)
		for range 20 {
			linalg.Sweep(S, G, &R, alpha)
		}
		dictNear(t, name+": codes after 20 sweeps", S, want.Test.After20, dictLast)
		S, report, err := sparse.Lasso{Lambda: alpha}.Solve(ctx, G, &R, linalg.ColumnSquares(Xt))
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%s: largest relative duality gap of a test code %.3g", name, report.WorstGap)
		dictNear(t, name+": converged codes", S, want.Test.Converged, dictCodesTol)
		scores.Mul(s.B(), S)
		dictNear(t, name+": scores", &scores, want.Test.Scores, dictCodesTol)

		// The files' predictions are those of the converged codes, for both norms.
		p := methods.Problem{X: X, Labels: in.Y, Classes: len(in.F)}
		predict := func(test string) []int {
			values["norm"], values["test"] = name, test
			model := build[dictionary.SSDL](t, "ssdl", values).Model(s, p)
			return reprMust[[]int](t)(model.Predict(ctx, Xt))
		}
		dictSameLabels(t, predict("exact"), want.Test.Pred)
		dictSameLabels(t, predict("sweeps"), dictSwept(s.D(), s.B(), Xt, alpha))
	}
	check("sphere", file.Sphere)
	check("ball", file.Ball)
}

// dictSwept classifies the columns of Xt by codes of at most 300 sweeps, which end when one
// lowers sum_j ||x_j - D s_j||^2 + 2 alpha |s_j|_1 by a millionth or less.
func dictSwept(D, B, Xt *mat.Dense, alpha float64) []int {
	var R, scores mat.Dense
	G := linalg.Gram(D)
	R.Mul(D.T(), Xt)
	k, m := R.Dims()
	S := mat.NewDense(k, m, nil)
	last := mat.Norm(Xt, 2) * mat.Norm(Xt, 2)
	for range 300 {
		linalg.Sweep(S, G, &R, alpha)
		var e mat.Dense
		e.Mul(D, S)
		e.Sub(Xt, &e)
		norm := mat.Norm(&e, 2)
		f := norm * norm
		for i := range k {
			for _, v := range S.RawRowView(i) {
				f += 2 * alpha * math.Abs(v)
			}
		}
		if last-f <= 1e-6*last {
			break
		}
		last = f
	}
	scores.Mul(B, S)
	out := make([]int, m)
	for j := range out {
		for c := range mat.Col(nil, j, &scores) {
			if scores.At(c, j) > scores.At(out[j], j) {
				out[j] = c
			}
		}
	}
	return out
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
