package golden

import (
	"context"
	"testing"

	"gonum.org/v1/gonum/mat"

	"ssdl/methods"
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
	Params struct {
		Tau, Lam, Alpha, Gam, Mu, Delta float64
		KNN, Iters                      int
		Eps                             *float64
		DSweeps                         *int
		Recompute                       *bool `json:"recompute_laplacian_each_iteration"`
	}
	Inputs struct {
		X, Xt dictRows
		Y     []int
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

// check runs one and all iterations and compares.
func (f *pairFile) check(t *testing.T, train func(p methods.Problem, iterations int, start dictionary.Pairs) (*dictionary.PairModel, []*mat.Dense, []*mat.Dense, error)) {
	if p := f.Params; p.Eps != nil && *p.Eps != 1e-8 || p.DSweeps != nil && *p.DSweeps != 1 || p.Recompute != nil && !*p.Recompute {
		t.Skip("the file asks for another eps, other passes over the atoms or frozen graphs, which the methods do not have")
	}
	run := func(iterations int, want pairState, tol float64) (*dictionary.PairModel, map[int]float64, map[int]float64) {
		first, objective := dictSeries("objective")
		second, classifier := dictSeries("classifier")
		p := pairProblem(f.Inputs.X, f.Inputs.Y, func(n string, it int, v float64) { first(n, it, v); second(n, it, v) })
		model, S, L, err := train(p, iterations, pairBlocks(f.Init.D0, f.Init.P0, p.Classes))
		if err != nil {
			t.Fatal(err)
		}
		dictNear(t, "D", csdlSideBySide(model.D), want.D, tol)
		dictNear(t, "P", csdlStacked(model.P), want.P, tol)
		dictNear(t, "codes", pairCodes(S, f.Inputs.Y), want.Codes, tol)
		dictNear(t, "W", model.W, want.W, tol)
		for c, w := range want.L {
			dictNear(t, "L", L[c], w, tol)
		}
		return model, objective, classifier
	}
	run(1, f.Iter1, dictFirst)
	model, objective, classifier := run(f.Params.Iters, f.IterT, dictLast)
	dictNearSeries(t, "objective", objective, 0, f.Objective, dictLast)
	dictNearSeries(t, "objective of the classifier", classifier, 0, f.Classifier, dictLast)
	if len(f.Inputs.Xt) == 0 {
		return
	}
	Xt := f.Inputs.Xt.dense()
	dictNear(t, "scores", reprMust[*mat.Dense](t)(model.Scores(Xt)), f.Test.Scores, dictLast)
	dictSameLabels(t, reprMust[[]int](t)(model.Predict(context.Background(), Xt)), f.Test.Pred)
}

func goldenADDL(t *testing.T, raw []byte) {
	var file pairFile
	dictParse(t, raw, &file)
	file.check(t, func(p methods.Problem, iterations int, start dictionary.Pairs) (*dictionary.PairModel, []*mat.Dense, []*mat.Dense, error) {
		par := file.Params
		m := dictionary.ADDL{Tau: par.Tau, Lambda: par.Lam, Alpha: par.Alpha, Gamma: par.Gam, Mu: par.Mu, Iterations: iterations}
		model, S, err := m.Train(context.Background(), p, start)
		return model, S, nil, err
	})
}

func goldenLCPDL(t *testing.T, raw []byte) {
	var file pairFile
	dictParse(t, raw, &file)
	file.check(t, func(p methods.Problem, iterations int, start dictionary.Pairs) (*dictionary.PairModel, []*mat.Dense, []*mat.Dense, error) {
		par := file.Params
		m := dictionary.LCPDL{
			Tau: par.Tau, Alpha: par.Alpha, Gamma: par.Gam, Mu: par.Mu, Neighbours: par.KNN, Delta: par.Delta, Iterations: iterations,
		}
		r, err := m.Train(context.Background(), p, start)
		if err != nil {
			return nil, nil, nil, err
		}
		return r.Model, r.S, r.L, nil
	})
}
