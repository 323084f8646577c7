package dictionary

import (
	"context"
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"

	"ssdl/methods"
	"ssdl/methods/linalg"
)

// startPairs starts with atoms for each class.
func startPairs(t *testing.T, p methods.Problem, atoms int) Pairs {
	t.Helper()
	perClass, err := size{given: atoms}.perClass(p, p)
	if err != nil {
		t.Fatal(err)
	}
	return pairStart(p, perClass)
}

// The shared factor gives what the formula of each class does, with more samples than features
// and fewer, for tau on either side of lambda.
func TestProjectionsAreThoseOfTheFormula(t *testing.T) {
	ctx := context.Background()
	for _, dim := range []int{8, 40} {
		for _, par := range [][3]float64{{0.05, 0.003, 1e-3}, {0.01, 0.3, 1e-2}, {0.2, 0.2, 1e-2}} {
			tau, lambda, gamma := par[0], par[1], par[2]
			p := ledlProblem(dim)
			members := byClass(p.Labels, p.Classes)
			a := newAnalysis(p, members, startPairs(t, p, 3))
			if err := a.own(ctx, p, members, tau, lambda, gamma); err != nil {
				t.Fatal(err)
			}
			a.firstCodes()
			for c, idx := range members {
				if len(idx) == 0 {
					if a.right[c] != nil {
						t.Error("a class without samples has a projection")
					}
					continue
				}
				others := []int{}
				for j, l := range p.Labels {
					if l != c {
						others = append(others, j)
					}
				}
				system := mat.NewDense(dim, dim, nil)
				own, rest := linalg.Outer(a.x[c]), linalg.Outer(methods.Columns(p.X, others))
				own.Scale(tau, own)
				rest.Scale(lambda, rest)
				system.Add(own, rest)
				for i := range dim {
					system.Set(i, i, system.At(i, i)+gamma)
				}
				// P system = tau S X_c^T
				a.project(c)
				var left, right mat.Dense
				left.Mul(a.p[c], system)
				right.Mul(a.s[c], a.x[c].T())
				right.Scale(tau, &right)
				left.Sub(&left, &right)
				if v := mat.Norm(&left, math.Inf(1)); v > 1e-10 {
					t.Errorf("dim %d, tau %g, lambda %g: class %d misses its equation by %g", dim, tau, lambda, c, v)
				}
			}
		}
	}
}

// Each step of ADDL lowers J, or leaves it; with the graphs frozen the same holds for LC-PDL's
// codes, atoms and projections, so it can rise only where the graphs are rebuilt.
func TestADDLNeverRaisesItsObjective(t *testing.T) {
	for _, dim := range []int{9, 40} {
		p := ledlProblem(dim)
		values := map[string]map[int]float64{"objective": {}, "classifier": {}}
		p.Trace = func(name string, it int, v float64) { values[name][it] = v }
		m := ADDL{Tau: 0.1, Lambda: 0.01, Alpha: 0.05, Gamma: 1e-3, Mu: 1e-2, Iterations: 40}
		if _, _, err := m.Train(context.Background(), p, startPairs(t, p, 5)); err != nil {
			t.Fatal(err)
		}
		f := values["objective"]
		for it := 1; it <= 40; it++ {
			if f[it] > f[it-1]*(1+1e-9) {
				t.Errorf("dim %d, iteration %d: J rose from %.12g to %.12g", dim, it, f[it-1], f[it])
			}
		}
		if f[40] > 0.5*f[0] {
			t.Errorf("dim %d: J went from %g to %g only", dim, f[0], f[40])
		}
	}
}

// DPL's splitting, whose penalty grows while it runs, ends before the best atoms in the unit
// ball are found, but not far from them.
func TestDPLAtoms(t *testing.T) {
	p := ledlProblem(12)
	members := byClass(p.Labels, p.Classes)
	a := newAnalysis(p, members, startPairs(t, p, 4))
	a.firstCodes()
	a.s[0].Scale(3, a.s[0])
	exact := mat.DenseCopyOf(a.d[0])
	if err := dplAtoms(a.d[0], a.x[0], a.s[0]); err != nil {
		t.Fatal(err)
	}
	for i := range 4 {
		if norm := mat.Norm(a.d[0].RowView(i), 2); norm > 1.01 {
			t.Errorf("atom %d has the norm %g", i, norm)
		}
	}
	rebuilt, _ := a.fit(0)
	a.d[0] = exact
	for range 500 {
		a.atoms(0)
	}
	best, _ := a.fit(0)
	if math.Abs(rebuilt-best) > 0.1*best {
		t.Errorf("the splitting ends at %g, the best is %g", rebuilt, best)
	}
}

// The weights of LC-PDL's classifier lead to the minimum of the sum of norms: its objective
// falls with every step on the same codes.
func TestLCPDLClassifier(t *testing.T) {
	p := ledlProblem(12)
	members := byClass(p.Labels, p.Classes)
	a := newAnalysis(p, members, startPairs(t, p, 4))
	values := map[int]float64{}
	p.Trace = func(_ string, it int, v float64) { values[it] = v }
	m := LCPDL{Mu: 1e-2}
	H := methods.OneHot(p.Labels, p.Classes, 0)
	var W *mat.Dense
	var err error
	for it := range 30 {
		if W, err = m.classifier(a, p, H, W, it); err != nil {
			t.Fatal(err)
		}
		if it > 1 && values[it] > values[it-1]*(1+1e-12) {
			t.Errorf("step %d: from %.15g to %.15g", it, values[it-1], values[it])
		}
	}
	L := LCPDL{Neighbours: 2, Delta: 4}.laplacian(a.d[0])
	for i := range 4 {
		sum := 0.0
		for j, v := range L.RawRowView(i) {
			sum += v
			if v != L.At(j, i) || i != j && v > 0 {
				t.Errorf("entry %d, %d of the Laplacian is %g, across the diagonal %g", i, j, v, L.At(j, i))
			}
		}
		if math.Abs(sum) > 1e-15 {
			t.Errorf("row %d of the Laplacian sums to %g", i, sum)
		}
	}
}
