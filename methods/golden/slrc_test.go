package golden

import (
	"cmp"
	"context"
	"testing"

	"gonum.org/v1/gonum/mat"

	"ssdl/methods"
	"ssdl/methods/catalog"
	"ssdl/methods/represent"
)

func init() { handle("slrc", goldenSLRC) }

func goldenSLRC(t *testing.T, raw []byte) {
	type outputs struct {
		reprOutputs
		P      *reprMatrix
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
	ctx := context.Background()
	p, Y := file.Inputs.problem(), file.Inputs.Test.dense()
	dim, m := Y.Dims()
	codes, residual, objective := cmp.Or(file.Tolerance.Codes, 1e-7), cmp.Or(file.Tolerance.Residual, 1e-8), cmp.Or(file.Tolerance.Objective, 1e-10)
	sweeps := -1
	p.Trace = func(name string, _ int, v float64) {
		switch {
		case name == "sweeps":
			sweeps = int(v)
		case name == "test_unconverged" && v != 0:
			t.Errorf("%g codes did not converge", v)
		}
	}
	check := func(t *testing.T, values catalog.Values, want outputs, unique bool) {
		defer guard(t)
		values["lambda"] = lambda
		setting := build[represent.SLRC](t, "slrc", values)
		model := reprMust[methods.Model](t)(setting.Fit(ctx, p)).(*represent.SLRCModel)
		D := model.Dictionary()
		reprNearIf(t, "P", mat.DenseCopyOf(D.Slice(0, dim, 0, p.Classes)), want.P, 1e-12)
		S := reprMust[*mat.Dense](t)(model.Codes(ctx, Y))
		if unique {
			reprNearIf(t, "codes", S, want.Codes, codes)
		} else if want.Codes != nil && len(want.Codes.Data) > 0 { // a and V b are unique all the same
			W := want.Codes.dense()
			rows, _ := S.Dims()
			a := mat.DenseCopyOf(S.Slice(0, p.Classes, 0, m))
			if !mat.EqualApprox(a, W.Slice(0, p.Classes, 0, m), codes) {
				t.Error("the codes of the class means differ")
			}
			V := D.Slice(0, dim, p.Classes, rows)
			var got, ref mat.Dense
			got.Mul(V, S.Slice(p.Classes, rows, 0, m))
			ref.Mul(V, W.Slice(p.Classes, rows, 0, m))
			if !mat.EqualApprox(&got, &ref, codes) {
				t.Error("the shared variation V b differs")
			}
		}
		reprObjectivesIf(t, D, Y, S, func(squared float64, s []float64) float64 {
			v := mat.NewVecDense(len(s), s)
			if setting.Penalty == "l2" {
				return squared + lambda*mat.Dot(v, v)
			}
			return 0.5*squared + lambda*mat.Norm(v, 1)
		}, want.reprOutputs, objective)
		reprNearIf(t, "residual_sq", reprMust[*mat.Dense](t)(model.Residuals(ctx, Y)), want.Residual, residual)
		reprPredictions(t, reprMust[[]int](t)(model.Predict(ctx, Y)), S.Slice(0, p.Classes, 0, m).(*mat.Dense), file.Inputs, want.reprOutputs)
		if want.Sweeps != nil && sweeps != *want.Sweeps {
			t.Errorf("%d sweeps, want %d", sweeps, *want.Sweeps)
		}
	}
	t.Run("l1", func(t *testing.T) {
		check(t, catalog.Values{"penalty": "l1"}, file.Outputs, file.Checks.Unique != nil && *file.Checks.Unique == m)
	})
	for name, want := range file.Variants {
		switch name {
		case "l2":
			t.Run(name, func(t *testing.T) { check(t, catalog.Values{"penalty": "l2"}, want, true) })
		case "l1_unit_columns":
			t.Run(name, func(t *testing.T) {
				check(t, catalog.Values{"penalty": "l1", "unit": true}, want, want.Unique != nil && *want.Unique == m)
			})
		case "lab_bcd":
			t.Run(name, func(t *testing.T) { check(t, catalog.Values{"penalty": "l1", "mode": "reference"}, want, true) })
		default:
			t.Errorf("no check for the variant %q", name)
		}
	}
}
