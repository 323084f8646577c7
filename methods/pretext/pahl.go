package pretext

import (
	"context"
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/mat"
	"ssdl/methods"
	"ssdl/methods/linalg"
)

// PAHL is p-Laplacian attention hypergraph learning, the pretext task of SSDL (Eqs. 1-11):
// hyperedges attend to each other through I - L_p, where L_p = Q Lambda Q^T is the p-Laplacian
// embedding of a graph of hyperedges, and F = O (I + Delta_pl/lambda)^-1.
//
// The paper leaves open which w the quotient of Eq. 6 has. Operator chooses the variant:
//
//   - edge: w = Psi = De^-1/2 H^T Dv^-1 H De^-1/2, the similarity of hyperedges, and Eq. 5
//     made symmetric, Delta = I - B (I - L_p) B^T with B = Dv^-1/2 H De^-1/2;
//   - excess: the same with L_p - L_2 in place of L_p; p = 2 is exactly HL;
//   - literal: w as printed, an entry of the diagonal W: L_p = 0, HL for every p;
//   - vertex: Delta = L_p with w = Theta, the similarity of samples, and L_2 on the complement
//     of the embedding.
//
// The factor of the quotient is 1/2, with which p = 2 gives the eigenvalues of L_2.
type PAHL struct {
	K          int     `param:"k" default:"10" min:"1" doc:"neighbours of the centre in a hyperedge, and of an unseen sample in its score"`
	P          float64 `param:"p" default:"2.2" min:"1.01" max:"3" doc:"exponent of the p-Laplacian"`
	Lambda     float64 `param:"lambda" default:"0.1" min:"1e-6" doc:"weight of staying close to the initial labels"`
	Fill       float64 `param:"fill" default:"0.5" min:"0" max:"1" doc:"initial label value of unlabelled samples"`
	M          int     `param:"m" default:"200" min:"1" doc:"columns of the embedding Q (at most one per sample is used)"`
	T          int     `param:"t" default:"30" min:"0" doc:"gradient steps"`
	Step       string  `param:"step" default:"luo" choices:"luo,armijo" doc:"relative step length beta sum|Q|/sum|Z|, or backtracking that starts there"`
	Beta       float64 `param:"beta" default:"0.01" min:"1e-9" doc:"relative length of each step (luo) or of the first (armijo)"`
	Gradient   string  `param:"gradient" default:"exact" choices:"exact,paper" doc:"gradient of the quotient, or Eq. 7 as printed"`
	Retraction string  `param:"retraction" default:"qr" choices:"qr,none" doc:"how the columns of Q become orthonormal again after a step"`
	Operator   string  `param:"operator" default:"edge" choices:"edge,excess,literal,vertex" doc:"variant of w in Eq. 6 and of Eq. 5"`
	Deflate    bool    `param:"deflate" default:"false" doc:"control: keep the null vectors of L_2 in Q and descend in their complement"`
}

// PseudoLabels implements methods.Pretext. Entries of F can be slightly negative or above
// 1. The row of a class without labelled samples is 0.
func (m PAHL) PseudoLabels(ctx context.Context, p methods.Problem) (methods.Pseudo, error) {
	if err := p.Check("pahl", m); err != nil {
		return methods.Pseudo{}, err
	}
	h, err := sharedHypergraph(ctx, p, m.K, "unit")
	if err != nil {
		return methods.Pseudo{}, err
	}
	var start, e Embedding
	if m.Operator != "literal" {
		if start, e, err = m.embed(ctx, p, h); err != nil {
			return methods.Pseudo{}, err
		}
		for t, f := range e.F1 {
			p.Trace.Add("f1", t, f)
		}
		p.Trace.Add("orthogonality", 0, e.Orthogonality)
	}
	s, err := m.Laplacian(h, start, e).Solve(ctx, "pahl", initialLabels(p, m.Fill), m.Lambda)
	if err != nil {
		return methods.Pseudo{}, err
	}
	traceSolution(p, s)
	return methods.Pseudo{F: s.F, Score: outOfSample("pahl", p.X, s.F, m.K, h.Sigma2)}, nil
}

// embed returns the eigenpairs of L_2, which do not depend on p, and the embedding, which does not
// depend on lambda.
func (m PAHL) embed(ctx context.Context, p methods.Problem, h *Hypergraph) (start, e Embedding, err error) {
	W := h.Psi
	if m.Operator == "vertex" {
		W = h.Theta()
	}
	start, err = methods.Shared(ctx, p, m.eigenpairsKey(), func() (Embedding, int64, error) {
		start, err := Eigenpairs(ctx, W, m.M)
		if err != nil {
			return Embedding{}, 0, err
		}
		return start, start.bytes(), nil
	})
	if err != nil {
		return Embedding{}, Embedding{}, err
	}
	e, err = methods.Shared(ctx, p, m.embeddingKey(), func() (Embedding, int64, error) {
		e, err := m.Descend(ctx, W, start)
		if err != nil {
			return Embedding{}, 0, err
		}
		return e, e.bytes(), nil
	})
	return start, e, err
}

// Laplacian returns Delta_pl of h with L_p given by e. start holds the eigenpairs of L_2; only
// Operator excess uses them. Delta is positive semi-definite, except that excess can have
// eigenvalues slightly below 0.
func (m PAHL) Laplacian(h *Hypergraph, start, e Embedding) Laplacian {
	n := len(h.Dv)
	if m.Operator == "literal" {
		return HL{}.Laplacian(h)
	}
	largest := slices.Max(e.Lambda)
	// |Q|^2, which is 1 with a retraction.
	size := 1 + float64(len(e.Lambda))*e.Orthogonality
	if m.Operator == "vertex" {
		return vertexLaplacian(h, e, largest*size, size)
	}
	attend := func(z *mat.Dense) {
		minus := e.weighted(z)
		if m.Operator == "excess" {
			gemm(blas.NoTrans, blas.NoTrans, 1, start.Q, start.weighted(z), 1, z)
		}
		gemm(blas.NoTrans, blas.NoTrans, -1, e.Q, minus, 1, z)
	}
	return Laplacian{N: n, Top: max(1, largest*size), Apply: func(dst, Y *mat.Dense) { applyLaplacian(h, dst, Y, attend) }}
}

// vertexLaplacian returns Q Lambda Q^T + R L_2 R with R = I - Q Q^T and
// L_2 = diag(Theta 1) - Theta. The complement of the embedding keeps its ordinary penalty: without
// it a truncated Q would not regularise. norm bounds |Q Lambda Q^T|, size |Q|^2.
func vertexLaplacian(h *Hypergraph, e Embedding, norm, size float64) Laplacian {
	n := len(h.Dv)
	degree, one := mat.NewDense(n, 1, nil), mat.NewDense(n, 1, nil)
	for i := range n {
		one.Set(i, 0, 1)
	}
	applyLaplacian(h, degree, one, nil)
	degree.Sub(one, degree) // Theta 1
	rest := max(1, size-1)  // |R|
	return Laplacian{N: n, Top: norm + 2*mat.Max(degree)*rest*rest, Apply: func(dst, Y *mat.Dense) {
		r := mat.DenseCopyOf(Y)
		e.leaveOut(r)
		applyLaplacian(h, dst, r, nil)
		linalg.Parallel(n, rowGrain, func(lo, hi int) {
			for i := lo; i < hi; i++ {
				axpy(dst.RawRowView(i), degree.At(i, 0)-1, r.RawRowView(i)) // L_2 r
			}
		})
		e.leaveOut(dst)
		gemm(blas.NoTrans, blas.NoTrans, 1, e.Q, e.weighted(Y), 1, dst)
	}}
}

// weighted returns Lambda Q^T y (M x m).
func (e Embedding) weighted(y *mat.Dense) *mat.Dense {
	_, cols := y.Dims()
	t := mat.NewDense(len(e.Lambda), cols, nil)
	gemm(blas.Trans, blas.NoTrans, 1, e.Q, y, 0, t)
	for i, v := range e.Lambda {
		row := t.RawRowView(i)
		for c := range row {
			row[c] *= v
		}
	}
	return t
}

// leaveOut replaces y by (I - Q Q^T) y.
func (e Embedding) leaveOut(y *mat.Dense) {
	_, cols := y.Dims()
	t := mat.NewDense(len(e.Lambda), cols, nil)
	gemm(blas.Trans, blas.NoTrans, 1, e.Q, y, 0, t)
	gemm(blas.NoTrans, blas.NoTrans, -1, e.Q, t, 1, y)
}
