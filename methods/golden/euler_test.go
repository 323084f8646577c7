package golden

import (
	"cmp"
	"context"
	"math"
	"math/cmplx"
	"testing"

	"gonum.org/v1/gonum/mat"

	"ssdl/methods"
	"ssdl/methods/catalog"
	"ssdl/methods/represent"
)

func init() { handle("euler_src", goldenEuler) }

// eulerObjectives returns 0.5||z_y - Z b||^2 + lambda sum_j |b_j| for each column y of Y and its code
// b = re + i im; im may be nil.
func eulerObjectives(X, Y, re, im *mat.Dense, alpha, lambda float64) []float64 {
	dim, n := X.Dims()
	_, m := Y.Dims()
	z := func(x float64) complex128 { return cmplx.Rect(math.Sqrt2/2, alpha*math.Pi*x) }
	out := make([]float64, m)
	for j := range m {
		b := make([]complex128, n)
		for k := range n {
			b[k] = complex(re.At(k, j), 0)
			if im != nil {
				b[k] = complex(re.At(k, j), im.At(k, j))
			}
			out[j] += lambda * cmplx.Abs(b[k])
		}
		for i := range dim {
			e := z(Y.At(i, j))
			for k, v := range b {
				e -= z(X.At(i, k)) * v
			}
			out[j] += 0.5 * (real(e)*real(e) + imag(e)*imag(e))
		}
	}
	return out
}

func goldenEuler(t *testing.T, raw []byte) {
	type outputs struct {
		reprOutputs
		Re *reprMatrix `json:"codes_re"`
		Im *reprMatrix `json:"codes_im"`
	}
	var file struct {
		Inputs    reprInputs
		Par       fields `json:"hyperparameters"`
		Outputs   outputs
		Tolerance reprTolerance
		Variants  map[string]outputs
	}
	reprParse(t, raw, &file)
	file.Inputs.need(t, file.Outputs.Residual)
	lambda, alpha := file.Par.number(t, "lambda_"), file.Par.number(t, "alpha")
	passes, ok := field[int](t, file.Par, "irls_iterations")
	if !ok {
		passes = 6 // as the variant's name says
	}
	ctx := context.Background()
	check := func(t *testing.T, codes string, want outputs, tol float64) {
		defer guard(t)
		p, Y := file.Inputs.problem(), file.Inputs.Test.dense()
		p.Trace = func(name string, _ int, v float64) {
			if name == "test_unconverged" && v != 0 {
				t.Errorf("%g codes did not converge", v)
			}
		}
		m := build[represent.EulerSRC](t, "euler-src", catalog.Values{"alpha": alpha, "lambda": lambda, "codes": codes, "passes": passes})
		model := reprMust[methods.Model](t)(m.Fit(ctx, p)).(*represent.EulerModel)
		re, im, err := model.Codes(ctx, Y)
		if err != nil {
			t.Fatal(err)
		}
		if codes == "real" {
			reprNearIf(t, "codes", re, want.Codes, tol)
		} else {
			reprNearIf(t, "codes_re", re, want.Re, tol)
			reprNearIf(t, "codes_im", im, want.Im, tol)
		}
		got := eulerObjectives(p.X, Y, re, im, m.Alpha, m.Lambda)
		// At a minimum the objective is flat; the codes of the passes are none.
		within := cmp.Or(file.Tolerance.Objective, 1e-9)
		if codes == "irls" {
			within = max(within, tol)
		}
		sum := 0.0
		for j, f := range got {
			sum += f
			if want.Objective != nil && !(math.Abs(f-want.Objective[j]) <= within) {
				t.Errorf("objective of sample %d is %.17g, want %.17g", j, f, want.Objective[j])
			}
		}
		if want.Total != nil && !(math.Abs(sum-*want.Total) <= within*float64(len(got))) {
			t.Errorf("objective_total is %.17g, want %.17g", sum, *want.Total)
		}
		E := reprMust[*mat.Dense](t)(model.Residuals(ctx, Y))
		reprNearIf(t, "residual_sq", E, want.Residual, max(tol, file.Tolerance.Residual))
		classes := reprMust[[]int](t)(model.Predict(ctx, Y))
		reprClassesIf(t, "predictions", classes, want.Classes)
		reprAccuracy(t, classes, file.Inputs.TestTrue, want.Accuracy)
	}
	tol := cmp.Or(file.Tolerance.Codes, 1e-6)
	t.Run("complex", func(t *testing.T) { check(t, "complex", file.Outputs, tol) })
	for name, want := range file.Variants {
		switch name {
		case "irls6":
			// The passes go through nearly singular systems; the file allows for other factorisations.
			t.Run("irls", func(t *testing.T) { check(t, "irls", want, 1e-6) })
		case "real_codes":
			t.Run("real", func(t *testing.T) { check(t, "real", want, tol) })
		default:
			t.Errorf("no check for the variant %q", name)
		}
	}
}
