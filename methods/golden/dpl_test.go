package golden

import (
	"context"
	"testing"

	"gonum.org/v1/gonum/mat"

	"ssdl/methods"
	"ssdl/methods/dictionary"
)

func init() { handle("DPL", goldenDPL) }

// pairProblem is the problem of a file, pairBlocks its start: m atoms for each class.
func pairProblem(X dictRows, y []int, trace methods.Trace) methods.Problem {
	return methods.Problem{X: X.dense(), Labels: y, Classes: ledlClassCount(y), Trace: trace}
}

func pairBlocks(D, P dictRows, classes int) dictionary.Pairs {
	d, p := D.dense(), P.dense()
	dim, k := d.Dims()
	m := k / classes
	var out dictionary.Pairs
	for c := range classes {
		out.D = append(out.D, mat.DenseCopyOf(d.Slice(0, dim, c*m, (c+1)*m)))
		out.P = append(out.P, mat.DenseCopyOf(p.Slice(c*m, (c+1)*m, 0, dim)))
	}
	return out
}

// pairCodes puts the codes of the classes into the blocks of a K x N matrix.
func pairCodes(S []*mat.Dense, y []int) *mat.Dense {
	k := 0
	for _, s := range S {
		rows, _ := s.Dims()
		k += rows
	}
	out := mat.NewDense(k, len(y), nil)
	at := 0
	for c, s := range S {
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
		Params struct {
			Tau, Lambda, Gamma float64
			Iters              int
		}
		Inputs struct {
			X, Xt dictRows
			Y     []int
		}
		Init         struct{ D0, P0 dictRows }
		Iter1, IterT state
		Objective    []float64
		Test         struct {
			Residuals dictRows
			Pred      []int
		}
	}
	dictParse(t, raw, &file)
	ctx, par := context.Background(), file.Params
	run := func(iterations int, want state, tol float64) (dictionary.Pairs, map[int]float64) {
		trace, objective := dictSeries("objective")
		p := pairProblem(file.Inputs.X, file.Inputs.Y, trace)
		m := dictionary.DPL{Tau: par.Tau, Lambda: par.Lambda, Gamma: par.Gamma, Iterations: iterations}
		pairs, A, err := m.Train(ctx, p, pairBlocks(file.Init.D0, file.Init.P0, p.Classes))
		if err != nil {
			t.Fatal(err)
		}
		dictNear(t, "D", csdlSideBySide(pairs.D), want.D, tol)
		dictNear(t, "P", csdlStacked(pairs.P), want.P, tol)
		dictNear(t, "A", pairCodes(A, file.Inputs.Y), want.A, tol)
		return pairs, objective
	}
	run(1, file.Iter1, dictFirst)
	pairs, objective := run(par.Iters, file.IterT, dictLast)
	dictNearSeries(t, "objective", objective, 0, file.Objective, dictLast)
	if len(file.Inputs.Xt) == 0 {
		return
	}
	model := dictionary.NewPairModel("dpl", pairs, nil)
	Xt := file.Inputs.Xt.dense()
	dictNear(t, "residuals", reprMust[*mat.Dense](t)(model.Residuals(ctx, Xt)), file.Test.Residuals, dictLast)
	dictSameLabels(t, reprMust[[]int](t)(model.Predict(ctx, Xt)), file.Test.Pred)
}
