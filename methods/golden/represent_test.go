package golden

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"ssdl/methods"
	"ssdl/methods/catalog"
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
	switch { // one of the two follows from the other
	case m.Cols == 0 && m.Rows > 0:
		m.Cols = len(m.Data) / m.Rows
	case m.Rows == 0 && m.Cols > 0:
		m.Rows = len(m.Data) / m.Cols
	}
	if len(m.Data) != m.Rows*m.Cols {
		panic(fmt.Sprintf("a matrix of %d x %d has %d entries", m.Rows, m.Cols, len(m.Data)))
	}
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

// need skips the test where an input is missing. The number of classes can follow: that of
// the rows of residuals, a matrix of the outputs, or the labels'.
func (in *reprInputs) need(t *testing.T, residuals *reprMatrix) {
	t.Helper()
	need(t, "X_train, X_test and y_train", len(in.X.Data) > 0 && len(in.Test.Data) > 0 && len(in.Labels) > 0)
	in.Classes = max(in.Classes, dictClassCount(in.Labels))
	if residuals != nil {
		in.Classes = max(in.Classes, residuals.Rows)
	}
	if in.Dim > 0 {
		in.X.Rows, in.Test.Rows = in.Dim, in.Dim
	}
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
	if want == nil || len(truth) == 0 {
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
	type outputs struct {
		reprOutputs
		Unique *int
	}
	var file struct {
		Inputs    reprInputs
		Par       fields `json:"hyperparameters"`
		Outputs   outputs
		Tolerance reprTolerance
		Checks    struct{ Unique *int }
		Variants  map[string]outputs
	}
	reprParse(t, raw, &file)
	file.Inputs.need(t, file.Outputs.Residual)
	lambda := file.Par.number(t, "lambda_")
	tol := file.Tolerance
	check := func(t *testing.T, mode string, want reprOutputs, unique *int) {
		defer guard(t)
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
		model := reprMust[methods.Model](t)(build[represent.SRC](t, "src", catalog.Values{"lambda": lambda, "mode": mode}).Fit(ctx, p)).(*represent.SRCModel)
		S := reprMust[*mat.Dense](t)(model.Codes(ctx, Y))
		reprObjectivesIf(t, p.X, Y, S, func(squared float64, s []float64) float64 {
			return 0.5*squared + lambda*mat.Norm(mat.NewVecDense(len(s), s), 1)
		}, want, cmp.Or(tol.Objective, 1e-10))
		if want.Sweeps != nil && sweeps != *want.Sweeps {
			t.Errorf("%d sweeps, want %d", sweeps, *want.Sweeps)
		}
		if _, m := Y.Dims(); unique != nil && *unique != m {
			// Of codes that are not unique, X s is, but not what each class has of it.
			if want.Codes != nil && len(want.Codes.Data) > 0 {
				var got, ref mat.Dense
				got.Mul(p.X, S)
				ref.Mul(p.X, want.Codes.dense())
				if !mat.EqualApprox(&got, &ref, cmp.Or(tol.Codes, 1e-7)) {
					t.Error("X s differs")
				}
			}
			return
		}
		reprNearIf(t, "codes", S, want.Codes, cmp.Or(tol.Codes, 1e-7))
		reprNearIf(t, "residual_sq", reprMust[*mat.Dense](t)(model.Residuals(ctx, Y)), want.Residual, cmp.Or(tol.Residual, 1e-8))
		reprPredictions(t, reprMust[[]int](t)(model.Predict(ctx, Y)), S, file.Inputs, want)
	}
	t.Run("paper", func(t *testing.T) { check(t, "paper", file.Outputs.reprOutputs, file.Checks.Unique) })
	for name, want := range file.Variants {
		if name != "lab_bcd" {
			t.Errorf("no check for the variant %q", name)
			continue
		}
		t.Run("reference", func(t *testing.T) { check(t, "reference", want.reprOutputs, nil) })
	}
}

// reprPredictions compares the predictions and their accuracy, unless a code is zero: all
// classes then fit alike, and where the files take the first the methods take that of the
// nearest sample. S holds the codes that tell the classes apart.
func reprPredictions(t *testing.T, got []int, S *mat.Dense, in reprInputs, want reprOutputs) {
	t.Helper()
	_, m := S.Dims()
	for j := range m {
		if mat.Norm(S.ColView(j), 1) == 0 {
			t.Logf("the code of sample %d is zero: predictions are not compared", j)
			return
		}
	}
	reprClassesIf(t, "predictions", got, want.Classes)
	reprAccuracy(t, got, in.TestTrue, want.Accuracy)
}

func goldenCRC(t *testing.T, raw []byte) {
	var file struct {
		Inputs    reprInputs
		Par       fields `json:"hyperparameters"`
		Outputs   reprOutputs
		Tolerance reprTolerance
		Variants  map[string]reprOutputs
	}
	reprParse(t, raw, &file)
	for name := range file.Variants {
		t.Errorf("no check for the variant %q", name)
	}
	file.Inputs.need(t, file.Outputs.Residual)
	lambda := file.Par.number(t, "lambda_")
	ctx := context.Background()
	want, tol := file.Outputs, file.Tolerance
	p, Y := file.Inputs.problem(), file.Inputs.Test.dense()
	for _, rule := range []string{"ratio", "plain"} {
		t.Run(rule, func(t *testing.T) {
			defer guard(t)
			model := reprMust[methods.Model](t)(build[represent.CRC](t, "crc", catalog.Values{"lambda": lambda, "rule": rule}).Fit(ctx, p)).(*represent.CRCModel)
			S := reprMust[*mat.Dense](t)(model.Codes(ctx, Y))
			reprNearIf(t, "codes", S, want.Codes, cmp.Or(tol.Codes, 1e-10))
			reprObjectivesIf(t, p.X, Y, S, func(squared float64, s []float64) float64 {
				norm := mat.Norm(mat.NewVecDense(len(s), s), 2)
				return squared + lambda*norm*norm
			}, want, cmp.Or(tol.Objective, 1e-11))
			residual := cmp.Or(tol.Residual, 1e-10)
			reprNearIf(t, "residual_sq", reprMust[*mat.Dense](t)(model.Residuals(ctx, Y)), want.Residual, residual)
			got := reprMust[[]int](t)(model.Predict(ctx, Y))
			scores := reprMust[*mat.Dense](t)(model.Scores(ctx, Y))
			if rule == "plain" {
				reprNearIf(t, "score", scores, want.Residual, residual)
				reprClassesIf(t, "predictions_plain", got, want.Plain)
				reprAccuracy(t, got, file.Inputs.TestTrue, want.AccuracyPl)
				return
			}
			if want.Score != nil && len(want.Score.Data) > 0 {
				reprNear(t, "regularised_score", scores, want.Score, cmp.Or(tol.ScoreRel, 1e-8), true)
			}
			reprClassesIf(t, "predictions_regularised", got, want.Regularised)
			reprAccuracy(t, got, file.Inputs.TestTrue, want.AccuracyReg)
		})
	}
}
