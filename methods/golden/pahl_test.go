package golden

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"
	"ssdl/methods"
	"ssdl/methods/catalog"
	"ssdl/methods/pretext"
)

// pretextMinimiser returns O (I + Delta/lambda)^-1 by elimination.
func pretextMinimiser(t *testing.T, Delta mat.Matrix, O *mat.Dense, lambda float64) *mat.Dense {
	t.Helper()
	var A, F mat.Dense
	A.Scale(1/lambda, Delta)
	n, _ := A.Dims()
	for i := range n {
		A.Set(i, i, A.At(i, i)+1)
	}
	if err := F.Solve(A.T(), O.T()); err != nil {
		t.Fatal(err)
	}
	return mat.DenseCopyOf(F.T())
}

func pretextSymmetric(A mat.Matrix) *mat.SymDense {
	n, _ := A.Dims()
	s := mat.NewSymDense(n, nil)
	for i := range n {
		for j := i; j < n; j++ {
			s.SetSym(i, j, (A.At(i, j)+A.At(j, i))/2)
		}
	}
	return s
}

func goldenPLaplacian(t *testing.T, raw []byte) {
	var c struct {
		W      pretextCOO
		U      pretextRows
		P      []float64
		R      pretextRows
		Grad   map[string]pretextRows
		Second []struct {
			P        *float64
			Lam      *float64
			GradNorm *float64 `json:"grad_norm"`
			V        []float64
		}
	}
	pretextParse(t, raw, &c)
	need(t, "W", c.W.dense() != nil)
	W := c.W.csr()
	if pretextAsymmetry(c.W.dense()) > pretextTight {
		t.Fatal("W is not symmetric")
	}
	if has(t, "U", len(c.U) > 0) {
		U := c.U.dense()
		quotients := func(p float64) []float64 {
			R, G := pretext.Gradient(W, U, p, false)
			pretextVector(t, "Quotient", pretext.Quotient(W, U, p), R, 0)
			if want, ok := c.Grad[strconv.FormatFloat(p, 'f', -1, 64)]; ok {
				pretextNear(t, "gradient", G, want.dense(), pretextTight)
			}
			return R
		}
		var R pretextRows // a row for each p
		for _, p := range c.P {
			R = append(R, quotients(p))
		}
		if has(t, "p", len(c.P) > 0) {
			pretextNear(t, "R", R.dense().T(), c.R.dense(), pretextTight)
		}
		for _, name := range slices.Sorted(maps.Keys(c.Grad)) {
			p, err := strconv.ParseFloat(name, 64)
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Contains(c.P, p) {
				quotients(p)
			}
		}
	}
	for _, s := range c.Second {
		if !has(t, "p and v of a second eigenpair", s.P != nil && len(s.V) > 0) {
			continue
		}
		v := mat.NewDense(len(s.V), 1, s.V)
		R, G := pretext.Gradient(W, v, *s.P, false)
		if s.Lam != nil {
			pretextClose(t, "second eigenvalue", R[0], *s.Lam, pretextTight)
		}
		// The file's norm is of the gradient at |v|_p = 1 or at another scale: of the same order.
		// Where it says that the pair did not converge, or nothing, there is nothing to see.
		if s.GradNorm == nil || *s.GradNorm > 1e-5 {
			continue
		}
		if g := mat.Norm(G, 2) * mat.Norm(v, 2); g > 1e-4 {
			t.Errorf("p = %v: scaled gradient of the second eigenvector is %.1e (%.1e recorded)", *s.P, g, *s.GradNorm)
		}
	}
}

func goldenPAHL(t *testing.T, raw []byte) {
	var c struct {
		pretextCase
		M             int
		H, Psi        pretextCOO
		Dv, De        []float64
		L2Eigenvalues []float64 `json:"L2_eigenvalues"`
		Q0            pretextRows
		Runs          []pahlRun
	}
	pretextParse(t, raw, &c)
	p := c.problem(t)
	h := c.hypergraph(t, p, c.H)
	pretextVector(t, "Dv", h.Dv, c.Dv, pretextTight)
	pretextVector(t, "De", h.De, c.De, pretextTight)
	pretextNear(t, "Psi", pretextDense(h.Psi), c.Psi.dense(), pretextTight)
	all, err := pretext.Eigenpairs(t.Context(), h.Psi, len(c.X))
	if err != nil {
		t.Fatal(err)
	}
	// The smallest ones, as many as the file has.
	pretextVector(t, "eigenvalues of L_2", all.Lambda[:min(len(all.Lambda), len(c.L2Eigenvalues))], c.L2Eigenvalues, pretextTight)
	if !has(t, "Q0", len(c.Q0) > 0) {
		return
	}
	if c.M > 0 && c.M != len(c.Q0[0]) {
		t.Fatalf("Q0 has %d columns, M is %d", len(c.Q0[0]), c.M)
	}
	var O *mat.Dense
	lambda := 1.0 // not used without O
	if c.filled(t) {
		O, lambda = methods.OneHot(p.Labels, c.C, *c.Fill), *c.Lambda
	}
	for i, r := range c.Runs {
		// What the runs leave out is the default of the methods; p decides all.
		if !has(t, fmt.Sprintf("p of run %d", i), r.P != nil) || !has(t, fmt.Sprintf("T of run %d", i), r.T != nil) {
			continue
		}
		if r.Step != "" && !strings.HasPrefix(r.Step, "luo: beta_t=0.01*") {
			t.Logf("run %d has the step %q and is not compared", i, r.Step)
			continue
		}
		if *r.T > 0 && !has(t, fmt.Sprintf("gradient and retraction of run %d", i), r.Gradient != "" && r.Retraction != "") {
			continue
		}
		t.Run(fmt.Sprintf("run%d_p%v", i, *r.P), func(t *testing.T) {
			defer guard(t)
			m := build[pretext.PAHL](t, "pahl", catalog.Values{
				"k": c.K, "p": *r.P, "lambda": lambda, "m": len(c.Q0[0]), "t": *r.T, "step": "luo", "beta": 0.01,
				"gradient": cmp.Or(r.Gradient, "exact"), "retraction": cmp.Or(r.Retraction, "qr"), "operator": "edge",
			})
			r.check(t, m, h, pretext.Embedding{Q: c.Q0.dense()}, O, &c.pretextCase)
		})
	}
}

// pahlRun is a descent that a file has.
type pahlRun struct {
	Gradient, Retraction, Step string
	T                          *int
	StepsTaken                 *int `json:"steps_taken"`
	P                          *float64
	Lam, F1                    []float64
	F, Q, Delta                pretextRows
	Loss                       *pretextLoss
	Min                        *float64 `json:"delta_eig_min"`
	Max                        *float64 `json:"delta_eig_max"`
}

// check runs m from start and compares; F and the losses for the initial labels O, if there
// are any.
func (r pahlRun) check(t *testing.T, m pretext.PAHL, h *pretext.Hypergraph, start pretext.Embedding, O *mat.Dense, c *pretextCase) {
	e, err := m.Descend(t.Context(), h.Psi, start)
	if err != nil {
		t.Fatal(err)
	}
	tol, steps := pretextTight, len(e.F1)-1
	if steps > 0 {
		tol = pretextDescended
	}
	if r.StepsTaken != nil && steps != *r.StepsTaken {
		t.Errorf("%d steps, want %d", steps, *r.StepsTaken)
	}
	// A file can repeat the value of a descent that ends early.
	history := slices.Clone(e.F1)
	for len(history) < len(r.F1) && len(history) <= m.T {
		history = append(history, e.F1[steps])
	}
	pretextVector(t, "f_1", history, r.F1, tol)
	pretextVector(t, "Lambda", e.Lambda, r.Lam, tol)
	pretextNear(t, "Q", e.Q, r.Q.dense(), tol)
	l := m.Laplacian(h, pretext.Embedding{}, e)
	Delta := pretextLaplacian(l)
	pretextNear(t, "Delta", Delta, r.Delta.dense(), tol)
	var estimate *float64
	if O != nil {
		s, err := l.Solve(t.Context(), "pahl", O, m.Lambda)
		if err != nil {
			t.Fatal(err)
		}
		pretextNear(t, "F", s.F, r.F.dense(), tol)
		r.Loss.check(t, s.F, c.hidden(), tol)
		estimate = &s.DeltaMin
	}
	if r.Min == nil && r.Max == nil {
		return
	}
	values := pretextEigenvalues(t, Delta)
	if r.Max != nil {
		pretextClose(t, "largest eigenvalue of Delta", values[len(values)-1], *r.Max, tol)
		if l.Top < *r.Max-tol {
			t.Errorf("largest eigenvalue of Delta is %v, above the bound %v", *r.Max, l.Top)
		}
	}
	if r.Min != nil {
		pretextClose(t, "smallest eigenvalue of Delta", values[0], *r.Min, tol)
		if estimate != nil && (*estimate < *r.Min-tol || *estimate > *r.Min+1e-6) {
			t.Errorf("smallest eigenvalue of Delta is estimated as %v, want %v", *estimate, *r.Min)
		}
	}
}

// pretextEigenvalues returns the eigenvalues of the symmetric part of A, ascending.
func pretextEigenvalues(t *testing.T, A mat.Matrix) []float64 {
	t.Helper()
	var eigen mat.EigenSym
	if !eigen.Factorize(pretextSymmetric(A), false) {
		t.Fatal("no eigenvalues")
	}
	return eigen.Values(nil)
}

func pretextAsymmetry(A mat.Matrix) float64 {
	n, _ := A.Dims()
	worst := 0.0
	for i := range n {
		for j := range i {
			worst = max(worst, math.Abs(A.At(i, j)-A.At(j, i)))
		}
	}
	return worst
}

// pahlOperator is what a file has of an operator and a p.
type pahlOperator struct {
	F, Delta   pretextRows
	Loss       *pretextLoss
	Asymmetry  *float64
	EigMin     *float64    `json:"eig_min_sympart"`
	FOtherSide pretextRows `json:"F_other_side"`
	FMinimiser pretextRows `json:"F_minimiser_of_eq10"`
}

// check compares Delta and, if O is not nil, its F, which solve returns.
func (w pahlOperator) check(t *testing.T, name string, Delta *mat.Dense, solve func() *mat.Dense, O *mat.Dense, c *pretextCase, tol float64) {
	t.Helper()
	pretextNear(t, name+": Delta", Delta, w.Delta.dense(), tol)
	if w.Asymmetry != nil {
		pretextClose(t, name+": asymmetry", pretextAsymmetry(Delta), *w.Asymmetry, tol)
	}
	if w.EigMin != nil {
		pretextClose(t, name+": smallest eigenvalue", pretextEigenvalues(t, Delta)[0], *w.EigMin, tol)
	}
	if O == nil {
		return
	}
	F := solve()
	pretextNear(t, name+": F", F, w.F.dense(), tol)
	w.Loss.check(t, F, c.hidden(), tol)
}

func goldenPAHLOperators(t *testing.T, raw []byte) {
	var c struct {
		pretextCase
		H         pretextCOO
		EigEdge   []float64   `json:"eig_edge"`
		EigVertex []float64   `json:"eig_vertex"`
		VEdge     pretextRows `json:"V_edge"`
		VVertex   pretextRows `json:"V_vertex"`
		ThetaOff  pretextCOO  `json:"theta_offdiag"`
		Operators map[string]map[string]pahlOperator
	}
	pretextParse(t, raw, &c)
	p := c.problem(t)
	n := len(c.X)
	h := c.hypergraph(t, p, c.H)
	theta := h.Theta()
	if c.ThetaOff.Val != nil {
		off := pretextDense(theta)
		for i := range n {
			off.Set(i, i, 0)
		}
		pretextNear(t, "Theta", off, c.ThetaOff.dense(), pretextTight)
	}
	edge, err := pretext.Eigenpairs(t.Context(), h.Psi, n)
	if err != nil {
		t.Fatal(err)
	}
	vertex, err := pretext.Eigenpairs(t.Context(), theta, n)
	if err != nil {
		t.Fatal(err)
	}
	pretextVector(t, "eigenvalues of the edge graph", edge.Lambda, c.EigEdge, pretextTight)
	pretextVector(t, "eigenvalues of the vertex graph", vertex.Lambda, c.EigVertex, pretextTight)
	tol := pretextRecomputed
	if has(t, "V_edge and V_vertex", c.VEdge != nil && c.VVertex != nil) {
		edge.Q, vertex.Q, tol = c.VEdge.dense(), c.VVertex.dense(), pretextTight
	}
	var O *mat.Dense
	lambda := 1.0 // not used without O
	if c.filled(t) {
		O, lambda = methods.OneHot(p.Labels, c.C, *c.Fill), *c.Lambda
	}
	for _, name := range slices.Sorted(maps.Keys(c.Operators)) {
		ps, err := strconv.ParseFloat(strings.TrimPrefix(name, "p"), 64)
		if err != nil {
			t.Fatalf("operators of %q: want p and a number", name)
		}
		pahlOperators(t, name, ps, c.Operators[name], h, edge, vertex, O, lambda, &c.pretextCase, tol)
	}
}

// pahlOperators checks all operators for one p; edge and vertex are where the descents,
// of no steps, start.
func pahlOperators(t *testing.T, name string, ps float64, want map[string]pahlOperator, h *pretext.Hypergraph,
	edge, vertex pretext.Embedding, O *mat.Dense, lambda float64, c *pretextCase, tol float64,
) {
	t.Helper()
	n := len(h.Dv)
	method := func(operator string) pretext.PAHL {
		return build[pretext.PAHL](t, "pahl", catalog.Values{
			"k": c.K, "p": ps, "lambda": lambda, "m": n, "t": 0, "operator": operator,
		})
	}
	descended := func(W *pretext.CSR, start pretext.Embedding) pretext.Embedding {
		e, err := method("edge").Descend(t.Context(), W, start)
		if err != nil {
			t.Fatal(err)
		}
		return e
	}
	ofEdges, ofVertices := descended(h.Psi, edge), descended(h.Theta(), vertex)
	// The ordered sum counts each pair twice: kappa = 1.
	twice := ofEdges
	twice.Lambda = make([]float64, n)
	for i, v := range ofEdges.Lambda {
		twice.Lambda[i] = 2 * v
	}
	laplacians := map[string]pretext.Laplacian{
		"literal_diagW":          method("literal").Laplacian(h, edge, pretext.Embedding{}),
		"edge_fullM":             method("edge").Laplacian(h, edge, ofEdges),
		"edge_fullM_ordered_sum": method("edge").Laplacian(h, edge, twice),
		"excess":                 method("excess").Laplacian(h, edge, ofEdges),
		"vertex":                 method("vertex").Laplacian(h, vertex, ofVertices),
		"vertex_sandwich":        method("edge").Laplacian(h, vertex, ofVertices),
	}
	for _, operator := range slices.Sorted(maps.Keys(want)) {
		w, what := want[operator], name+" "+operator
		if operator == "unsymmetrised_eq5" {
			// Eq. 5 as printed, (I - L_p) De^-1 left unsymmetric: no option, since its minimiser
			// is not Eq. 11.
			Delta := pahlPrinted(h, ofEdges)
			w.check(t, what, Delta, func() *mat.Dense { return pretextMinimiser(t, Delta, O, lambda) }, O, c, tol)
			if O != nil {
				pretextNear(t, what+": F from the other side", pretextMinimiser(t, Delta.T(), O, lambda), w.FOtherSide.dense(), tol)
				pretextNear(t, what+": minimiser", pretextMinimiser(t, pretextSymmetric(Delta), O, lambda), w.FMinimiser.dense(), tol)
			}
			continue
		}
		l, ok := laplacians[operator]
		if !ok {
			t.Errorf("no check for the operator %q", operator)
			continue
		}
		w.check(t, what, pretextLaplacian(l), func() *mat.Dense {
			s, err := l.Solve(t.Context(), operator, O, lambda)
			if err != nil {
				t.Fatal(err)
			}
			return s.F
		}, O, c, tol)
	}
}

// pahlPrinted returns Delta of Eq. 5 as printed, I - Dv^-1/2 H (I - L_p) De^-1 H^T Dv^-1/2.
func pahlPrinted(h *pretext.Hypergraph, e pretext.Embedding) *mat.Dense {
	n := len(h.Dv)
	var Lp, QL, left, right, attended, Delta mat.Dense
	QL.Mul(e.Q, mat.NewDiagDense(n, e.Lambda))
	Lp.Mul(&QL, e.Q.T())
	Lp.Scale(-1, &Lp)
	H := pretextDense(h.H)
	left.Apply(func(i, _ int, v float64) float64 { return v / math.Sqrt(h.Dv[i]) }, H)
	right.Apply(func(i, j int, v float64) float64 { return v / math.Sqrt(h.Dv[i]) / h.De[j] }, H)
	for i := range n {
		Lp.Set(i, i, Lp.At(i, i)+1)
	}
	attended.Mul(&left, &Lp)
	Delta.Mul(&attended, right.T())
	Delta.Scale(-1, &Delta)
	for i := range n {
		Delta.Set(i, i, Delta.At(i, i)+1)
	}
	return &Delta
}
