package golden

import (
	"context"
	"testing"

	"gonum.org/v1/gonum/mat"

	"ssdl/methods/catalog"
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
		Params fields
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
	ctx, in := context.Background(), file.Inputs
	need(t, "X, y and atom_class", len(in.X) > 0 && len(in.Y) > 0 && len(in.AtomClass) > 0)
	need(t, "D0 and S0", len(file.Init.D0) > 0 && len(file.Init.S0) > 0)
	lambda1, lambda2 := file.Params.number(t, "lambda1"), file.Params.number(t, "lambda2")
	gc, _ := field[fields](t, file.Params, "gc")
	for _, name := range []string{"fista", "odl"} {
		passes, _ := field[fields](t, file.Params, name)
		passes.fixed(t, "iters", 100)
		passes.fixed(t, "tol", 1e-8)
	}
	gc.fixed(t, "fista_iters", 100)
	classes := dictClassCount(in.Y, file.Test.ErrorsLC, file.Test.ErrorsGC)
	D0 := file.Init.D0.dense()
	dim, _ := D0.Dims()
	values := catalog.Values{"lambda1": lambda1, "lambda2": lambda2, "mode": "reference"}
	run := func(iterations int, rule string, want state, series []float64, tol float64) *dictionary.FDDLModel {
		values["iterations"], values["rule"] = iterations, rule
		m := build[dictionary.FDDL](t, "fddl", values)
		trace, objective := dictSeries("objective")
		p := pairProblem(in.X, in.Y, classes, trace)
		start := make([]*mat.Dense, p.Classes)
		from := 0
		for c := range start {
			to := from
			for to < len(in.AtomClass) && in.AtomClass[to] == c {
				to++
			}
			if to > from {
				start[c] = mat.DenseCopyOf(D0.Slice(0, dim, from, to))
			}
			from = to
		}
		model, S, err := m.Train(ctx, p, start, file.Init.S0.dense())
		if err != nil {
			t.Fatal(err)
		}
		dictNear(t, "D", model.D, want.D, tol)
		dictNear(t, "codes", S, want.Codes, tol)
		dictNear(t, "class means", model.Means, want.Means, tol)
		dictNearSeries(t, "objective", objective, 0, series, tol)
		return model
	}
	run(1, "lc", file.Iter1, dictUpTo(file.Objective, 2), dictFirst)
	iterations, ok := field[int](t, file.Params, "iters")
	if !has(t, "iters", ok) {
		return
	}
	lc := run(iterations, "lc", file.IterT, file.Objective, dictLast)
	if !has(t, "Xt", len(in.Xt) > 0) {
		return
	}
	Xt := in.Xt.dense()
	dictNear(t, "errors_LC", reprMust[*mat.Dense](t)(lc.Errors(ctx, Xt)), file.Test.ErrorsLC, fddlErrors)
	dictSameLabels(t, reprMust[[]int](t)(lc.Predict(ctx, Xt)), file.Test.PredLC)
	global, ok := gc.numbers(t, "gamma", "weight")
	if !ok {
		return
	}
	values["test_lambda"], values["weight"] = global[0], global[1]
	model := run(iterations, "gc", file.IterT, file.Objective, dictLast)
	dictNear(t, "errors_GC", reprMust[*mat.Dense](t)(model.Errors(ctx, Xt)), file.Test.ErrorsGC, fddlErrors)
	dictSameLabels(t, reprMust[[]int](t)(model.Predict(ctx, Xt)), file.Test.PredGC)
}
