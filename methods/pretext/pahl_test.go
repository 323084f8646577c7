package pretext

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// Eq. 10 is a strictly convex quadratic in F: its gradient 2 F Delta + 2 lambda (F - O)
// vanishes at the solution, for every operator.
func TestPseudoLabelsMinimiseTheirObjective(t *testing.T) {
	p := clusters(60, 12, 3, 0.3, 1)
	h := hypergraph(t, p.X, 5)
	check := func(name string, l Laplacian, lambda float64) {
		O := initialLabels(p, 0.5)
		s, err := l.Solve(t.Context(), name, O, lambda)
		if err != nil {
			t.Fatal(err)
		}
		var G, d mat.Dense
		G.Mul(s.F, formed(l))
		d.Sub(s.F, O)
		d.Scale(lambda, &d)
		G.Add(&G, &d)
		if g := mat.Norm(&G, 2); g > 1e-11 {
			t.Errorf("%s, lambda %g: gradient of Eq. 10 is %.1e", name, lambda, g)
		}
		if a, b := mat.Norm(s.F, 2), mat.Norm(O, 2); a > b*(1+1e-12) {
			t.Errorf("%s, lambda %g: |F| = %g > |O| = %g", name, lambda, a, b)
		}
		values := spectrum(t, formed(l))
		if top := values[len(values)-1]; top > l.Top+1e-12 {
			t.Errorf("%s: largest eigenvalue %g above the bound %g", name, top, l.Top)
		}
		if s.DeltaMin < values[0]-1e-9 {
			t.Errorf("%s, lambda %g: smallest eigenvalue estimated as %g, it is %g", name, lambda, s.DeltaMin, values[0])
		}
	}
	for _, lambda := range []float64{1e-3, 0.1, 10} {
		check("hl", HL{}.Laplacian(h), lambda)
		check("hl shifted", HL{Shift: 0.1}.Laplacian(h), lambda)
		for _, graph := range []string{"knn", "rbf"} {
			l, err := GL{K: 5, Graph: graph}.Laplacian(t.Context(), p)
			if err != nil {
				t.Fatal(err)
			}
			check("gl "+graph, l, lambda)
		}
		for _, operator := range []string{"edge", "literal", "vertex"} {
			for _, retraction := range []string{"qr", "none"} {
				m := defaultPAHL()
				m.Operator, m.Retraction = operator, retraction
				start, e, err := m.embed(t.Context(), p, h)
				if err != nil {
					t.Fatal(err)
				}
				check("pahl "+operator+" "+retraction, m.Laplacian(h, start, e), lambda)
			}
		}
	}
}

func TestOperatorsAgainstHL(t *testing.T) {
	p := clusters(60, 12, 3, 0.3, 2)
	hl := labels(t, HL{K: 5, Bandwidth: "unit", Lambda: 0.1, Fill: 0.5}, p)
	for _, power := range []float64{1.5, 1.8, 2, 2.2} {
		m := defaultPAHL()
		m.P, m.Operator = power, "literal"
		if d := distance(labels(t, m, p), hl); d != 0 {
			t.Errorf("literal, p = %g: differs from HL by %.1e", power, d)
		}
	}
	for _, cols := range []int{10, 60} {
		m := defaultPAHL()
		m.P, m.Operator, m.M = 2, "excess", cols
		if d := distance(labels(t, m, p), hl); d > 1e-10 {
			t.Errorf("excess, p = 2, M = %d: differs from HL by %.1e", cols, d)
		}
		m.P = 2.2
		if d := distance(labels(t, m, p), hl); d < 1e-3 {
			t.Errorf("excess, p = 2.2, M = %d: differs from HL by %.1e only", cols, d)
		}
	}
	if d := distance(labels(t, HL{K: 5, Bandwidth: "unit", Lambda: 0.1, Fill: 0.5, Shift: 0.1}, p), hl); d < 1e-3 {
		t.Errorf("the shifted control differs from HL by %.1e only", d)
	}
}

// With L_2 = I - Psi the edge operator at p = 2 is I - Theta^2, and
// O (I + (I-Theta^2)/lambda)^-1 = F_HL(s-1) (s+1)(sI+Theta)^-1 with s = sqrt(1+lambda).
func TestEdgeOperatorIsTwoStepsOfHL(t *testing.T) {
	p := clusters(50, 12, 3, 0.3, 3)
	h := hypergraph(t, p.X, 5)
	n := len(h.Dv)
	var eigen mat.EigenSym
	psi := full(h.Psi)
	if !eigen.Factorize(mat.NewSymDense(n, psi.RawMatrix().Data), true) {
		t.Fatal("no eigenvalues of Psi")
	}
	e := Embedding{Q: new(mat.Dense), Lambda: eigen.Values(nil)}
	eigen.VectorsTo(e.Q)
	for i, v := range e.Lambda {
		e.Lambda[i] = 1 - v
	}
	l := defaultPAHL().Laplacian(h, Embedding{}, e)
	theta, want := full(h.Theta()), identity(n)
	var square mat.Dense
	square.Mul(theta, theta)
	want.Sub(want, &square)
	if d := distance(formed(l), want); d > 1e-13 {
		t.Errorf("Delta differs from I - Theta^2 by %.1e", d)
	}
	const lambda = 0.1
	O := initialLabels(p, 0.5)
	s, err := l.Solve(t.Context(), "edge", O, lambda)
	if err != nil {
		t.Fatal(err)
	}
	root := math.Sqrt(1 + lambda)
	hl, err := HL{}.Laplacian(h).Solve(t.Context(), "hl", O, root-1)
	if err != nil {
		t.Fatal(err)
	}
	var filter, F mat.Dense
	filter.Scale(root, identity(n))
	filter.Add(&filter, theta)
	if err := F.Solve(&filter, hl.F.T()); err != nil {
		t.Fatal(err)
	}
	F.Scale(root+1, &F)
	if d := distance(s.F, F.T()); d > 1e-11 {
		t.Errorf("F differs from the filtered HL by %.1e", d)
	}
}

func TestEdgeLaplacianDominatesHL(t *testing.T) {
	p := clusters(60, 12, 3, 0.3, 4)
	h := hypergraph(t, p.X, 5)
	hl := formed(HL{}.Laplacian(h))
	for _, power := range []float64{1.2, 1.8, 2, 2.5, 3} {
		m := defaultPAHL()
		m.P = power
		start := eigenpairs(t, h.Psi, 30)
		var more mat.Dense
		more.Sub(formed(m.Laplacian(h, start, descended(t, m, h.Psi, start))), hl)
		if v := spectrum(t, &more)[0]; v < -1e-13 {
			t.Errorf("p = %g: smallest eigenvalue of Delta - Delta_l is %g", power, v)
		}
	}
}

// Descending in the complement of the null vector keeps the damping of the fill where
// HL has it: F and the smallest eigenvalue stay near those of p = 2.
func TestDeflationKeepsTheNullVector(t *testing.T) {
	p := clusters(90, 12, 3, 0.3, 5)
	h := hypergraph(t, p.X, 6)
	start := eigenpairs(t, h.Psi, 20)
	m := defaultPAHL()
	m.T = 30
	free := descended(t, m, h.Psi, start)
	m.Deflate = true
	kept := descended(t, m, h.Psi, start)
	if start.Null == 0 || kept.Null != start.Null {
		t.Fatalf("%d null vectors kept of %d", kept.Null, start.Null)
	}
	for c := range kept.Null {
		if kept.Lambda[c] != 0 {
			t.Errorf("null vector %d has Lambda %g", c, kept.Lambda[c])
		}
		for i := range h.Dv {
			if kept.Q.At(i, c) != start.Q.At(i, c) {
				t.Fatalf("null vector %d has moved", c)
			}
		}
	}
	if kept.Orthogonality > 1e-13 {
		t.Errorf("|Q^T Q - I| = %.1e", kept.Orthogonality)
	}
	if f := kept.F1; f[len(f)-1] >= f[0] || f[len(f)-1] <= free.F1[len(free.F1)-1] {
		t.Errorf("f_1 went from %g to %g; without deflation to %g", f[0], f[len(f)-1], free.F1[len(free.F1)-1])
	}
	smallest := func(e Embedding) float64 { return spectrum(t, formed(m.Laplacian(h, start, e)))[0] }
	if a, b := smallest(kept), smallest(free); a > b/3 {
		t.Errorf("smallest eigenvalue of Delta is %g with deflation and %g without", a, b)
	}
}
