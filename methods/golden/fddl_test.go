package golden

import (
	"context"
	"testing"

	"gonum.org/v1/gonum/mat"

	"ssdl/methods/dictionary"
)

func init() { handle("FDDL", goldenFDDL) }

// fddlErrors is looser than the rest: the files' test codes come from passes of FISTA.
const fddlErrors = 1e-5

func goldenFDDL(t *testing.T, raw []byte) {
	type state struct {
		D, Codes dictRows
		Means    dictRows `json:"class_means"`
	}
	var file struct {
		Params struct {
			Lambda1, Lambda2 float64
			Iters            int
			GC               struct{ Gamma, Weight float64 }
		}
		Inputs struct {
			X, Xt     dictRows
			Y         []int
			AtomClass []int `json:"atom_class"`
		}
		Init         struct{ D0, S0 dictRows }
		Iter1, IterT state
		Objective    []float64
		Test         struct {
			PredLC   []int    `json:"pred_LC"`
			PredGC   []int    `json:"pred_GC"`
			ErrorsLC dictRows `json:"errors_LC"`
			ErrorsGC dictRows `json:"errors_GC"`
		}
	}
	dictParse(t, raw, &file)
	ctx, par := context.Background(), file.Params
	D0 := file.Init.D0.dense()
	dim, _ := D0.Dims()
	run := func(iterations int, rule string, want state, tol float64) (*dictionary.FDDLModel, map[int]float64) {
		trace, objective := dictSeries("objective")
		p := pairProblem(file.Inputs.X, file.Inputs.Y, trace)
		start := make([]*mat.Dense, p.Classes)
		from := 0
		for c := range start {
			to := from
			for to < len(file.Inputs.AtomClass) && file.Inputs.AtomClass[to] == c {
				to++
			}
			if to > from {
				start[c] = mat.DenseCopyOf(D0.Slice(0, dim, from, to))
			}
			from = to
		}
		m := dictionary.FDDL{
			Lambda1: par.Lambda1, Lambda2: par.Lambda2, Iterations: iterations, Rule: rule, Mode: "lab",
			TestLambda: par.GC.Gamma, Weight: par.GC.Weight,
		}
		model, S, err := m.Train(ctx, p, start, file.Init.S0.dense())
		if err != nil {
			t.Fatal(err)
		}
		dictNear(t, "D", model.D, want.D, tol)
		dictNear(t, "codes", S, want.Codes, tol)
		dictNear(t, "class means", model.Means, want.Means, tol)
		return model, objective
	}
	run(1, "lc", file.Iter1, dictFirst)
	lc, objective := run(par.Iters, "lc", file.IterT, dictLast)
	dictNearSeries(t, "objective", objective, 0, file.Objective, dictLast)
	if len(file.Inputs.Xt) == 0 {
		return
	}
	Xt := file.Inputs.Xt.dense()
	dictNear(t, "errors_LC", reprMust[*mat.Dense](t)(lc.Errors(ctx, Xt)), file.Test.ErrorsLC, fddlErrors)
	dictSameLabels(t, reprMust[[]int](t)(lc.Predict(ctx, Xt)), file.Test.PredLC)
	if par.GC.Gamma == 0 {
		return
	}
	gc, _ := run(par.Iters, "gc", file.IterT, dictLast)
	dictNear(t, "errors_GC", reprMust[*mat.Dense](t)(gc.Errors(ctx, Xt)), file.Test.ErrorsGC, fddlErrors)
	dictSameLabels(t, reprMust[[]int](t)(gc.Predict(ctx, Xt)), file.Test.PredGC)
}
