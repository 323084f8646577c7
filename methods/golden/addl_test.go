package golden

import (
	"context"
	"testing"

	"gonum.org/v1/gonum/mat"

	"ssdl/methods"
	"ssdl/methods/catalog"
	"ssdl/methods/dictionary"
)

func init() {
	handle("ADDL", goldenADDL)
	handle("LC-PDL", goldenLCPDL)
}

// pairState is what the files hold of ADDL and LC-PDL after an iteration.
type pairState struct {
	D, P, Codes, W dictRows
	L              []dictRows
}

// pairFile is the form of the files of ADDL and LC-PDL.
type pairFile struct {
	Params fields
	Inputs struct {
		X, Xt     dictRows
		Y         []int
		AtomClass []int `json:"atom_class"`
	}
	Init         struct{ D0, P0 dictRows }
	Iter1, IterT pairState
	Objective    []float64
	Classifier   []float64 `json:"objective_classifier"`
	Test         struct {
		Scores dictRows
		Pred   []int
	}
}

// pairTrain trains for some iterations from a start.
type pairTrain func(p methods.Problem, iterations int, start dictionary.Pairs) (*dictionary.PairModel, []*mat.Dense, []*mat.Dense, error)

// read parses the file and skips the test where it cannot be run.
func (f *pairFile) read(t *testing.T, raw []byte) {
	t.Helper()
	dictParse(t, raw, f)
	need(t, "X and y", len(f.Inputs.X) > 0 && len(f.Inputs.Y) > 0)
	need(t, "D0 and P0", len(f.Init.D0) > 0 && len(f.Init.P0) > 0)
	f.Params.fixed(t, "eps", 1e-8)
	f.Params.fixed(t, "dsweeps", 1)
	if again, ok := field[bool](t, f.Params, "recompute_laplacian_each_iteration"); ok && !again {
		t.Skip("the file has frozen graphs, which the method does not have")
	}
}

// check runs one and all iterations and compares.
func (f *pairFile) check(t *testing.T, train pairTrain) {
	in := f.Inputs
	classes := csdlClasses(t, in.Y, f.Init.D0, f.Params, "m", f.Iter1.W, f.IterT.W, f.Test.Scores)
	run := func(iterations int, want pairState, objectives, classifiers []float64, tol float64) *dictionary.PairModel {
		first, objective := dictSeries("objective")
		second, classifier := dictSeries("classifier")
		p := pairProblem(in.X, in.Y, classes, func(n string, it int, v float64) { first(n, it, v); second(n, it, v) })
		model, S, L, err := train(p, iterations, pairBlocks(t, f.Init.D0, f.Init.P0, in.Y, in.AtomClass, classes))
		if err != nil {
			t.Fatal(err)
		}
		dictNear(t, "D", csdlSideBySide(model.D), want.D, tol)
		dictNear(t, "P", csdlStacked(model.P), want.P, tol)
		dictNear(t, "codes", pairCodes(S, in.Y), want.Codes, tol)
		dictNear(t, "W", model.W, want.W, tol)
		for c, w := range want.L {
			if c >= len(L) {
				t.Fatalf("the file has the Laplacians of %d classes, want %d", len(want.L), len(L))
			}
			if L[c] != nil {
				dictNear(t, "L", L[c], w, tol)
			}
		}
		dictNearSeries(t, "objective", objective, 0, objectives, tol)
		dictNearSeries(t, "objective of the classifier", classifier, 0, classifiers, tol)
		return model
	}
	run(1, f.Iter1, dictUpTo(f.Objective, 2), dictUpTo(f.Classifier, 2), dictFirst)
	iterations, ok := field[int](t, f.Params, "iters")
	if !has(t, "iters", ok) {
		return
	}
	model := run(iterations, f.IterT, f.Objective, f.Classifier, dictLast)
	if !has(t, "Xt", len(in.Xt) > 0) {
		return
	}
	Xt := in.Xt.dense()
	dictNear(t, "scores", reprMust[*mat.Dense](t)(model.Scores(Xt)), f.Test.Scores, dictLast)
	dictSameLabels(t, reprMust[[]int](t)(model.Predict(context.Background(), Xt)), f.Test.Pred)
}

func goldenADDL(t *testing.T, raw []byte) {
	var file pairFile
	file.read(t, raw)
	par := file.Params
	values := catalog.Values{
		"tau": par.number(t, "tau"), "lambda": par.number(t, "lam"), "alpha": par.number(t, "alpha"), "gamma": par.number(t, "gam"), "mu": par.number(t, "mu"),
	}
	file.check(t, func(p methods.Problem, iterations int, start dictionary.Pairs) (*dictionary.PairModel, []*mat.Dense, []*mat.Dense, error) {
		values["iterations"] = iterations
		model, S, err := build[dictionary.ADDL](t, "addl", values).Train(context.Background(), p, start)
		return model, S, nil, err
	})
}

func goldenLCPDL(t *testing.T, raw []byte) {
	var file pairFile
	file.read(t, raw)
	par := file.Params
	values := catalog.Values{
		"tau": par.number(t, "tau"), "alpha": par.number(t, "alpha"), "gamma": par.number(t, "gam"), "mu": par.number(t, "mu"),
		"neighbours": par.count(t, "knn"), "delta": par.number(t, "delta"),
	}
	file.check(t, func(p methods.Problem, iterations int, start dictionary.Pairs) (*dictionary.PairModel, []*mat.Dense, []*mat.Dense, error) {
		values["iterations"] = iterations
		r, err := build[dictionary.LCPDL](t, "lcpdl", values).Train(context.Background(), p, start)
		if err != nil {
			return nil, nil, nil, err
		}
		return r.Model, r.S, r.L, nil
	})
}
