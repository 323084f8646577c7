package golden

import (
	"context"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"ssdl/methods"
	"ssdl/methods/catalog"
	"ssdl/methods/dictionary"
)

func init() { handle("DPL", goldenDPL) }

// pairProblem is the problem of a file.
func pairProblem(X dictRows, y []int, classes int, trace methods.Trace) methods.Problem {
	return methods.Problem{X: X.dense(), Labels: y, Classes: classes, Trace: trace}
}

// pairBlocks is the start of a file: the atoms of each class side by side, as many for each,
// or those that atomClass has. A class without samples has none.
func pairBlocks(t *testing.T, D, P dictRows, y, atomClass []int, classes int) dictionary.Pairs {
	t.Helper()
	d, p := D.dense(), P.dense()
	dim, k := d.Dims()
	if atomClass == nil {
		if k%classes != 0 {
			t.Fatalf("%d atoms are no equal number for each of %d classes", k, classes)
		}
		for i := range k {
			atomClass = append(atomClass, i/(k/classes))
		}
	}
	if len(atomClass) != k || !slices.IsSorted(atomClass) {
		t.Fatalf("atom_class has %d entries, want %d, ascending", len(atomClass), k)
	}
	var out dictionary.Pairs
	for c := range classes {
		lo, _ := slices.BinarySearch(atomClass, c)
		hi, _ := slices.BinarySearch(atomClass, c+1)
		if lo == hi || !slices.Contains(y, c) {
			out.D, out.P = append(out.D, nil), append(out.P, nil)
			continue
		}
		out.D = append(out.D, mat.DenseCopyOf(d.Slice(0, dim, lo, hi)))
		out.P = append(out.P, mat.DenseCopyOf(p.Slice(lo, hi, 0, dim)))
	}
	return out
}

// pairCodes puts the codes of the classes into the blocks of a K x N matrix.
func pairCodes(S []*mat.Dense, y []int) *mat.Dense {
	k := 0
	for _, s := range S {
		if s != nil {
			rows, _ := s.Dims()
			k += rows
		}
	}
	out := mat.NewDense(k, len(y), nil)
	at := 0
	for c, s := range S {
		if s == nil {
			continue
		}
		rows, _ := s.Dims()
		i := 0
		for j, label := range y {
			if label == c {
				for r := range rows {
					out.Set(at+r, j, s.At(r, i))
				}
				i++
			}
		}
		at += rows
	}
	return out
}

func goldenDPL(t *testing.T, raw []byte) {
	type state struct{ D, P, A dictRows }
	var file struct {
		Params fields
		Inputs struct {
			X, Xt     dictRows
			Y         []int
			AtomClass []int `json:"atom_class"`
		}
		Init         struct{ D0, P0, A0 dictRows }
		Iter1, IterT state
		Objective    []float64
		Test         struct {
			Residuals dictRows
			Pred      []int
		}
	}
	dictParse(t, raw, &file)
	ctx, par, in := context.Background(), file.Params, file.Inputs
	need(t, "X and y", len(in.X) > 0 && len(in.Y) > 0)
	need(t, "D0 and P0", len(file.Init.D0) > 0 && len(file.Init.P0) > 0)
	if admm, ok := field[fields](t, par, "admm"); ok {
		admm.fixed(t, "rho0", 1)
		admm.fixed(t, "rate", 1.2)
		admm.fixed(t, "tol", 1e-8)
		admm.fixed(t, "max_iter", 99)
	}
	m := build[dictionary.DPL](t, "dpl", catalog.Values{"tau": par.number(t, "tau"), "lambda": par.number(t, "lambda"), "gamma": par.number(t, "gamma")})
	classes := csdlClasses(t, in.Y, file.Init.D0, par, "m", file.Test.Residuals)
	run := func(iterations int, want state, series []float64, tol float64) dictionary.Pairs {
		trace, objective := dictSeries("objective")
		m.Iterations = iterations // 0 for the codes of the start alone
		p := pairProblem(in.X, in.Y, classes, trace)
		pairs, A, err := m.Train(ctx, p, pairBlocks(t, file.Init.D0, file.Init.P0, in.Y, in.AtomClass, classes))
		if err != nil {
			t.Fatal(err)
		}
		dictNear(t, "D", csdlSideBySide(pairs.D), want.D, tol)
		dictNear(t, "P", csdlStacked(pairs.P), want.P, tol)
		dictNear(t, "A", pairCodes(A, in.Y), want.A, tol)
		dictNearSeries(t, "objective", objective, 0, series, tol)
		return pairs
	}
	run(0, state{A: file.Init.A0}, dictUpTo(file.Objective, 1), dictFirst)
	run(1, file.Iter1, dictUpTo(file.Objective, 2), dictFirst)
	iterations, ok := field[int](t, par, "iters")
	if !has(t, "iters", ok) {
		return
	}
	pairs := run(iterations, file.IterT, file.Objective, dictLast)
	if !has(t, "Xt", len(in.Xt) > 0) {
		return
	}
	model := dictionary.NewPairModel("dpl", pairs, nil)
	Xt := in.Xt.dense()
	dictNear(t, "residuals", reprMust[*mat.Dense](t)(model.Residuals(ctx, Xt)), file.Test.Residuals, dictLast)
	dictSameLabels(t, reprMust[[]int](t)(model.Predict(ctx, Xt)), file.Test.Pred)
}
