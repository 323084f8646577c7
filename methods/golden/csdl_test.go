package golden

import (
	"context"
	"testing"

	"gonum.org/v1/gonum/mat"

	"ssdl/methods"
	"ssdl/methods/catalog"
	"ssdl/methods/dictionary"
)

func init() { handle("CSDL", goldenCSDL) }

// csdlSplit returns the columns of each class, and the blocks of as many columns of D; none
// for a class without samples.
func csdlSplit(t *testing.T, X *mat.Dense, y []int, D *mat.Dense, classes int) (Xc, Dc []*mat.Dense) {
	t.Helper()
	members := make([][]int, classes)
	for j, c := range y {
		members[c] = append(members[c], j)
	}
	_, k := D.Dims()
	if k%classes != 0 {
		t.Fatalf("%d atoms are no equal number for each of %d classes", k, classes)
	}
	Xc, Dc = make([]*mat.Dense, classes), make([]*mat.Dense, classes)
	for c, idx := range members {
		if len(idx) == 0 {
			continue
		}
		Xc[c] = methods.Columns(X, idx)
		block := make([]int, k/classes)
		for i := range block {
			block[i] = c*len(block) + i
		}
		Dc[c] = methods.Columns(D, block)
	}
	return Xc, Dc
}

// csdlClasses returns the number of classes: that of the blocks of D where the file says how
// many atoms each has, else that of the rows of any matrix with one for each.
func csdlClasses(t *testing.T, y []int, D dictRows, par fields, atoms string, perClass ...dictRows) int {
	t.Helper()
	classes := dictClassCount(y, perClass...)
	if m, ok := field[int](t, par, atoms); ok && m > 0 && len(D[0])%m == 0 {
		classes = max(classes, len(D[0])/m)
	}
	return classes
}

// csdlCodes compares the codes of the classes with want, which has a block of rows for each
// class: in column j that of sample j of the class (it ignores further columns), or,
// with a column for each sample, that of sample j where it is of the class.
func csdlCodes(t *testing.T, S []*mat.Dense, y []int, want dictRows, tol float64) {
	t.Helper()
	if !has(t, "codes", len(want) > 0) {
		return
	}
	if len(want[0]) == len(y) {
		dictNear(t, "codes", pairCodes(S, y), want, tol)
		return
	}
	rows := 0
	for c, s := range S {
		if s == nil {
			continue
		}
		k, n := s.Dims()
		if len(want) < rows+k {
			t.Fatalf("codes have %d rows, want more", len(want))
		}
		block := make(dictRows, k)
		for i := range block {
			if len(want[rows+i]) < n {
				t.Fatalf("the codes of class %d have %d columns, want %d", c, len(want[rows+i]), n)
			}
			block[i] = want[rows+i][:n]
		}
		dictNear(t, "codes", s, block, tol)
		rows += k
	}
	if rows != len(want) {
		t.Errorf("codes have %d rows, want %d", len(want), rows)
	}
}

// csdlSideBySide puts matrices of one height side by side; stacked puts them below each other.
func csdlSideBySide(M []*mat.Dense) *mat.Dense {
	return csdlJoined(M, (*mat.Dense).Augment)
}

// csdlJoined leaves out what is nil.
func csdlJoined(M []*mat.Dense, join func(to *mat.Dense, a, b mat.Matrix)) *mat.Dense {
	var out *mat.Dense
	for _, m := range M {
		switch {
		case out == nil:
			out = m
		case m != nil:
			var all mat.Dense
			join(&all, out, m)
			out = &all
		}
	}
	return out
}

func csdlStacked(M []*mat.Dense) *mat.Dense { return csdlJoined(M, (*mat.Dense).Stack) }

func goldenCSDL(t *testing.T, raw []byte) {
	type state struct{ D, Codes dictRows }
	var file struct {
		Params fields
		Inputs struct {
			X, Xt dictRows
			Y     []int
		}
		Init         struct{ D0 dictRows }
		Iter1, IterT state
		Objective    []float64
		Test         struct {
			Codes, Residuals dictRows
			Pred             []int
		}
	}
	dictParse(t, raw, &file)
	ctx, in := context.Background(), file.Inputs
	need(t, "X, y and D0", len(in.X) > 0 && len(in.Y) > 0 && len(file.Init.D0) > 0)
	file.Params.fixed(t, "zero_replacement", 1e-16)
	values := catalog.Values{"alpha": file.Params.number(t, "alpha"), "tau": file.Params.number(t, "tau"), "mode": "reference"}
	classes := csdlClasses(t, in.Y, file.Init.D0, file.Params, "nBases", file.Test.Residuals)
	X, start := csdlSplit(t, in.X.dense(), in.Y, file.Init.D0.dense(), classes)
	train := func(iterations int, want state, series []float64, tol float64) []*mat.Dense {
		trace, objective := dictSeries("objective")
		values["iterations"] = iterations
		D, S, err := build[dictionary.CSDL](t, "csdl", values).Train(ctx, X, start, trace)
		if err != nil {
			t.Fatal(err)
		}
		dictNear(t, "D", csdlSideBySide(D), want.D, tol)
		csdlCodes(t, S, in.Y, want.Codes, tol)
		dictNearSeries(t, "objective", objective, 1, series, tol)
		return D
	}
	train(1, file.Iter1, dictUpTo(file.Objective, 1), dictFirst)
	iterations, ok := field[int](t, file.Params, "iters")
	if !has(t, "iters", ok) {
		return
	}
	D := train(iterations, file.IterT, file.Objective, dictLast)
	if !has(t, "Xt", len(in.Xt) > 0) {
		return
	}
	model, Xt := build[dictionary.CSDL](t, "csdl", values).Model(D, nil), in.Xt.dense()
	dictNear(t, "test codes", reprMust[*mat.Dense](t)(model.Codes(ctx, Xt)), file.Test.Codes, dictLast)
	dictNear(t, "residuals", reprMust[*mat.Dense](t)(model.Residuals(ctx, Xt)), file.Test.Residuals, dictLast)
	dictSameLabels(t, reprMust[[]int](t)(model.Predict(ctx, Xt)), file.Test.Pred)
}
