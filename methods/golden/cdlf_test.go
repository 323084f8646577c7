package golden

import (
	"context"
	"testing"

	"gonum.org/v1/gonum/mat"

	"ssdl/methods"
	"ssdl/methods/dictionary"
)

func init() { handle("CDLF", goldenCDLF) }

func goldenCDLF(t *testing.T, raw []byte) {
	type state struct{ D2, W2, A2, C, Z dictRows }
	var file struct {
		Params struct {
			CSDL struct {
				Alpha, Tau float64
				Iters      int
			}
			LEDL struct {
				Iters             int
				ItersTest         int `json:"iters_test"`
				Lam, Om, Eps, Rho float64
			}
		}
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
	ctx, one, two := context.Background(), file.Params.CSDL, file.Params.LEDL
	X := file.Inputs.X.dense()
	first := dictionary.CSDL{Alpha: one.Alpha, Tau: one.Tau, Iterations: one.Iters, Mode: "lab"}
	Xc, start := csdlSplit(X, file.Inputs.Y, file.Init.D1.dense())
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

	second := dictionary.LEDL{
		Lambda: two.Lam, Omega: two.Om, Epsilon: two.Eps, TestEpsilon: two.Eps, Rho: two.Rho,
		Iterations: two.Iters, TestIterations: two.ItersTest,
	}
	classes := ledlClassCount(file.Inputs.Y)
	D2 := file.Init.D2.dense()
	_, k := D2.Dims()
	s := second.Steps(Z, methods.OneHot(file.Inputs.Y, classes, 0), dictionary.LEDLStart{
		D: D2, W: file.Init.W2.dense(), A: file.Init.A2.dense(),
		Class: ledlClasses(t, file.Inputs.Q, file.Inputs.Y, k),
	})
	objective2 := map[int]float64{}
	compare := func(name string, want state, tol float64) {
		dictNear(t, name+": D2", s.D(), want.D2, tol)
		dictNear(t, name+": W2", s.W(), want.W2, tol)
		dictNear(t, name+": A2", s.A(), want.A2, tol)
		dictNear(t, name+": C", s.S, want.C, tol)
		dictNear(t, name+": Z", s.Z, want.Z, tol)
	}
	for it := 1; it <= two.Iters; it++ {
		if err := s.Iterate(ctx); err != nil {
			t.Fatal(err)
		}
		objective2[it] = s.Objective()
		if it == 1 {
			compare("after 1", file.Iter1, dictLast)
		}
	}
	compare("at the end", file.IterT, dictLast)
	dictNearSeries(t, "objective of stage 2", objective2, 1, file.Objective2, dictLast)
	known := make([]bool, classes)
	for _, c := range file.Inputs.Y {
		known[c] = true
	}
	if model.Second, err = second.Model(s, known); err != nil {
		t.Fatal(err)
	}
	Xt := file.Inputs.Xt.dense()
	dictNear(t, "scores", reprMust[*mat.Dense](t)(model.Scores(ctx, Xt)), file.Test.Scores, dictLast)
	dictSameLabels(t, reprMust[[]int](t)(model.Predict(ctx, Xt)), file.Test.Pred)
}
