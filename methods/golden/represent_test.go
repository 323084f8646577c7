package golden

import (
	"context"
	"encoding/json"
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"ssdl/methods"
	"ssdl/methods/represent"
)

func init() {
	handle("src", goldenSRC)
	handle("crc", goldenCRC)
}

// reprMatrix is a matrix as the files have it; null stands for +infinity.
type reprMatrix struct {
	Rows, Cols int
	Data       []*float64
}

func (m reprMatrix) dense() *mat.Dense {
	out := mat.NewDense(m.Rows, m.Cols, nil)
	for i, v := range m.Data {
		x := math.Inf(1)
		if v != nil {
			x = *v
		}
		out.Set(i/m.Cols, i%m.Cols, x)
	}
	return out
}

type reprInputs struct {
	Dim      int
	Classes  int        `json:"n_classes"`
	X        reprMatrix `json:"X_train"`
	Labels   []int      `json:"y_train"`
	Test     reprMatrix `json:"X_test"`
	TestTrue []int      `json:"y_test"`
}

func (in reprInputs) problem() methods.Problem {
	return methods.Problem{X: in.X.dense(), Labels: in.Labels, Classes: in.Classes}
}

// reprOutputs are the keys that the outputs and the variants of a file may hold.
type reprOutputs struct {
	Codes       *reprMatrix
	Objective   []float64
	Total       *float64    `json:"objective_total"`
	Residual    *reprMatrix `json:"residual_sq"`
	Score       *reprMatrix `json:"regularised_score"`
	Classes     []int       `json:"predictions"`
	Accuracy    *float64
	Regularised []int    `json:"predictions_regularised"`
	Plain       []int    `json:"predictions_plain"`
	AccuracyReg *float64 `json:"accuracy_regularised"`
	AccuracyPl  *float64 `json:"accuracy_plain"`
	Sweeps      *int
}

type reprTolerance struct {
	Codes     float64
	Residual  float64 `json:"residual_sq"`
	Objective float64
	ScoreRel  float64 `json:"regularised_score_rel"`
}

func reprParse(t *testing.T, raw []byte, into any) {
	t.Helper()
	if err := json.Unmarshal(raw, into); err != nil {
		t.Fatal(err)
	}
}

func reprMust[T any](t *testing.T) func(v T, err error) T {
	return func(v T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

// reprNear compares entry by entry; relative is with respect to the entry expected.
func reprNear(t *testing.T, what string, got *mat.Dense, want *reprMatrix, tol float64, relative bool) {
	t.Helper()
	if want == nil {
		t.Fatalf("%s: the file has none", what)
	}
	w := want.dense()
	rows, cols := got.Dims()
	if wr, wc := w.Dims(); rows != wr || cols != wc {
		t.Fatalf("%s is %d x %d, want %d x %d", what, rows, cols, wr, wc)
	}
	worst := 0.0
	for i := range rows {
		for j := range cols {
			g, v := got.At(i, j), w.At(i, j)
			if math.IsInf(v, 1) || math.IsInf(g, 1) {
				if g != v {
					t.Errorf("%s is %g at row %d, column %d, want %g", what, g, i, j, v)
				}
				continue
			}
			d := math.Abs(g - v)
			if relative {
				d /= math.Abs(v)
			}
			if !(d <= tol) {
				worst = max(worst, d)
				if math.IsNaN(d) {
					t.Errorf("%s is %g at row %d, column %d, want %g", what, g, i, j, v)
				}
			}
		}
	}
	if worst > 0 {
		t.Errorf("%s is off by %.3g, want at most %.3g", what, worst, tol)
	}
}

func reprSameClasses(t *testing.T, what string, got, want []int) {
	t.Helper()
	if len(want) == 0 {
		t.Fatalf("%s: the file has none", what)
	}
	if !slices.Equal(got, want) {
		t.Errorf("%s are %v, want %v", what, got, want)
	}
}

func reprAccuracy(t *testing.T, got, truth []int, want *float64) {
	t.Helper()
	if want == nil {
		return
	}
	hits := 0
	for j, y := range truth {
		if got[j] == y {
			hits++
		}
	}
	if a := float64(hits) / float64(len(truth)); math.Abs(a-*want) > 1e-12 {
		t.Errorf("accuracy is %g, want %g", a, *want)
	}
}

// reprObjectives compares fit(||y - X s||^2) + penalty(s), per sample and summed.
func reprObjectives(t *testing.T, X, Y, S *mat.Dense, objective func(squared float64, s []float64) float64, each []float64, total *float64, tol float64) {
	t.Helper()
	_, m := Y.Dims()
	var E mat.Dense
	E.Mul(X, S)
	E.Sub(Y, &E)
	sum := 0.0
	for j := range m {
		e := mat.Col(nil, j, &E)
		squared := 0.0
		for _, v := range e {
			squared += v * v
		}
		f := objective(squared, mat.Col(nil, j, S))
		sum += f
		if each != nil && !(math.Abs(f-each[j]) <= tol) {
			t.Errorf("objective of sample %d is %.17g, want %.17g", j, f, each[j])
		}
	}
	if total == nil {
		t.Fatal("the file has no objective_total")
	}
	if !(math.Abs(sum-*total) <= tol*float64(m)) {
		t.Errorf("objective_total is %.17g, want %.17g", sum, *total)
	}
}

func goldenSRC(t *testing.T, raw []byte) {
	var file struct {
		Inputs reprInputs
		Par    struct {
			Lambda float64 `json:"lambda_"`
		} `json:"hyperparameters"`
		Outputs   reprOutputs
		Tolerance reprTolerance
		Variants  map[string]reprOutputs
	}
	reprParse(t, raw, &file)
	check := func(t *testing.T, mode string, want reprOutputs) {
		ctx := context.Background()
		p, Y := file.Inputs.problem(), file.Inputs.Test.dense()
		sweeps := -1
		p.Trace = func(name string, _ int, v float64) {
			if name == "sweeps" {
				sweeps = int(v)
			}
			if name == "test_unconverged" && v != 0 {
				t.Errorf("%g codes did not converge", v)
			}
		}
		model := reprMust[methods.Model](t)(represent.SRC{Lambda: file.Par.Lambda, Mode: mode}.Fit(ctx, p)).(*represent.SRCModel)
		S := reprMust[*mat.Dense](t)(model.Codes(ctx, Y))
		reprNear(t, "codes", S, want.Codes, file.Tolerance.Codes, false)
		E := reprMust[*mat.Dense](t)(model.Residuals(ctx, Y))
		reprNear(t, "residual_sq", E, want.Residual, file.Tolerance.Residual, false)
		reprObjectives(t, p.X, Y, S, func(squared float64, s []float64) float64 {
			return 0.5*squared + file.Par.Lambda*mat.Norm(mat.NewVecDense(len(s), s), 1)
		}, want.Objective, want.Total, file.Tolerance.Objective)
		got := reprMust[[]int](t)(model.Predict(ctx, Y))
		reprSameClasses(t, "predictions", got, want.Classes)
		reprAccuracy(t, got, file.Inputs.TestTrue, want.Accuracy)
		if want.Sweeps != nil && sweeps != *want.Sweeps {
			t.Errorf("%d sweeps, want %d", sweeps, *want.Sweeps)
		}
	}
	t.Run("paper", func(t *testing.T) { check(t, "paper", file.Outputs) })
	for name, want := range file.Variants {
		if name != "lab_bcd" {
			t.Errorf("no check for the variant %q", name)
			continue
		}
		t.Run("lab", func(t *testing.T) { check(t, "lab", want) })
	}
}

func goldenCRC(t *testing.T, raw []byte) {
	var file struct {
		Inputs reprInputs
		Par    struct {
			Lambda float64 `json:"lambda_"`
		} `json:"hyperparameters"`
		Outputs   reprOutputs
		Tolerance reprTolerance
		Variants  map[string]reprOutputs
	}
	reprParse(t, raw, &file)
	for name := range file.Variants {
		t.Errorf("no check for the variant %q", name)
	}
	ctx := context.Background()
	want, tol := file.Outputs, file.Tolerance
	p, Y := file.Inputs.problem(), file.Inputs.Test.dense()
	for _, rule := range []string{"ratio", "plain"} {
		t.Run(rule, func(t *testing.T) {
			model := reprMust[methods.Model](t)(represent.CRC{Lambda: file.Par.Lambda, Rule: rule}.Fit(ctx, p)).(*represent.CRCModel)
			S := reprMust[*mat.Dense](t)(model.Codes(ctx, Y))
			reprNear(t, "codes", S, want.Codes, tol.Codes, false)
			reprObjectives(t, p.X, Y, S, func(squared float64, s []float64) float64 {
				norm := mat.Norm(mat.NewVecDense(len(s), s), 2)
				return squared + file.Par.Lambda*norm*norm
			}, want.Objective, want.Total, tol.Objective)
			E := reprMust[*mat.Dense](t)(model.Residuals(ctx, Y))
			reprNear(t, "residual_sq", E, want.Residual, tol.Residual, false)
			got := reprMust[[]int](t)(model.Predict(ctx, Y))
			scores := reprMust[*mat.Dense](t)(model.Scores(ctx, Y))
			if rule == "plain" {
				reprNear(t, "score", scores, want.Residual, tol.Residual, false)
				reprSameClasses(t, "predictions_plain", got, want.Plain)
				reprAccuracy(t, got, file.Inputs.TestTrue, want.AccuracyPl)
				return
			}
			reprNear(t, "regularised_score", scores, want.Score, tol.ScoreRel, true)
			reprSameClasses(t, "predictions_regularised", got, want.Regularised)
			reprAccuracy(t, got, file.Inputs.TestTrue, want.AccuracyReg)
		})
	}
}
