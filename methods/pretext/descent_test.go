package pretext

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"
)

func TestDirectionOfTheDescent(t *testing.T) {
	h := hypergraph(t, clusters(40, 9, 3, 0.5, 40).X, 5)
	d := &descent{m: defaultPAHL()}
	for _, p := range []float64{1.2, 1.8, 2, 2.5} {
		for _, cols := range []int{5, 40} {
			Q := frame(t, 40, cols, 1)
			_, G := Gradient(h.Psi, Q, p, false)
			Z := mat.NewDense(40, cols, nil)
			d.project(Z, Q, G)
			var S mat.Dense
			S.Mul(Q.T(), Z)
			var sum mat.Dense
			sum.Add(&S, S.T())
			if a := mat.Norm(&sum, 2); a > 1e-12 {
				t.Errorf("p = %g, M = %d: Q^T Z is not skew by %.1e", p, cols, a)
			}
			z := mat.Norm(Z, 2)
			if p == 2 && cols == 40 {
				// tr(Q^T L_2 Q) is the same for every orthogonal Q.
				if z > 1e-12 {
					t.Errorf("square Q, p = 2: |Z| = %.1e", z)
				}
				continue
			}
			if z < 1e-3 {
				t.Errorf("p = %g, M = %d: |Z| = %.1e", p, cols, z)
			}
			// -Z descends: f_1 of the retracted step falls by what the slope says.
			f := func(s float64) float64 {
				next, err := d.step(Q, Z, s)
				if err != nil {
					t.Fatal(err)
				}
				return total(Quotient(h.Psi, next, p))
			}
			const step = 1e-6
			slope := (f(-step) - f(step)) / (2 * step)
			if want := innerProduct(G, Z); math.Abs(slope-want) > 1e-5*want || want <= 0 {
				t.Errorf("p = %g, M = %d: slope %g, want %g", p, cols, slope, want)
			}
		}
	}
}

func TestOrthonormalised(t *testing.T) {
	for _, spread := range []float64{1, 1e3, 1e6} {
		A := random(50, 8, 3)
		for i := range 50 {
			A.Set(i, 2, A.At(i, 1)+A.At(i, 2)/spread)
			A.Set(i, 5, spread*A.At(i, 5))
		}
		Q, err := orthonormalised(A)
		if err != nil {
			t.Fatal(err)
		}
		if o := orthogonality(Q); o > 1e-14 {
			t.Errorf("spread %g: |Q^T Q - I| = %.1e", spread, o)
		}
		var R mat.Dense // Q^T A must be upper triangular with a positive diagonal
		R.Mul(Q.T(), A)
		for i := range 8 {
			if R.At(i, i) <= 0 {
				t.Errorf("spread %g: R has %g on its diagonal", spread, R.At(i, i))
			}
			for j := range i {
				if math.Abs(R.At(i, j)) > 1e-9*spread {
					t.Errorf("spread %g: R has %g below its diagonal", spread, R.At(i, j))
				}
			}
		}
	}
	if _, err := orthonormalised(mat.NewDense(5, 2, nil)); err == nil {
		t.Error("zero columns have been orthonormalised")
	}
}

func TestDescents(t *testing.T) {
	h := hypergraph(t, clusters(90, 9, 3, 0.5, 41).X, 6)
	start := eigenpairs(t, h.Psi, 25)
	for _, p := range []float64{1.2, 1.5, 1.8, 2.2, 2.5, 3} {
		m := defaultPAHL()
		m.P, m.T = p, 20
		luo := descended(t, m, h.Psi, start)
		if f := luo.F1; len(f) != 21 || f[20] >= f[0] {
			t.Errorf("p = %g: luo's f_1 goes from %g to %g in %d steps", p, f[0], f[len(f)-1], len(f)-1)
		}
		if start.F1[0] <= 0 || total(luo.Lambda) != luo.F1[20] {
			t.Errorf("p = %g: f_1 = %g, sum of Lambda %g", p, luo.F1[20], total(luo.Lambda))
		}
		m.Step = "armijo"
		armijo := descended(t, m, h.Psi, start)
		for i, f := range armijo.F1[1:] {
			if f > armijo.F1[i] {
				t.Errorf("p = %g: armijo's step %d raises f_1 from %v to %v", p, i+1, armijo.F1[i], f)
			}
		}
		if len(armijo.F1) < 5 {
			t.Errorf("p = %g: armijo made %d steps", p, len(armijo.F1)-1)
		}
		for name, e := range map[string]Embedding{"luo": luo, "armijo": armijo} {
			if e.Orthogonality > 1e-13 {
				t.Errorf("p = %g, %s: |Q^T Q - I| = %.1e", p, name, e.Orthogonality)
			}
		}

		// Without retraction the norms grow, as Q^T Q = I + beta^2 Z^T Z has it.
		m.Step, m.Retraction = "luo", "none"
		loose := descended(t, m, h.Psi, start)
		if loose.Orthogonality < 1e-6 {
			t.Errorf("p = %g: |Q^T Q - I| = %.1e without a retraction", p, loose.Orthogonality)
		}
		for c := range 25 {
			if n := mat.Norm(loose.Q.ColView(c), 2); n < 1-1e-12 {
				t.Errorf("p = %g: column %d has shrunk to %g", p, c, n)
			}
		}
	}
}

// At p = 2 the start is stationary, whatever the settings.
func TestNoStepAtTwo(t *testing.T) {
	h := hypergraph(t, clusters(90, 9, 3, 0.5, 42).X, 6)
	start := eigenpairs(t, h.Psi, 25)
	for _, step := range []string{"luo", "armijo"} {
		for _, gradient := range []string{"exact", "paper"} {
			m := defaultPAHL()
			m.P, m.Step, m.Gradient = 2, step, gradient
			e := descended(t, m, h.Psi, start)
			if len(e.F1) != 1 || distance(e.Q, start.Q) != 0 {
				t.Errorf("%s, %s: %d steps", step, gradient, len(e.F1)-1)
			}
			for c, v := range e.Lambda {
				if math.Abs(v-start.Lambda[c]) > 1e-12 {
					t.Errorf("%s, %s: Lambda %d is %g, want %g", step, gradient, c, v, start.Lambda[c])
				}
			}
		}
	}
}
