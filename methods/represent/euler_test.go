package represent

import (
	"context"
	"math"
	"math/cmplx"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"ssdl/methods"
)

const eulerAlpha = 1.9

// mapped returns the columns of the map, in complex numbers.
func mapped(X *mat.Dense) [][]complex128 {
	dim, n := X.Dims()
	out := make([][]complex128, n)
	for j := range n {
		for i := range dim {
			out[j] = append(out[j], cmplx.Rect(math.Sqrt2/2, eulerAlpha*math.Pi*X.At(i, j)))
		}
	}
	return out
}

// inner is a^H b.
func inner(a, b []complex128) complex128 {
	sum := complex128(0)
	for i := range a {
		sum += cmplx.Conj(a[i]) * b[i]
	}
	return sum
}

func eulerProblem(n int) (methods.Problem, *mat.Dense) {
	r := rand.New(rand.NewPCG(uint64(n), 47))
	X, labels := clusters(r, 16, n, 3)
	Y, _ := clusters(r, 16, 6, 3)
	return methods.Problem{X: X, Labels: labels, Classes: 4}, Y // class 3 has no samples
}

// eulerCodes returns b[j][i], the entry i of the code of sample j.
func eulerCodes(t *testing.T, model *EulerModel, Y *mat.Dense) [][]complex128 {
	t.Helper()
	re, im, err := model.Codes(context.Background(), Y)
	if err != nil {
		t.Fatal(err)
	}
	n, m := re.Dims()
	b := make([][]complex128, m)
	for j := range m {
		for i := range n {
			v := complex(re.At(i, j), 0)
			if im != nil {
				v = complex(re.At(i, j), im.At(i, j))
			}
			b[j] = append(b[j], v)
		}
	}
	return b
}

// rest is y - sum of the columns z[i] b[i] for which keep(i).
func rest(y []complex128, z [][]complex128, b []complex128, keep func(i int) bool) []complex128 {
	e := append([]complex128(nil), y...)
	for i, v := range b {
		for d := range e {
			if keep(i) {
				e[d] -= z[i][d] * v
			}
		}
	}
	return e
}

// TestEulerKernel: the real part of the Gram matrix is half the sum of the cosines of alpha pi (x - y).
func TestEulerKernel(t *testing.T) {
	p, _ := eulerProblem(9)
	z := mapped(p.X)
	model := fit(t, EulerSRC{Alpha: eulerAlpha, Lambda: 1, Codes: "complex", Passes: 6}, p).(*EulerModel)
	for i := range 9 {
		for j := range 9 {
			kernel := 0.0
			for d := range 16 {
				kernel += 0.5 * math.Cos(eulerAlpha*math.Pi*(p.X.At(d, i)-p.X.At(d, j)))
			}
			k := inner(z[i], z[j])
			for what, d := range map[string]float64{
				"cosine kernel": model.G.At(i, j) - kernel,
				"real part":     model.G.At(9+i, 9+j) - real(k),
				"- imaginary":   model.G.At(i, 9+j) + imag(k),
				"+ imaginary":   model.G.At(9+i, j) - imag(k),
			} {
				if math.Abs(d) > 1e-13 {
					t.Errorf("(%d, %d): off the %s by %g", i, j, what, d)
				}
			}
		}
	}
}

// TestEulerCodesAreOptimal: z_i^H (z_y - Z b) is lambda b_i/|b_i| where b_i is not zero and at most
// lambda in modulus elsewhere; for real codes its real part is.
func TestEulerCodesAreOptimal(t *testing.T) {
	for _, n := range []int{9, 40} { // 40 columns are more than features
		p, Y := eulerProblem(n)
		z, y := mapped(p.X), mapped(Y)
		for _, codes := range []string{"complex", "real"} {
			for _, lambda := range []float64{0.02, 0.3} {
				model := fit(t, EulerSRC{Alpha: eulerAlpha, Lambda: lambda, Codes: codes, Passes: 6}, p).(*EulerModel)
				zeros := 0
				for j, b := range eulerCodes(t, model, Y) {
					e := rest(y[j], z, b, func(int) bool { return true })
					for i, v := range b {
						w := inner(z[i], e)
						if codes == "real" {
							w = complex(real(w), 0)
						}
						off := max(cmplx.Abs(w)-lambda, 0)
						if v != 0 {
							off = cmplx.Abs(w - complex(lambda/cmplx.Abs(v), 0)*v)
						} else {
							zeros++
						}
						if !(off <= 1e-7*lambda) {
							t.Fatalf("N=%d, %s, lambda=%g: sample %d is off its minimum by %g at entry %d", n, codes, lambda, j, off, i)
						}
					}
				}
				if all := n * 6; zeros == all || zeros == 0 && lambda == 0.3 {
					t.Errorf("N=%d, %s, lambda=%g: %d of %d entries are zero", n, codes, lambda, zeros, all)
				}
			}
		}
	}
}

func TestEulerResiduals(t *testing.T) {
	p, Y := eulerProblem(20)
	z, y := mapped(p.X), mapped(Y)
	for _, codes := range []string{"complex", "real", "irls"} {
		model := fit(t, EulerSRC{Alpha: eulerAlpha, Lambda: 0.1, Codes: codes, Passes: 6}, p).(*EulerModel)
		Q, err := model.Residuals(context.Background(), Y)
		if err != nil {
			t.Fatal(err)
		}
		for j, b := range eulerCodes(t, model, Y) {
			for k := range 4 {
				e := rest(y[j], z, b, func(i int) bool { return p.Labels[i] == k })
				want := real(inner(e, e))
				if k == 3 {
					want = math.Inf(1)
				}
				if got := Q.At(k, j); got != want && !(math.Abs(got-want) <= 1e-12) {
					t.Errorf("%s: residual (%d, %d) is %g, want %g", codes, k, j, got, want)
				}
			}
		}
	}
}

// TestEulerPasses against the authors' form, b = w (K diag(w) + lambda I)^-1 c with w = |b|, which is
// no symmetric system.
func TestEulerPasses(t *testing.T) {
	const n, lambda = 12, 0.1
	p, Y := eulerProblem(n)
	z, y := mapped(p.X), mapped(Y)
	b := make([][]complex128, len(y))
	for j := range b {
		for range n {
			b[j] = append(b[j], 1)
		}
	}
	for pass := 1; pass <= 6; pass++ {
		model := fit(t, EulerSRC{Alpha: eulerAlpha, Lambda: lambda, Codes: "irls", Passes: pass}, p).(*EulerModel)
		got := eulerCodes(t, model, Y)
		for j := range y {
			A, c := mat.NewDense(2*n, 2*n, nil), mat.NewVecDense(2*n, nil)
			for i := range n {
				for k := range n {
					v := inner(z[i], z[k]) * complex(cmplx.Abs(b[j][k]), 0)
					A.Set(i, k, real(v))
					A.Set(i, n+k, -imag(v))
					A.Set(n+i, k, imag(v))
					A.Set(n+i, n+k, real(v))
				}
				r := inner(z[i], y[j])
				c.SetVec(i, real(r))
				c.SetVec(n+i, imag(r))
			}
			for i := range 2 * n {
				A.Set(i, i, A.At(i, i)+lambda)
			}
			if err := c.SolveVec(A, c); err != nil {
				t.Fatal(err)
			}
			for i := range n {
				b[j][i] = complex(cmplx.Abs(b[j][i]), 0) * complex(c.AtVec(i), c.AtVec(n+i))
				if d := cmplx.Abs(got[j][i] - b[j][i]); !(d <= 1e-9) {
					t.Fatalf("pass %d, sample %d: entry %d is off by %g", pass, j, i, d)
				}
			}
		}
	}
}

// TestEulerCodeOfZeroColumns by hand: the map of the zero column and of a zero sample is 1/sqrt 2 for
// each of two features, so that Z^H Z = Z^H z_y = 1. The minimum of 0.5 |1 - b|^2 + lambda |b| is at
// 1 - lambda, and a pass from b = w makes b = w/(w + lambda).
func TestEulerCodeOfZeroColumns(t *testing.T) {
	const lambda = 0.25
	p := methods.Problem{X: mat.NewDense(2, 1, nil), Labels: []int{0}, Classes: 1}
	for codes, want := range map[string]float64{"complex": 0.75, "real": 0.75, "irls": 0.8 / 1.05} {
		model := fit(t, EulerSRC{Alpha: eulerAlpha, Lambda: lambda, Codes: codes, Passes: 2}, p).(*EulerModel)
		if b := eulerCodes(t, model, mat.NewDense(2, 1, nil))[0][0]; cmplx.Abs(b-complex(want, 0)) > 1e-12 {
			t.Errorf("%s: the code is %v, want %v", codes, b, want)
		}
	}
}

// TestEulerKeepsZeroColumns: two of them, one of them the only sample of its class. They take part in
// the codes, which are optimal over all columns, and in the residuals.
func TestEulerKeepsZeroColumns(t *testing.T) {
	const lambda = 0.02
	p, Y := eulerProblem(15)
	p.X.SetCol(4, make([]float64, 16))
	p.X.SetCol(9, make([]float64, 16))
	p.Labels[4] = 3
	Y.SetCol(0, make([]float64, 16)) // the nearest training columns are those
	z, y := mapped(p.X), mapped(Y)
	for _, codes := range []string{"complex", "real"} {
		model := fit(t, EulerSRC{Alpha: eulerAlpha, Lambda: lambda, Codes: codes, Passes: 1}, p).(*EulerModel)
		Q, err := model.Residuals(context.Background(), Y)
		if err != nil {
			t.Fatal(err)
		}
		for j, b := range eulerCodes(t, model, Y) {
			if len(b) != 15 {
				t.Fatalf("%s: a code of %d entries, want 15", codes, len(b))
			}
			if j == 0 && !(cmplx.Abs(b[4]+b[9]) > 0.9) {
				t.Errorf("%s: the zero sample has the code %v over the zero columns", codes, b[4]+b[9])
			}
			e := rest(y[j], z, b, func(int) bool { return true })
			for i, v := range b {
				w := inner(z[i], e)
				if codes == "real" {
					w = complex(real(w), 0)
				}
				off := max(cmplx.Abs(w)-lambda, 0)
				if v != 0 {
					off = cmplx.Abs(w - complex(lambda/cmplx.Abs(v), 0)*v)
				}
				if !(off <= 1e-7*lambda) {
					t.Errorf("%s: sample %d is off its minimum by %g at entry %d", codes, j, off, i)
				}
			}
			for k := range 4 {
				e := rest(y[j], z, b, func(i int) bool { return p.Labels[i] == k })
				if want := real(inner(e, e)); math.Abs(Q.At(k, j)-want) > 1e-9 {
					t.Errorf("%s: residual (%d, %d) is %g, want %g", codes, k, j, Q.At(k, j), want)
				}
			}
		}
	}
}
