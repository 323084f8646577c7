package golden

import (
	"math"
	"strconv"
	"testing"

	"gonum.org/v1/gonum/mat"
	"ssdl/methods"
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
			P, Lam   float64
			GradNorm float64 `json:"grad_norm"`
			V        []float64
		}
	}
	pretextParse(t, raw, &c)
	W, U := c.W.csr(), c.U.dense()
	for i, p := range c.P {
		R, G := pretext.Gradient(W, U, p, false)
		pretextVector(t, "Quotient", pretext.Quotient(W, U, p), R, 0)
		for u, r := range R {
			pretextClose(t, "R", r, c.R[u][i], pretextTight)
		}
		want, ok := c.Grad[strconv.FormatFloat(p, 'f', -1, 64)]
		if !ok {
			t.Fatalf("no gradient for p = %v", p)
		}
		pretextNear(t, "gradient", G, want.dense(), pretextTight)
	}
	checked := 0
	for _, s := range c.Second {
		if s.P < 1.5 {
			continue // not a converged eigenpair in every file
		}
		checked++
		v := mat.NewDense(len(s.V), 1, s.V)
		R, G := pretext.Gradient(W, v, s.P, false)
		pretextClose(t, "second eigenvalue", R[0], s.Lam, pretextTight)
		// The file's norm is of the gradient at |v|_p = 1 or at another scale: of the same order.
		if g := mat.Norm(G, 2) * mat.Norm(v, 2); g > 1e-4 {
			t.Errorf("p = %v: scaled gradient of the second eigenvector is %.1e (%.1e recorded)", s.P, g, s.GradNorm)
		}
	}
	if checked == 0 && len(c.Second) > 0 {
		t.Errorf("none of the second eigenpairs was checked")
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
		Runs          []struct {
			Gradient, Retraction string
			T                    int
			StepsTaken           int `json:"steps_taken"`
			P                    float64
			Lam, F1              []float64
			F, Q, Delta          pretextRows
			Loss                 pretextLoss
			Min                  float64 `json:"delta_eig_min"`
			Max                  float64 `json:"delta_eig_max"`
		}
	}
	pretextParse(t, raw, &c)
	p := c.problem(nil)
	h, err := pretext.NewHypergraph(t.Context(), p.X, c.K, "unit")
	if err != nil {
		t.Fatal(err)
	}
	pretextNear(t, "H", pretextDense(h.H), c.H.dense(), pretextTight)
	pretextVector(t, "Dv", h.Dv, c.Dv, pretextTight)
	pretextVector(t, "De", h.De, c.De, pretextTight)
	pretextNear(t, "Psi", pretextDense(h.Psi), c.Psi.dense(), pretextTight)
	all, err := pretext.Eigenpairs(t.Context(), h.Psi, len(c.Labels))
	if err != nil {
		t.Fatal(err)
	}
	// The smallest ones, as many as the file has.
	pretextVector(t, "eigenvalues of L_2", all.Lambda[:min(len(all.Lambda), len(c.L2Eigenvalues))], c.L2Eigenvalues, pretextTight)

	O := methods.OneHot(p.Labels, c.C, c.Fill)
	for _, r := range c.Runs {
		m := pretext.PAHL{
			K: c.K, P: r.P, Lambda: c.Lambda, Fill: c.Fill, M: c.M, T: r.T, Step: "luo", Beta: 0.01,
			Gradient: r.Gradient, Retraction: r.Retraction, Operator: "edge",
		}
		e, err := m.Descend(t.Context(), h.Psi, pretext.Embedding{Q: c.Q0.dense()})
		if err != nil {
			t.Fatal(err)
		}
		tol := pretextTight
		if r.StepsTaken > 0 {
			tol = pretextDescended
		}
		if len(e.F1) != r.StepsTaken+1 {
			t.Errorf("%d steps, want %d", len(e.F1)-1, r.StepsTaken)
		}
		pretextVector(t, "f_1", e.F1, r.F1[:len(e.F1)], tol)
		pretextVector(t, "Lambda", e.Lambda, r.Lam, tol)
		if r.Q != nil {
			pretextNear(t, "Q", e.Q, r.Q.dense(), tol)
		}
		l := m.Laplacian(h, pretext.Embedding{}, e)
		Delta := pretextLaplacian(l)
		if r.Delta != nil {
			pretextNear(t, "Delta", Delta, r.Delta.dense(), tol)
		}
		s, err := l.Solve(t.Context(), "pahl", O, c.Lambda)
		if err != nil {
			t.Fatal(err)
		}
		pretextNear(t, "F", s.F, r.F.dense(), tol)
		r.Loss.check(t, s.F, c.hidden(), tol)
		if r.Max == 0 {
			continue // the file has no eigenvalues of Delta
		}
		var eigen mat.EigenSym
		if !eigen.Factorize(pretextSymmetric(Delta), false) {
			t.Fatal("no eigenvalues of Delta")
		}
		values := eigen.Values(nil)
		pretextClose(t, "smallest eigenvalue of Delta", values[0], r.Min, tol)
		pretextClose(t, "largest eigenvalue of Delta", values[len(values)-1], r.Max, tol)
		if l.Top < r.Max-tol {
			t.Errorf("largest eigenvalue of Delta is %v, above the bound %v", r.Max, l.Top)
		}
		if s.DeltaMin < r.Min-tol || s.DeltaMin > r.Min+1e-6 {
			t.Errorf("smallest eigenvalue of Delta is estimated as %v, want %v", s.DeltaMin, r.Min)
		}
	}
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
		Operators map[string]map[string]struct {
			F, Delta   pretextRows
			Loss       pretextLoss
			Asymmetry  float64
			EigMin     float64     `json:"eig_min_sympart"`
			FOtherSide pretextRows `json:"F_other_side"`
			FMinimiser pretextRows `json:"F_minimiser_of_eq10"`
		}
	}
	pretextParse(t, raw, &c)
	p := c.problem(nil)
	n := len(c.Labels)
	h, err := pretext.NewHypergraph(t.Context(), p.X, c.K, "unit")
	if err != nil {
		t.Fatal(err)
	}
	pretextNear(t, "H", pretextDense(h.H), c.H.dense(), pretextTight)
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
	if c.VEdge != nil {
		edge.Q, vertex.Q, tol = c.VEdge.dense(), c.VVertex.dense(), pretextTight
	}

	O := methods.OneHot(p.Labels, c.C, c.Fill)
	for name, ps := range map[string]float64{"p1.5": 1.5, "p2": 2, "p2.2": 2.2} {
		want, ok := c.Operators[name]
		if !ok || len(want) != 7 {
			t.Fatalf("%d operators for %s, want 7", len(want), name)
		}
		method := func(operator string) pretext.PAHL {
			return pretext.PAHL{
				K: c.K, P: ps, Lambda: c.Lambda, Fill: c.Fill, M: n, Step: "luo", Beta: 0.01,
				Gradient: "exact", Retraction: "qr", Operator: operator,
			}
		}
		descended := func(W *pretext.CSR, start pretext.Embedding) pretext.Embedding {
			e, err := method("edge").Descend(t.Context(), W, start)
			if err != nil {
				t.Fatal(err)
			}
			return e
		}
		ofEdges, ofVertices := descended(h.Psi, edge), descended(theta, vertex)
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
		for operator, l := range laplacians {
			w := want[operator]
			s, err := l.Solve(t.Context(), operator, O, c.Lambda)
			if err != nil {
				t.Fatal(err)
			}
			pretextNear(t, name+" "+operator+": F", s.F, w.F.dense(), tol)
			w.Loss.check(t, s.F, c.hidden(), tol)
			if w.Delta != nil {
				Delta := pretextLaplacian(l)
				pretextNear(t, name+" "+operator+": Delta", Delta, w.Delta.dense(), tol)
				var eigen mat.EigenSym
				if !eigen.Factorize(pretextSymmetric(Delta), false) {
					t.Fatal("no eigenvalues of Delta")
				}
				pretextClose(t, name+" "+operator+": smallest eigenvalue", eigen.Values(nil)[0], w.EigMin, tol)
			}
		}

		// Eq. 5 as printed, (I - L_p) De^-1 left unsymmetric: no option, since its minimiser
		// is not Eq. 11.
		w := want["unsymmetrised_eq5"]
		var Lp, QL, left, right, Delta mat.Dense
		QL.Mul(ofEdges.Q, mat.NewDiagDense(n, ofEdges.Lambda))
		Lp.Mul(&QL, ofEdges.Q.T())
		Lp.Scale(-1, &Lp)
		H := pretextDense(h.H)
		left.Apply(func(i, _ int, v float64) float64 { return v / math.Sqrt(h.Dv[i]) }, H)
		right.Apply(func(i, j int, v float64) float64 { return v / math.Sqrt(h.Dv[i]) / h.De[j] }, H)
		for i := range n {
			Lp.Set(i, i, Lp.At(i, i)+1)
		}
		var attended mat.Dense
		attended.Mul(&left, &Lp)
		Delta.Mul(&attended, right.T())
		Delta.Scale(-1, &Delta)
		asymmetry := 0.0
		for i := range n {
			Delta.Set(i, i, Delta.At(i, i)+1)
		}
		for i := range n {
			for j := range n {
				asymmetry = max(asymmetry, math.Abs(Delta.At(i, j)-Delta.At(j, i)))
			}
		}
		if w.Delta != nil {
			pretextNear(t, name+" Eq. 5: Delta", &Delta, w.Delta.dense(), tol)
		}
		pretextClose(t, name+" Eq. 5: asymmetry", asymmetry, w.Asymmetry, tol)
		F := pretextMinimiser(t, &Delta, O, c.Lambda)
		pretextNear(t, name+" Eq. 5: F", F, w.F.dense(), tol)
		w.Loss.check(t, F, c.hidden(), tol)
		pretextNear(t, name+" Eq. 5: F from the other side", pretextMinimiser(t, Delta.T(), O, c.Lambda), w.FOtherSide.dense(), tol)
		pretextNear(t, name+" Eq. 5: minimiser", pretextMinimiser(t, pretextSymmetric(&Delta), O, c.Lambda), w.FMinimiser.dense(), tol)
	}
}
