package represent

import (
	"context"
	"math"

	"gonum.org/v1/gonum/mat"

	"ssdl/methods"
	"ssdl/methods/linalg"
)

// gallery holds the labelled columns X (dim x N), and the Gram matrix of each class for its
// residuals.
type gallery struct {
	X      *mat.Dense
	labels []int
	// members[k] are the columns of class k; blocks[k] = X_k^T X_k, nil for a class
	// without samples.
	members [][]int
	blocks  []*mat.Dense
	// first is the lowest class that has samples.
	first int
}

// newGallery returns the gallery of a problem without unlabelled columns.
func newGallery(p methods.Problem) *gallery {
	g := &gallery{
		X: p.X, labels: p.Labels,
		members: make([][]int, p.Classes),
		blocks:  make([]*mat.Dense, p.Classes),
	}
	for j, y := range p.Labels {
		g.members[y] = append(g.members[y], j)
	}
	linalg.Parallel(p.Classes, 1, func(k, _ int) {
		if len(g.members[k]) > 0 {
			g.blocks[k] = linalg.Gram(methods.Columns(g.X, g.members[k]))
		}
	})
	for len(g.members[g.first]) == 0 {
		g.first++
	}
	return g
}

// gram returns X^T X (N x N) of the labelled columns. All methods and settings on one problem
// share it.
func (g *gallery) gram(ctx context.Context, p methods.Problem) (*mat.Dense, error) {
	return methods.Shared(ctx, p, gramKey, func() (*mat.Dense, int64, error) {
		G := linalg.Gram(g.X)
		n, _ := G.Dims()
		return G, 8 * int64(n) * int64(n), nil
	})
}

// outer returns X X^T (dim x dim) of the labelled columns, shared as gram is.
func (g *gallery) outer(ctx context.Context, p methods.Problem) (*mat.Dense, error) {
	return methods.Shared(ctx, p, outerKey, func() (*mat.Dense, int64, error) {
		A := linalg.Outer(g.X)
		n, _ := A.Dims()
		return A, 8 * int64(n) * int64(n), nil
	})
}

// correlations returns X^T Y (N x M) and the squared norms of the columns of Y (dim x M).
func (g *gallery) correlations(Y *mat.Dense) (R *mat.Dense, yy []float64) {
	R = new(mat.Dense)
	R.Mul(g.X.T(), Y)
	return R, linalg.ColumnSquares(Y)
}

// residuals returns the squared class residuals (C x M) of the codes S (N x M),
//
//	e_k = ||y - X_k s_k||^2 = y^T y - 2 c_k^T s_k + s_k^T (X_k^T X_k) s_k,   c = X^T y,
//
// clamped at 0; the columns of R (N x M) are the c. A class without samples has +Inf.
func (g *gallery) residuals(S, R *mat.Dense, yy []float64) *mat.Dense {
	m := len(yy)
	E := mat.NewDense(len(g.members), m, nil)
	linalg.Parallel(len(g.members), 1, func(k, _ int) {
		e := E.RawRowView(k)
		if len(g.members[k]) == 0 {
			for c := range e {
				e[c] = math.Inf(1)
			}
			return
		}
		Sk := mat.NewDense(len(g.members[k]), m, nil)
		for i, j := range g.members[k] {
			copy(Sk.RawRowView(i), S.RawRowView(j))
		}
		var KS mat.Dense
		KS.Mul(g.blocks[k], Sk)
		for i, j := range g.members[k] {
			s, ks, r := Sk.RawRowView(i), KS.RawRowView(i), R.RawRowView(j)
			for c := range e {
				e[c] = math.FMA(s[c], ks[c]-2*r[c], e[c])
			}
		}
		for c := range e {
			e[c] = max(yy[c]+e[c], 0)
		}
	})
	return E
}

// perNorm divides each squared class residual (C x M) by the squared norm of the class's
// part of the code S (N x M). The quotient is the square of CRC's regularised residual and has
// the same minimum. A class whose part is zero has +Inf.
func (g *gallery) perNorm(E, S *mat.Dense) *mat.Dense {
	classes, m := E.Dims()
	Q := mat.NewDense(classes, m, nil)
	for k := range classes {
		norm, e, q := make([]float64, m), E.RawRowView(k), Q.RawRowView(k)
		for _, j := range g.members[k] {
			for c, v := range S.RawRowView(j) {
				norm[c] = math.FMA(v, v, norm[c])
			}
		}
		for c := range q {
			q[c] = math.Inf(1)
			if norm[c] > 0 {
				q[c] = e[c] / norm[c]
			}
		}
	}
	return Q
}

// assign returns for each column of scores (C x M) the class with the smallest score, the lowest
// class on ties, and the number of codes that are zero. A zero code does not tell the classes
// apart: its sample gets the class of the nearest labelled column, the one with the largest
// |c_j|, or the lowest class that has samples if the sample is zero as well.
func (g *gallery) assign(scores, S, R *mat.Dense) (classes []int, zero int) {
	c, m := scores.Dims()
	classes = make([]int, m)
	best := make([]float64, m)
	for i := range best {
		best[i], classes[i] = math.Inf(1), g.first
	}
	for k := range c {
		for i, v := range scores.RawRowView(k) {
			if v < best[i] {
				best[i], classes[i] = v, k
			}
		}
	}
	nonzero := make([]bool, m)
	for j := range g.labels {
		for i, v := range S.RawRowView(j) {
			nonzero[i] = nonzero[i] || v != 0
		}
	}
	for i := range m {
		if nonzero[i] {
			continue
		}
		zero++
		classes[i] = g.first
		largest := 0.0
		for j, y := range g.labels {
			if a := math.Abs(R.At(j, i)); a > largest {
				largest, classes[i] = a, y
			}
		}
	}
	return classes, zero
}
