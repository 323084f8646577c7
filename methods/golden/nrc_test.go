package golden

import (
	"context"
	"testing"

	"gonum.org/v1/gonum/mat"

	"ssdl/methods"
	"ssdl/methods/represent"
)

func init() { handle("nrc", goldenNRC) }

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
	check := func(t *testing.T, setting represent.NRC, want outputs, codes float64) {
		ctx := context.Background()
		p, Y := file.Inputs.problem(), file.Inputs.Test.dense()
		p.Trace = func(name string, _ int, v float64) {
			if name == "test_unconverged" && v != 0 {
				t.Errorf("%g codes did not converge", v)
			}
		}
		setting.Rule = "plain"
		model := reprMust[methods.Model](t)(setting.Fit(ctx, p)).(*represent.NRCModel)
		S := reprMust[*mat.Dense](t)(model.Codes(ctx, Y))
		reprNear(t, "codes", S, want.Codes, codes, false)
		E := reprMust[*mat.Dense](t)(model.Residuals(ctx, Y))
		reprNear(t, "residual_sq", E, want.Residual, max(codes, file.Tolerance.Residual), false)
		reprObjectives(t, p.X, Y, S, func(squared float64, _ []float64) float64 { return squared },
			want.Objective, want.Total, max(file.Tolerance.Objective, 1e-12))
		got := reprMust[[]int](t)(model.Predict(ctx, Y))
		reprSameClasses(t, "predictions", got, want.Classes)
		reprAccuracy(t, got, file.Inputs.TestTrue, want.Accuracy)
		if want.Reconstruction == nil {
			return
		}
		setting.Rule = "reconstruction"
		model = reprMust[methods.Model](t)(setting.Fit(ctx, p)).(*represent.NRCModel)
		reprNear(t, "residual_sq_reconstruction_rule", reprMust[*mat.Dense](t)(model.Scores(ctx, Y)), want.Reconstruction, max(codes, file.Tolerance.Residual), false)
		if want.ReconstructionClasses != nil {
			reprSameClasses(t, "predictions_reconstruction_rule", reprMust[[]int](t)(model.Predict(ctx, Y)), want.ReconstructionClasses)
		}
	}
	t.Run("exact", func(t *testing.T) {
		check(t, represent.NRC{Solver: "exact"}, file.Outputs, file.Tolerance.Codes)
	})
	for name, want := range file.Variants {
		if name != "admm_fixed_iterations" {
			t.Errorf("no check for the variant %q", name)
			continue
		}
		t.Run("admm", func(t *testing.T) {
			check(t, represent.NRC{Solver: "admm", Rho: file.Par.Rho, Passes: file.Par.Passes}, want, file.Tolerance.ADMM)
		})
	}
}
