package golden

import (
	"context"
	"testing"

	"gonum.org/v1/gonum/mat"

	"ssdl/methods"
	"ssdl/methods/catalog"
	"ssdl/methods/dictionary"
)

func init() { handle("CDLF", goldenCDLF) }

func goldenCDLF(t *testing.T, raw []byte) {
	type state struct{ D2, W2, A2, C, Z dictRows }
	var file struct {
		Params struct{ CSDL, LEDL fields }
		Inputs struct {
			X, Q, Xt dictRows
			Y        []int
		}
		Init struct {
			D1 dictRows `json:"D1_0"`
			D2 dictRows `json:"D2_0"`
			W2 dictRows `json:"W2_0"`
			A2 dictRows `json:"A2_0"`
		}
		Stage1 struct {
			D1    dictRows
			Codes dictRows `json:"train_codes"`
		}
		Iter1      state     `json:"stage2_iter1"`
		IterT      state     `json:"stage2_iterT"`
		Objective1 []float64 `json:"objective_stage1"`
		Objective2 []float64 `json:"objective_stage2"`
		Test       struct {
			Scores dictRows
			Pred   []int
		}
	}
	dictParse(t, raw, &file)
	ctx, one, two, in := context.Background(), file.Params.CSDL, file.Params.LEDL, file.Inputs
	need(t, "X, y and D1_0", len(in.X) > 0 && len(in.Y) > 0 && len(file.Init.D1) > 0)
	X := in.X.dense()
	one.fixed(t, "zero_replacement", 1e-16)
	first := build[dictionary.CSDL](t, "csdl", catalog.Values{"alpha": one.number(t, "alpha"), "tau": one.number(t, "tau"), "iterations": one.count(t, "iters"), "mode": "reference"})
	classes := csdlClasses(t, in.Y, file.Init.D1, one, "nBases", file.Init.W2, file.Test.Scores)
	Xc, start := csdlSplit(t, X, in.Y, file.Init.D1.dense(), classes)
	trace, objective1 := dictSeries("objective")
	D1, _, err := first.Train(ctx, Xc, start, trace)
	if err != nil {
		t.Fatal(err)
	}
	dictNear(t, "D1", csdlSideBySide(D1), file.Stage1.D1, dictLast)
	dictNearSeries(t, "objective of stage 1", objective1, 1, file.Objective1, dictLast)
	model := dictionary.CDLFModel{First: first.Model(D1, nil)}
	dictNear(t, "codes of stage 1", reprMust[*mat.Dense](t)(model.First.Codes(ctx, X)), file.Stage1.Codes, dictLast)
	Z := reprMust[*mat.Dense](t)(model.First.UnitCodes(ctx, X))

	start2 := len(in.Q) > 0 && len(file.Init.D2) > 0 && len(file.Init.W2) > 0 && len(file.Init.A2) > 0
	v, ok := two.numbers(t, "lam", "om", "eps", "rho")
	if !ok || !has(t, "Q, D2_0, W2_0 and A2_0", start2) {
		return
	}
	ledlConstants(t, two)
	values := catalog.Values{"lambda": v[0], "omega": visible(v[1]), "epsilon": v[2], "test_epsilon": v[2], "rho": v[3]}
	second := build[dictionary.LEDL](t, "ledl", values)
	iterations, all := field[int](t, two, "iters")
	if !has(t, "iters", all) {
		iterations = 1
	}
	D2 := file.Init.D2.dense()
	_, k := D2.Dims()
	two.agrees(t, "K", k)
	s := second.Steps(Z, methods.OneHot(in.Y, classes, 0), dictionary.LEDLStart{
		D: D2, W: file.Init.W2.dense(), A: file.Init.A2.dense(),
		Class: ledlClasses(t, in.Q, in.Y, k, classes),
	})
	objective2 := map[int]float64{}
	compare := func(name string, want state, tol float64) {
		dictNear(t, name+": D2", s.D(), want.D2, tol)
		dictNear(t, name+": W2", s.W(), want.W2, tol)
		dictNear(t, name+": A2", s.A(), want.A2, tol)
		dictNear(t, name+": C", s.S, want.C, tol)
		dictNear(t, name+": Z", s.Z, want.Z, tol)
	}
	for it := 1; it <= iterations; it++ {
		if err := s.Iterate(ctx); err != nil {
			t.Fatal(err)
		}
		objective2[it] = s.Objective()
		if it == 1 {
			compare("after 1", file.Iter1, dictLast)
		}
	}
	dictNearSeries(t, "objective of stage 2", objective2, 1, dictUpTo(file.Objective2, 1), dictLast)
	if !all {
		return
	}
	compare("at the end", file.IterT, dictLast)
	dictNearSeries(t, "objective of stage 2", objective2, 1, file.Objective2, dictLast)
	passes, ok := field[int](t, two, "iters_test")
	if !has(t, "Xt and iters_test", ok && len(in.Xt) > 0) {
		return
	}
	values["test_iterations"] = passes
	second = build[dictionary.LEDL](t, "ledl", values)
	known := make([]bool, classes)
	for _, c := range in.Y {
		known[c] = true
	}
	if model.Second, err = second.Model(s, known); err != nil {
		t.Fatal(err)
	}
	Xt := in.Xt.dense()
	dictNear(t, "scores", reprMust[*mat.Dense](t)(model.Scores(ctx, Xt)), file.Test.Scores, dictLast)
	dictSameLabels(t, reprMust[[]int](t)(model.Predict(ctx, Xt)), file.Test.Pred)
}
