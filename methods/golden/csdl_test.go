package golden

import (
	"context"
	"testing"

	"gonum.org/v1/gonum/mat"

	"ssdl/methods"
	"ssdl/methods/dictionary"
)

func init() { handle("CSDL", goldenCSDL) }

// csdlSplit returns the columns of each class, and the blocks of as many columns of D.
func csdlSplit(X *mat.Dense, y []int, D *mat.Dense) (Xc, Dc []*mat.Dense) {
	classes := ledlClassCount(y)
	members := make([][]int, classes)
	for j, c := range y {
		members[c] = append(members[c], j)
	}
	_, k := D.Dims()
	for c, idx := range members {
		Xc = append(Xc, methods.Columns(X, idx))
		block := make([]int, k/classes)
		for i := range block {
			block[i] = c*len(block) + i
		}
		Dc = append(Dc, methods.Columns(D, block))
	}
	return Xc, Dc
}

// csdlSideBySide puts matrices of one height side by side; stacked puts them below each other.
func csdlSideBySide(M []*mat.Dense) *mat.Dense {
	out := M[0]
	for _, m := range M[1:] {
		var all mat.Dense
		all.Augment(out, m)
		out = &all
	}
	return out
}

func csdlStacked(M []*mat.Dense) *mat.Dense {
	out := M[0]
	for _, m := range M[1:] {
		var all mat.Dense
		all.Stack(out, m)
		out = &all
	}
	return out
}

func goldenCSDL(t *testing.T, raw []byte) {
	type state struct{ D, Codes dictRows }
	var file struct {
		Params struct {
			Alpha, Tau float64
			Iters      int
		}
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
	ctx, par := context.Background(), file.Params
	X, start := csdlSplit(file.Inputs.X.dense(), file.Inputs.Y, file.Init.D0.dense())
	train := func(iterations int, want state, tol float64) ([]*mat.Dense, map[int]float64) {
		trace, objective := dictSeries("objective")
		m := dictionary.CSDL{Alpha: par.Alpha, Tau: par.Tau, Iterations: iterations, Mode: "lab"}
		D, S, err := m.Train(ctx, X, start, trace)
		if err != nil {
			t.Fatal(err)
		}
		dictNear(t, "D", csdlSideBySide(D), want.D, tol)
		if len(want.Codes) > 0 {
			dictNear(t, "codes", csdlStacked(S), want.Codes, tol)
		}
		return D, objective
	}
	train(1, file.Iter1, dictFirst)
	D, objective := train(par.Iters, file.IterT, dictLast)
	dictNearSeries(t, "objective", objective, 1, file.Objective, dictLast)
	model := dictionary.CSDL{Alpha: par.Alpha, Tau: par.Tau, Iterations: par.Iters, Mode: "lab"}.Model(D, nil)
	Xt := file.Inputs.Xt.dense()
	dictNear(t, "test codes", reprMust[*mat.Dense](t)(model.Codes(ctx, Xt)), file.Test.Codes, dictLast)
	dictNear(t, "residuals", reprMust[*mat.Dense](t)(model.Residuals(ctx, Xt)), file.Test.Residuals, dictLast)
	dictSameLabels(t, reprMust[[]int](t)(model.Predict(ctx, Xt)), file.Test.Pred)
}
