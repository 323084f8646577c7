package golden

import (
	"context"
	"testing"

	"gonum.org/v1/gonum/mat"

	"ssdl/methods"
	"ssdl/methods/represent"
)

func init() { handle("euler_src", goldenEuler) }

func goldenEuler(t *testing.T, raw []byte) {
	type outputs struct {
		reprOutputs
		Re *reprMatrix `json:"codes_re"`
		Im *reprMatrix `json:"codes_im"`
	}
	var file struct {
		Inputs reprInputs
		Par    struct {
			Lambda float64 `json:"lambda_"`
			Alpha  float64
			Passes int `json:"irls_iterations"`
		} `json:"hyperparameters"`
		Outputs   outputs
		Tolerance struct {
			reprTolerance
			IRLS float64 `json:"irls6_codes"`
		}
		Variants map[string]outputs
	}
	reprParse(t, raw, &file)
	ctx := context.Background()
	check := func(t *testing.T, codes string, want outputs, tol float64) {
		p, Y := file.Inputs.problem(), file.Inputs.Test.dense()
		p.Trace = func(name string, _ int, v float64) {
			if name == "test_unconverged" && v != 0 {
				t.Errorf("%g codes did not converge", v)
			}
		}
		m := represent.EulerSRC{Alpha: file.Par.Alpha, Lambda: file.Par.Lambda, Codes: codes, Passes: max(1, file.Par.Passes)}
		model := reprMust[methods.Model](t)(m.Fit(ctx, p)).(*represent.EulerModel)
		re, im, err := model.Codes(ctx, Y)
		if err != nil {
			t.Fatal(err)
		}
		if codes == "real" {
			reprNear(t, "codes", re, want.Codes, tol, false)
		} else {
			reprNear(t, "codes_re", re, want.Re, tol, false)
			reprNear(t, "codes_im", im, want.Im, tol, false)
		}
		E := reprMust[*mat.Dense](t)(model.Residuals(ctx, Y))
		reprNear(t, "residual_sq", E, want.Residual, max(tol, file.Tolerance.Residual), false)
		got := reprMust[[]int](t)(model.Predict(ctx, Y))
		reprSameClasses(t, "predictions", got, want.Classes)
		reprAccuracy(t, got, file.Inputs.TestTrue, want.Accuracy)
	}
	t.Run("complex", func(t *testing.T) { check(t, "complex", file.Outputs, file.Tolerance.Codes) })
	for name, want := range file.Variants {
		switch name {
		case "irls6":
			// The passes go through nearly singular systems; the file allows for other factorisations.
			t.Run("irls", func(t *testing.T) { check(t, "irls", want, 1e-6) })
		case "real_codes":
			t.Run("real", func(t *testing.T) { check(t, "real", want, file.Tolerance.Codes) })
		default:
			t.Errorf("no check for the variant %q", name)
		}
	}
}
