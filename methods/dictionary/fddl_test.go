package dictionary

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"ssdl/methods"
	"ssdl/methods/linalg"
)

func TestFDDLObjectiveFalls(t *testing.T) {
	for _, dim := range []int{9, 40} {
		p := ledlProblem(dim)
		f := map[int]float64{}
		p.Trace = func(name string, it int, v float64) {
			if name == "objective" {
				f[it] = v
			}
		}
		F := mat.NewDense(p.Classes, len(p.Labels), nil)
		for j, c := range p.Labels {
			F.Set(c, j, 1)
		}
		m := FDDL{Atoms: 4, Size: 1, SizeOf: "all", Lambda1: 0.01, Lambda2: 0.05, Iterations: 15, Rule: "gc", Mode: "paper", TestLambda: 0.01, Weight: 0.1}
		if _, err := m.FitTargets(context.Background(), p, F); err != nil {
			t.Fatal(err)
		}
		for it := 1; it <= 15; it++ {
			if f[it] > f[it-1]*(1+1e-12) {
				t.Errorf("dim %d, iteration %d: the objective rose from %.12g to %.12g", dim, it, f[it-1], f[it])
			}
		}
		if f[15] > 0.999*f[0] {
			t.Errorf("dim %d: the objective went from %g to %g only", dim, f[0], f[15])
		}
	}
}

// Where the descent ends no code can gain by moving: the gradient by its definition is within
// lambda1 of zero, and lambda1 away from it on the support.
func TestFDDLCodesAreOptimal(t *testing.T) {
	for _, dim := range []int{9, 40} {
		p := ledlProblem(dim)
		m := FDDL{Atoms: 4, Lambda1: 0.02, Lambda2: 0.05, Iterations: 1, Mode: "paper"}
		members := byClass(p.Labels, p.Classes)
		start := make([]*mat.Dense, p.Classes)
		for c, idx := range members {
			if len(idx) > 0 {
				start[c] = mat.DenseCopyOf(methods.Columns(p.X, idx[:min(4, len(idx))]))
			}
		}
		w := newFisher(m, p, start, nil)
		for range 30 {
			if err := w.codes(context.Background()); err != nil {
				t.Fatal(err)
			}
		}
		objective := func() float64 {
			v := 0.0
			w.record(func(_ string, _ int, f float64) { v = f }, 0)
			return v - m.Lambda1*absSum(w.s)
		}
		const h = 1e-5
		k, n := w.s.Dims()
		for i := range k {
			for j := range n {
				s := w.s.At(i, j)
				w.s.Set(i, j, s+h)
				up := objective()
				w.s.Set(i, j, s-h)
				slope := (up - objective()) / (2 * h)
				w.s.Set(i, j, s)
				if s != 0 && math.Abs(slope+math.Copysign(m.Lambda1, s)) > 1e-5 || math.Abs(slope) > m.Lambda1+1e-5 {
					t.Fatalf("dim %d: code %d of sample %d is %g, the slope there %g", dim, i, j, s, slope)
				}
			}
		}
	}
}

func TestLargestEigenvalue(t *testing.T) {
	r := rand.New(rand.NewPCG(31, 1))
	for _, k := range []int{1, 2, 7, 120, 300} {
		G := linalg.Gram(gaussian(r, 50, k))
		var eigen mat.EigenSym
		if !eigen.Factorize(mat.NewSymDense(k, mat.DenseCopyOf(G).RawMatrix().Data), false) {
			t.Fatal("no eigenvalues")
		}
		want := eigen.Values(nil)[k-1]
		if got := largestEigenvalue(G); math.Abs(got-want) > 1e-10*want {
			t.Errorf("K = %d: %.15g, want %.15g", k, got, want)
		}
	}
	if got := largestEigenvalue(mat.NewDense(3, 3, nil)); got != 0 {
		t.Errorf("of zeros: %g", got)
	}
}

// The first atom is the mean, the others are orthogonal and explain the deviations.
func TestPrincipalAtoms(t *testing.T) {
	r := rand.New(rand.NewPCG(32, 1))
	X := gaussian(r, 20, 6)
	D, err := principalAtoms(X, 10) // more than there are
	if err != nil {
		t.Fatal(err)
	}
	if _, k := D.Dims(); k != 6 {
		t.Fatalf("%d atoms from 6 samples, want the mean and 5 directions", k)
	}
	var qr mat.QR
	qr.Factorize(D)
	var S, E mat.Dense
	if err := qr.SolveTo(&S, false, X); err != nil {
		t.Fatal(err)
	}
	E.Mul(D, &S)
	E.Sub(X, &E)
	if v := mat.Norm(&E, 2); v > 1e-10 {
		t.Errorf("the atoms miss the samples they come from by %g", v)
	}
	if D, err = principalAtoms(gaussian(r, 20, 1), 3); err != nil {
		t.Fatal(err)
	}
	if _, k := D.Dims(); k != 1 {
		t.Errorf("%d atoms from one sample", k)
	}
}
