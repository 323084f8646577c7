package represent

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"ssdl/methods"
)

func nrcCodes(t *testing.T, setting NRC, p methods.Problem, Y *mat.Dense) *mat.Dense {
	t.Helper()
	S, err := fit(t, setting, p).(*NRCModel).Codes(context.Background(), Y)
	if err != nil {
		t.Fatal(err)
	}
	return S
}

// TestNRCCodesAreOptimal with fewer and with more columns than features: s >= 0, and the residual
// is orthogonal to the columns used and correlated positively with no other.
func TestNRCCodesAreOptimal(t *testing.T) {
	for _, n := range []int{6, 20, 60} {
		r := rand.New(rand.NewPCG(uint64(n), 31))
		X, labels := clusters(r, 20, n, 3)
		Y, _ := clusters(r, 20, 9, 3)
		S := nrcCodes(t, NRC{Solver: "exact", Rho: 1, Passes: 1, Rule: "plain"}, methods.Problem{X: X, Labels: labels, Classes: 3}, Y)
		var E, W mat.Dense
		E.Mul(X, S)
		E.Sub(Y, &E)
		W.Mul(X.T(), &E)
		used := 0
		for i := range n {
			for j := range 9 {
				s, w := S.At(i, j), W.At(i, j)
				if s < 0 || w > 1e-12 || s > 0 && w < -1e-12 {
					t.Fatalf("N=%d, sample %d: s_%d = %g where the correlation is %g", n, j, i, s, w)
				}
				if s > 0 {
					used++
				}
			}
		}
		if used == 0 {
			t.Fatalf("N=%d: all codes are zero", n)
		}
	}
}

// TestNRCPassesEndAtTheMinimum, and a few of them do not: the number of passes is a parameter.
func TestNRCPassesEndAtTheMinimum(t *testing.T) {
	r := rand.New(rand.NewPCG(37, 37))
	X, labels := clusters(r, 40, 15, 3) // fewer columns than features: the codes are unique
	Y, _ := clusters(r, 40, 8, 3)
	p := methods.Problem{X: X, Labels: labels, Classes: 3}
	want := nrcCodes(t, NRC{Solver: "exact", Rho: 1, Passes: 1, Rule: "plain"}, p, Y)
	last := math.Inf(1)
	for _, passes := range []int{1, 10, 100, 1000} {
		var D mat.Dense
		D.Sub(nrcCodes(t, NRC{Solver: "admm", Rho: 1, Passes: passes, Rule: "plain"}, p, Y), want)
		off := mat.Norm(&D, math.Inf(1))
		if !(off < 0.5*last) && off > 1e-12 {
			t.Errorf("after %d passes the codes are off by %g, before by %g", passes, off, last)
		}
		if passes == 1 && off < 1e-2 {
			t.Errorf("one pass is off by no more than %g", off)
		}
		last = off
	}
	if last > 1e-12 {
		t.Errorf("the passes end %g from the minimum", last)
	}
}

// TestNRCReconstructionRule is ||X s - X_k s_k||^2.
func TestNRCReconstructionRule(t *testing.T) {
	r := rand.New(rand.NewPCG(41, 41))
	X, labels := clusters(r, 12, 20, 3)
	Y, _ := clusters(r, 12, 7, 3)
	model := fit(t, NRC{Solver: "exact", Rho: 1, Passes: 1, Rule: "reconstruction"}, methods.Problem{X: X, Labels: labels, Classes: 4}).(*NRCModel)
	S, err := model.Codes(context.Background(), Y)
	if err != nil {
		t.Fatal(err)
	}
	Q, err := model.Scores(context.Background(), Y)
	if err != nil {
		t.Fatal(err)
	}
	for k := range 4 {
		for j := range 7 {
			want := 0.0
			for i := range 12 {
				e := 0.0
				for c, y := range labels {
					if y != k {
						e += X.At(i, c) * S.At(c, j)
					}
				}
				want += e * e
			}
			if k == 3 { // no samples
				want = math.Inf(1)
			}
			if got := Q.At(k, j); got != want && !(math.Abs(got-want) <= 1e-13) {
				t.Errorf("score (%d, %d) is %g, want %g", k, j, got, want)
			}
		}
	}
}
