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

// ledlProblem has the classes 0, 1 and 3 of four, in sizes 9, 1 and 12.
func ledlProblem(dim int) methods.Problem {
	r := rand.New(rand.NewPCG(21, uint64(dim)))
	centres := unit(r, dim, 4, 1)
	p := methods.Problem{Classes: 4, Rand: rand.New(rand.NewPCG(22, 1))}
	for c, n := range []int{9, 1, 0, 12} {
		for range n {
			p.Labels = append(p.Labels, c)
		}
	}
	p.X = unit(r, dim, len(p.Labels), 0.5)
	for j, c := range p.Labels {
		for i := range dim {
			p.X.Set(i, j, p.X.At(i, j)+centres.At(i, c))
		}
	}
	linalg.NormalizeColumns(p.X)
	return p
}

func TestLEDLIsTheDefinition(t *testing.T) {
	p := ledlProblem(15)
	m := LEDL{K: 10, Lambda: 0.3, Omega: 0.2, Epsilon: 0.01, Rho: 0.7}
	H := methods.OneHot(p.Labels, p.Classes, 0)
	class := shareOut(byFirstSample(p.Labels, p.Classes), present(p.Labels, p.Classes), 10)
	for _, c := range class {
		if c == 2 {
			t.Fatal("an atom was given to a class without samples")
		}
	}
	start := LEDLStart{D: uniformColumns(p, 15, 10), W: uniformColumns(p, 4, 10), A: uniformColumns(p, 10, 10), Class: class}
	s := m.Steps(p.X, H, start)
	n := len(p.Labels)
	Q := mat.NewDense(10, n, nil)
	for k, c := range class {
		Q.SetRow(k, H.RawRowView(c))
	}
	last := math.Inf(1)
	for it := range 40 {
		D, W, A := s.D(), s.W(), s.A()
		Z, delta := mat.DenseCopyOf(s.Z), mat.DenseCopyOf(s.Delta)
		if err := s.Iterate(context.Background()); err != nil {
			t.Fatal(err)
		}
		// The dense codes solve the system of the augmented Lagrangian at the old dictionaries.
		var left, right, residual mat.Dense
		for _, f := range []struct {
			weight  float64
			B, data *mat.Dense
		}{{1, D, p.X}, {m.Lambda, W, H}, {m.Omega, A, Q}} {
			var E, G mat.Dense
			E.Mul(f.B, s.S)
			E.Sub(f.data, &E)
			G.Mul(f.B.T(), &E)
			G.Scale(f.weight, &G)
			if left.IsEmpty() {
				left.CloneFrom(&G)
			} else {
				left.Add(&left, &G)
			}
		}
		right.Sub(s.S, Z)
		right.Scale(m.Rho, &right)
		right.Add(&right, delta)
		residual.Sub(&left, &right)
		if v := mat.Norm(&residual, math.Inf(1)); v > 1e-10 {
			t.Fatalf("iteration %d: the codes miss their system by %g", it, v)
		}
		for _, B := range []*mat.Dense{s.D(), s.W(), s.A()} {
			for _, v := range linalg.ColumnSquares(B) {
				if math.Abs(v-1) > 1e-12 {
					t.Fatalf("iteration %d: a column has the squared norm %g", it, v)
				}
			}
		}
		// The objective from the state equals its definition.
		want := 0.0
		for _, f := range []struct {
			weight  float64
			B, data *mat.Dense
		}{{1, s.D(), p.X}, {m.Lambda, s.W(), H}, {m.Omega, s.A(), Q}} {
			var E mat.Dense
			E.Mul(f.B, s.S)
			E.Sub(f.data, &E)
			want += f.weight * mat.Norm(&E, 2) * mat.Norm(&E, 2)
		}
		for _, v := range s.Z.RawMatrix().Data {
			want += 2 * m.Epsilon * math.Abs(v)
		}
		got := s.Objective()
		if math.Abs(got-want) > 1e-9*want {
			t.Fatalf("iteration %d: objective %.15g, want %.15g", it, got, want)
		}
		if it > 0 && got > last*1.001 {
			t.Errorf("iteration %d: the objective rose from %g to %g", it, last, got)
		}
		last = got
	}
}

func TestCSDLObjectiveNeverRises(t *testing.T) {
	p := ledlProblem(12)
	values := map[int]float64{}
	p.Trace = func(name string, it int, v float64) { values[it] = v }
	atoms, err := size{given: 5}.perClass(p, p)
	if err != nil {
		t.Fatal(err)
	}
	model, err := CSDL{Alpha: 0.05, Tau: 0.1, Iterations: 25, Mode: "paper"}.fit(context.Background(), p, atoms)
	if err != nil {
		t.Fatal(err)
	}
	for it := 2; it <= 25; it++ {
		if values[it] > values[it-1]+1e-12 {
			t.Errorf("iteration %d: the objective rose from %.15g to %.15g", it, values[it-1], values[it])
		}
	}
	if values[25] >= 0.9*values[1] {
		t.Errorf("the objective went from %g to %g only", values[1], values[25])
	}
	// The exact codes are optimal for the objective as it is written, not as it is solved.
	X := ledlProblem(12).X
	S, err := model.Codes(context.Background(), X)
	if err != nil {
		t.Fatal(err)
	}
	_, n := X.Dims()
	D := mat.DenseCopyOf(model.d.T())
	k, _ := S.Dims()
	var E, G mat.Dense
	E.Mul(D, S)
	E.Sub(X, &E)
	G.Mul(D.T(), &E)
	for c := range p.Classes {
		lo, hi := model.from[c], model.from[c+1]
		if lo == hi {
			continue
		}
		Dc := D.Slice(0, 12, lo, hi)
		var Ec, Gc mat.Dense
		Ec.Mul(Dc, S.Slice(lo, hi, 0, n))
		Ec.Sub(X, &Ec)
		Gc.Mul(Dc.T(), &Ec)
		Gc.Scale(0.1, &Gc)
		part := G.Slice(lo, hi, 0, n).(*mat.Dense)
		part.Add(part, &Gc)
	}
	for i := range k {
		for j := range n {
			s, g := S.At(i, j), G.At(i, j)
			if s != 0 && math.Abs(g-math.Copysign(0.05, s)) > 1e-8 || math.Abs(g) > 0.05+1e-8 {
				t.Fatalf("code %d of sample %d is %g where the correlation is %g", i, j, s, g)
			}
		}
	}
	E2, err := model.Residuals(context.Background(), X)
	if err != nil {
		t.Fatal(err)
	}
	if !math.IsInf(E2.At(2, 0), 1) {
		t.Error("a class without samples has a residual")
	}
}
