package pretext

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"
)

var powers = []float64{1.01, 1.2, 1.5, 1.8, 2, 2.2, 2.5, 2.8, 3}

func TestPower(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 5))
	for _, p := range powers {
		phi := newPower(p).phi
		exact := func(x float64) float64 { return math.Copysign(math.Pow(math.Abs(x), p-1), x) }
		worst := 0.0
		for range 100000 {
			x := (2*r.Float64() - 1) * math.Pow(10, -18*r.Float64())
			worst = max(worst, math.Abs(phi(x)-exact(x))/math.Abs(exact(x)))
		}
		// math.Pow, the reference, is itself off by as much.
		if worst > 4e-15 {
			t.Errorf("p = %g: relative error %.2e", p, worst)
		}
		for _, x := range []float64{0, math.Copysign(0, -1), 1, -1, 2, -2, 0x1p-1022, -0x1p-500} {
			if y := phi(x); math.Abs(y-exact(x)) > 4e-14*math.Abs(exact(x)) || math.Signbit(y) != math.Signbit(x) {
				t.Errorf("p = %g: phi(%g) = %g, want %g", p, x, y, exact(x))
			}
		}
		if y := phi(-0x1p-1060); y != 0 {
			t.Errorf("p = %g: phi of a number below 2^-1022 is %g", p, y)
		}
	}
}

func TestGradientIsThatOfTheQuotient(t *testing.T) {
	h := hypergraph(t, clusters(40, 9, 3, 0.5, 30).X, 5)
	Q := random(40, 11, 1) // more than one panel, the last one not full
	for _, p := range powers {
		R, G := Gradient(h.Psi, Q, p, false)
		_, printed := Gradient(h.Psi, Q, p, true)
		scaled := mat.DenseCopyOf(Q)
		scaled.Scale(-3.7, scaled)
		again := Quotient(h.Psi, scaled, p)
		for m := range R {
			// R by its definition.
			num, den := 0.0, 0.0
			for i := range 40 {
				cols, vals := h.Psi.row(i)
				for e, j := range cols {
					num += vals[e] * math.Pow(math.Abs(Q.At(i, m)-Q.At(int(j), m)), p) / 2
				}
				den += math.Pow(math.Abs(Q.At(i, m)), p)
			}
			if d := math.Abs(R[m] - num/den); d > 1e-13 {
				t.Errorf("p = %g: R of column %d is off by %.1e", p, m, d)
			}
			if d := math.Abs(again[m] - R[m]); d > 1e-13 {
				t.Errorf("p = %g: R changes by %.1e with the length of column %d", p, d, m)
			}
			// Euler: R is homogeneous of degree 0.
			if along := mat.Dot(Q.ColView(m), G.ColView(m)); math.Abs(along) > 1e-13 {
				t.Errorf("p = %g: q.grad R = %.1e for column %d", p, along, m)
			}
			// Finite differences along a direction.
			const step = 1e-6
			direction := random(40, 1, uint64(m))
			at := func(s float64) float64 {
				v := mat.NewDense(40, 1, nil)
				for i := range 40 {
					v.Set(i, 0, Q.At(i, m)+s*direction.At(i, 0))
				}
				return Quotient(h.Psi, v, p)[0]
			}
			slope := mat.Dot(direction.ColView(0), G.ColView(m))
			if d := math.Abs((at(step)-at(-step))/(2*step) - slope); d > 1e-6 && p > 1.1 {
				t.Errorf("p = %g: slope of column %d is off by %.1e", p, m, d)
			}
			// Eq. 7 as printed: sum_j w phi over den, less phi/den^2.
			i := 3
			cols, vals := h.Psi.row(i)
			flow := 0.0
			for e, j := range cols {
				d := Q.At(i, m) - Q.At(int(j), m)
				flow += vals[e] * math.Copysign(math.Pow(math.Abs(d), p-1), d)
			}
			q := Q.At(i, m)
			want := (flow - math.Copysign(math.Pow(math.Abs(q), p-1), q)/den) / den
			if d := math.Abs(printed.At(i, m) - want); d > 1e-13 {
				t.Errorf("p = %g: Eq. 7 of column %d is off by %.1e", p, m, d)
			}
		}
	}
}

// The quotient of a constant is 0 for every p, and so is that of a zero column.
func TestQuotientOfConstants(t *testing.T) {
	h := hypergraph(t, clusters(30, 9, 3, 0.5, 31).X, 4)
	Q := mat.NewDense(30, 2, nil)
	for i := range 30 {
		Q.Set(i, 0, -0.7)
	}
	for _, p := range powers {
		R, G := Gradient(h.Psi, Q, p, false)
		if R[0] != 0 || R[1] != 0 || mat.Norm(G, 1) != 0 {
			t.Errorf("p = %g: quotients %v, gradient %g", p, R, mat.Norm(G, 1))
		}
	}
}

func BenchmarkGradient(b *testing.B) {
	p := clusters(1000, 20, 8, 0.5, 32)
	h, err := NewHypergraph(b.Context(), p.X, 10, "unit")
	if err != nil {
		b.Fatal(err)
	}
	Q, G := random(1000, 40, 2), mat.NewDense(1000, 40, nil)
	g := newPGraph(h.Psi, 2.2)
	for b.Loop() {
		g.evaluate(Q, G, false)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(40*len(g.w)), "ns/pow")
}
