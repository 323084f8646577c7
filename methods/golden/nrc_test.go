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

func init() { handle("nrc", goldenNRC) }

// Files may leave out outputs and tolerances. These compare what there is.

func reprNearIf(t *testing.T, what string, got *mat.Dense, want *reprMatrix, tol float64) {
	t.Helper()
	if want != nil && len(want.Data) > 0 {
		reprNear(t, what, got, want, tol, false)
	}
}

func reprClassesIf(t *testing.T, what string, got, want []int) {
	t.Helper()
	if want != nil {
		reprSameClasses(t, what, got, want)
	}
}

// reprObjectivesIf is reprObjectives for files that have the objectives of the samples, their sum,
// both or neither.
func reprObjectivesIf(t *testing.T, X, Y, S *mat.Dense, objective func(squared float64, s []float64) float64, want reprOutputs, tol float64) {
	t.Helper()
	total := want.Total
	if total == nil {
		if want.Objective == nil {
			return
		}
		sum := 0.0
		for _, v := range want.Objective {
			sum += v
		}
		total = &sum
	}
	reprObjectives(t, X, Y, S, objective, want.Objective, total, tol)
}

func goldenNRC(t *testing.T, raw []byte) {
	type outputs struct {
		reprOutputs
		Reconstruction        *reprMatrix `json:"residual_sq_reconstruction_rule"`
		ReconstructionClasses []int       `json:"predictions_reconstruction_rule"`
	}
	var file struct {
		Inputs reprInputs
		Par    struct {
			Rho    float64 `json:"admm_rho"`
			Passes int     `json:"admm_iterations"`
		} `json:"hyperparameters"`
		Outputs   outputs
		Tolerance struct {
			reprTolerance
			ADMM float64 `json:"admm_codes"`
		}
		Variants map[string]outputs
	}
	reprParse(t, raw, &file)
	file.Inputs.need(t, file.Outputs.Residual)
	residual, objective := cmp.Or(file.Tolerance.Residual, 1e-8), max(file.Tolerance.Objective, 1e-12)
	check := func(t *testing.T, values catalog.Values, want outputs, codes float64) {
		defer guard(t)
		ctx := context.Background()
		p, Y := file.Inputs.problem(), file.Inputs.Test.dense()
		p.Trace = func(name string, _ int, v float64) {
			if name == "test_unconverged" && v != 0 {
				t.Errorf("%g codes did not converge", v)
			}
		}
		values["rule"] = "plain"
		model := reprMust[methods.Model](t)(build[represent.NRC](t, "nrc", values).Fit(ctx, p)).(*represent.NRCModel)
		S := reprMust[*mat.Dense](t)(model.Codes(ctx, Y))
		reprNearIf(t, "codes", S, want.Codes, codes)
		E := reprMust[*mat.Dense](t)(model.Residuals(ctx, Y))
		reprNearIf(t, "residual_sq", E, want.Residual, max(codes, residual))
		reprObjectivesIf(t, p.X, Y, S, func(squared float64, _ []float64) float64 { return squared }, want.reprOutputs, objective)
		got := reprMust[[]int](t)(model.Predict(ctx, Y))
		reprClassesIf(t, "predictions", got, want.Classes)
		reprAccuracy(t, got, file.Inputs.TestTrue, want.Accuracy)
		values["rule"] = "reconstruction"
		model = reprMust[methods.Model](t)(build[represent.NRC](t, "nrc", values).Fit(ctx, p)).(*represent.NRCModel)
		reprNearIf(t, "residual_sq_reconstruction_rule", reprMust[*mat.Dense](t)(model.Scores(ctx, Y)), want.Reconstruction, max(codes, residual))
		reprClassesIf(t, "predictions_reconstruction_rule", reprMust[[]int](t)(model.Predict(ctx, Y)), want.ReconstructionClasses)
	}
	t.Run("exact", func(t *testing.T) {
		check(t, catalog.Values{"solver": "exact"}, file.Outputs, cmp.Or(file.Tolerance.Codes, 1e-7))
	})
	for name, want := range file.Variants {
		if name != "admm_fixed_iterations" {
			t.Errorf("no check for the variant %q", name)
			continue
		}
		t.Run("admm", func(t *testing.T) {
			if file.Par.Rho == 0 || file.Par.Passes == 0 {
				t.Skip("the file does not say admm_rho and admm_iterations")
			}
			check(t, catalog.Values{"solver": "admm", "rho": file.Par.Rho, "passes": file.Par.Passes}, want, cmp.Or(file.Tolerance.ADMM, 1e-9))
		})
	}
}
