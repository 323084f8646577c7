// Package dictionary holds the methods that learn a dictionary: the "dictionary" rows of the
// paper's Table 1, and SSDL. All of them are learners and can follow a pretext; most harden its
// soft labels to classes.
package dictionary

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"ssdl/methods"
	"ssdl/methods/linalg"
	"ssdl/methods/sparse"
)

// The clean-up rules of K-SVD.
const (
	// ksvdCoherence is the largest inner product two atoms may have.
	ksvdCoherence = 0.99
	// ksvdUses is the least number of samples that must use an atom, by a code above ksvdCode.
	ksvdUses = 4
	ksvdCode = 1e-7
)

// epsilon is the distance from 1 to the next float64.
const epsilon = 0x1p-52

// KSVD minimises ||Y - D S||_F^2 with at most sparsity entries in a column of S and
// unit atoms, from D0 (dim x K), by the approximate K-SVD of Rubinstein, Zibulevsky and
// Elad (2008): iterations times
//
//  1. S = OMP(Y, D);
//  2. for each atom in turn, with E = Y_I - D S_I + d_k s_k on the samples I that use it:
//     d_k = E s_k^T / ||E s_k^T||, s_k = d_k^T E;
//  3. the root mean square error of an entry of Y is traced as "rmse";
//  4. an atom with an inner product above 0.99 with another, or with fewer than 4 samples
//     that use it, becomes the worst fitted sample, normalised.
//
// An atom that no sample uses becomes the worst fitted sample in step 2 already, and step 4 does
// not replace it again. A sample replaces at most one atom in an iteration, a zero sample none;
// with no sample left an atom stays as it is. Step 4 uses the errors of step 3, so the returned S
// (K x N) belongs to the dictionary before the last clean-up, as in the authors' toolbox. The error
// need not fall: OMP is greedy. The atoms keep the order of D0; a zero atom of D0 counts as unused.
// Y is dim x N.
func KSVD(ctx context.Context, Y, D0 *mat.Dense, sparsity, iterations int, trace methods.Trace) (D, S *mat.Dense, err error) {
	if sparsity < 1 || iterations < 1 {
		return nil, nil, fmt.Errorf("k-svd: %w: sparsity is %d and iterations %d, want at least 1", methods.ErrInput, sparsity, iterations)
	}
	w := newKSVD(Y, D0)
	dim, n := Y.Dims()
	for it := 1; it <= iterations; it++ {
		if err := w.code(ctx, sparsity); err != nil {
			return nil, nil, fmt.Errorf("k-svd, iteration %d: %w", it, err)
		}
		for k := range w.replaced {
			w.atom(k)
			if k%64 == 0 && ctx.Err() != nil {
				return nil, nil, fmt.Errorf("k-svd, iteration %d: %w", it, ctx.Err())
			}
		}
		sum := 0.0
		for j := range n {
			sum += w.sampleError(j)
		}
		trace.Add("rmse", it, math.Sqrt(sum/(float64(dim)*float64(n))))
		w.gram()
		w.cleanUp()
	}
	return mat.DenseCopyOf(w.D.T()), w.S, nil
}

// ksvd is the state of KSVD. Samples and atoms are rows, which keeps each contiguous.
type ksvd struct {
	Y    *mat.Dense // N x dim
	D    *mat.Dense // K x dim
	E    *mat.Dense // N x dim, Y - S^T D
	G    *mat.Dense // K x K, D D^T
	R, S *mat.Dense // K x N
	// errs holds ||E_n||^2, or -1 if E_n has changed since.
	errs []float64
	// used marks the samples that cannot become an atom in this iteration.
	used     []bool
	replaced []bool // atoms replaced in step 2
	// Workspace of one atom: its samples, its codes before and after, its new direction.
	idx      []int
	old, now []float64
	v        []float64
}

func newKSVD(Y, D0 *mat.Dense) *ksvd {
	dim, n := Y.Dims()
	_, k := D0.Dims()
	w := &ksvd{
		Y: mat.DenseCopyOf(Y.T()), D: mat.DenseCopyOf(D0.T()), E: mat.NewDense(n, dim, nil),
		G: mat.NewDense(k, k, nil), R: mat.NewDense(k, n, nil),
		errs: make([]float64, n), used: make([]bool, n), replaced: make([]bool, k),
		v: make([]float64, dim),
	}
	for i := range k {
		d := w.D.RawRowView(i)
		scale(1/math.Sqrt(dot(d, d)+epsilon), d)
	}
	w.gram()
	return w
}

// gram sets G = D D^T.
func (w *ksvd) gram() {
	g := w.G.RawMatrix()
	blas64.Syrk(blas.NoTrans, 1, w.D.RawMatrix(), 0,
		blas64.Symmetric{N: g.Rows, Stride: g.Stride, Data: g.Data, Uplo: blas.Upper})
	linalg.Mirror(w.G)
}

// code does step 1, sets the residual E and resets errs, used and replaced.
func (w *ksvd) code(ctx context.Context, sparsity int) error {
	w.R.Mul(w.D, w.Y.T())
	S, err := sparse.OMP(ctx, w.G, w.R, sparsity)
	if err != nil {
		return err
	}
	w.S = S
	w.E.Copy(w.Y)
	k, n := S.Dims()
	s := S.RawMatrix()
	linalg.Parallel(n, 16, func(lo, hi int) {
		for i := range k {
			for j, v := range s.Data[i*s.Stride+lo : i*s.Stride+hi] {
				if v != 0 {
					axpy(-v, w.D.RawRowView(i), w.E.RawRowView(lo+j))
				}
			}
		}
	})
	for j := range n {
		w.errs[j] = -1
		y := w.Y.RawRowView(j)
		w.used[j] = dot(y, y) == 0
	}
	clear(w.replaced)
	return nil
}

// atom does step 2 for atom k, from the residual: E s^T = (Y - D S)_I s^T + d ||s||^2.
func (w *ksvd) atom(k int) {
	d, row := w.D.RawRowView(k), w.S.RawRowView(k)
	w.idx, w.old = w.idx[:0], w.old[:0]
	square := 0.0
	for j, s := range row {
		if s != 0 {
			w.idx, w.old = append(w.idx, j), append(w.old, s)
			square = math.FMA(s, s, square)
		}
	}
	if len(w.idx) == 0 {
		w.replaced[k] = w.replace(k)
		return
	}
	linalg.Parallel(len(w.v), 512, func(lo, hi int) {
		v := w.v[lo:hi]
		copy(v, d[lo:hi])
		scale(square, v)
		for i, j := range w.idx {
			axpy(w.old[i], w.E.RawRowView(j)[lo:hi], v)
		}
	})
	if norm := math.Sqrt(dot(w.v, w.v)); norm > 0 {
		scale(1/norm, w.v)
	} else {
		copy(w.v, d) // E s^T = 0: all directions are equally good
	}
	turn := dot(w.v, d)
	w.now = append(w.now[:0], w.old...)
	linalg.Parallel(len(w.idx), 8, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			e := w.E.RawRowView(w.idx[i])
			w.now[i] = math.FMA(turn, w.old[i], dot(w.v, e))
			axpy(w.old[i], d, e)
			axpy(-w.now[i], w.v, e)
		}
	})
	copy(d, w.v)
	for i, j := range w.idx {
		row[j] = w.now[i]
		w.errs[j] = -1
	}
}

// sampleError returns ||E_n||^2.
func (w *ksvd) sampleError(n int) float64 {
	if w.errs[n] < 0 {
		e := w.E.RawRowView(n)
		w.errs[n] = dot(e, e)
	}
	return w.errs[n]
}

// replace makes atom k the worst fitted sample that is not used yet, and reports whether there is
// one.
func (w *ksvd) replace(k int) bool {
	worst, top := -1, -1.0
	for j, used := range w.used {
		if used {
			continue
		}
		if e := w.sampleError(j); e > top {
			worst, top = j, e
		}
	}
	if worst < 0 {
		return false
	}
	w.used[worst] = true
	d := w.D.RawRowView(k)
	copy(d, w.Y.RawRowView(worst))
	scale(1/math.Sqrt(dot(d, d)), d)
	return true
}

// cleanUp does step 4 and updates G = D D^T.
func (w *ksvd) cleanUp() {
	k := len(w.replaced)
	g := w.G.RawMatrix()
	for i := range k {
		if w.replaced[i] || (w.uses(i) >= ksvdUses && w.coherence(i) <= ksvdCoherence) || !w.replace(i) {
			continue
		}
		row := g.Data[i*g.Stride : i*g.Stride+k]
		blas64.Gemv(blas.NoTrans, 1, w.D.RawMatrix(), blas64.Vector{N: len(w.v), Inc: 1, Data: w.D.RawRowView(i)},
			0, blas64.Vector{N: k, Inc: 1, Data: row})
		for j, v := range row {
			g.Data[j*g.Stride+i] = v
		}
	}
}

// uses counts the samples that use atom k.
func (w *ksvd) uses(k int) int {
	count := 0
	for _, s := range w.S.RawRowView(k) {
		if math.Abs(s) > ksvdCode {
			count++
		}
	}
	return count
}

// coherence returns the largest inner product, in magnitude, of atom k with another.
func (w *ksvd) coherence(k int) float64 {
	top := 0.0
	for i, v := range w.G.RawRowView(k) {
		if i != k {
			top = max(top, math.Abs(v))
		}
	}
	return top
}

func dot(x, y []float64) float64 {
	return blas64.Dot(blas64.Vector{N: len(x), Inc: 1, Data: x}, blas64.Vector{N: len(y), Inc: 1, Data: y})
}

// axpy adds a x to y.
func axpy(a float64, x, y []float64) {
	blas64.Axpy(a, blas64.Vector{N: len(x), Inc: 1, Data: x}, blas64.Vector{N: len(y), Inc: 1, Data: y})
}

func scale(a float64, x []float64) {
	blas64.Scal(a, blas64.Vector{N: len(x), Inc: 1, Data: x})
}

// ksvdBytes estimates the memory of K-SVD from samples, which it never has more atoms than: the stack,
// its residual and copies (N x dim, or N x N with fewer samples than features), atoms, codes and Gram
// matrix.
func (z size) ksvdBytes(dim, n int) int64 {
	k, rows := min(n, z.atMost(dim, n, 1)), min(dim, n)
	return int64(8 * (dim*n + 5*n*rows + 4*k*rows + 3*k*n + 2*k*k))
}
