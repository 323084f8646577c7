package sparse

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/lapack/lapack64"
	"gonum.org/v1/gonum/mat"

	"ssdl/methods"
	"ssdl/methods/dense"
)

// NNLSReport says how well a batch of non-negative codes was solved.
type NNLSReport struct {
	// WorstResidual is the largest violation of the optimality conditions of a code, as a
	// fraction of the largest |A^T y|: of (A^T(y - A s))_i = 0 where s_i > 0 and <= 0 elsewhere.
	WorstResidual float64
	// Unconverged counts the codes that used up their steps.
	Unconverged int
	// Support is the mean number of non-zero entries of a code.
	Support float64
}

const (
	// dependence is the share of its squared norm up to which a column counts as lying in
	// the span of those in the code.
	dependence = 1e-12
	// nnlsSteps bounds the solves of a code, as a multiple of K. The method of Lawson and
	// Hanson ends by itself; some three solves per entry of the code are usual.
	nnlsSteps = 3
)

// NNLS minimises 0.5||y - A s||^2 over s >= 0 for many y with one common A by the active set
// of Lawson and Hanson ("Solving Least Squares Problems", 1974, chapter 23) in the Gram form:
// the column most correlated with the residual enters; the least squares fit on the columns
// entered is the new code, or, where it is negative somewhere, the last code goes towards it up
// to the first zero, whose column leaves. The code that it ends with is solved anew from the
// set of its columns alone, in ascending order, and improved once.
//
// G = A^T A is K x K, symmetric and positive semi-definite, R = A^T Y is K x M. It returns the
// codes S (K x M); the entry of a zero column is 0. Where G is singular there may be several
// minima, all with the same A s; it returns one. A factor of the columns entered is kept from
// step to step, so that a code of q entries takes some 2 K q^2 operations.
func NNLS(ctx context.Context, G, R *mat.Dense) (*mat.Dense, NNLSReport, error) {
	k, m := R.Dims()
	if gr, gc := G.Dims(); gr != k || gc != k {
		return nil, NNLSReport{}, fmt.Errorf("nnls: %w: G is %d x %d and R is %d x %d; want K x K and K x M", methods.ErrInput, gr, gc, k, m)
	}
	if err := errors.Join(methods.CheckFinite("nnls", "G", G), methods.CheckFinite("nnls", "R", R)); err != nil {
		return nil, NNLSReport{}, err
	}
	S := mat.NewDense(k, m, nil)
	worst, open := make([]float64, m), make([]bool, m)
	coders := sync.Pool{New: func() any { return newNonNegative(G.RawMatrix()) }}
	r, s := R.RawMatrix(), S.RawMatrix()
	dense.Parallel(m, codeGrain, func(lo, hi int) {
		c := coders.Get().(*nonNegative)
		defer coders.Put(c)
		for j := lo; j < hi && ctx.Err() == nil; j++ {
			for i := range c.r {
				c.r[i] = r.Data[i*r.Stride+j]
			}
			open[j] = !c.solve()
			worst[j] = c.violation()
			for p, i := range c.set {
				s.Data[i*s.Stride+j] = c.s[p]
			}
		}
	})
	if err := ctx.Err(); err != nil {
		return nil, NNLSReport{}, fmt.Errorf("nnls: %w", err)
	}
	report := NNLSReport{}
	for j, v := range worst {
		report.WorstResidual = max(report.WorstResidual, v)
		if open[j] {
			report.Unconverged++
		}
	}
	for _, v := range s.Data {
		if v != 0 {
			report.Support += 1 / float64(m)
		}
	}
	return S, report, nil
}

// nonNegative is the working space of one code.
type nonNegative struct {
	g    blas64.General
	r    []float64 // A^T y
	w    []float64 // A^T (y - A s)
	set  []int     // the columns entered, P, in order
	s, z []float64 // the code on P, and the least squares fit
	rows []float64 // the rows of G at P, K elements each
	l    []float64 // Cholesky factor of G_PP, row by row, stride elements apart
	// barred marks columns that entered and had to leave at once; until the next one stays,
	// they are not tried again.
	barred []bool
	in     []bool
	stride int
}

func newNonNegative(g blas64.General) *nonNegative {
	k := g.Rows
	return &nonNegative{
		g: g, r: make([]float64, k), w: make([]float64, k), barred: make([]bool, k), in: make([]bool, k),
	}
}

// solve finds the code of r and reports whether it is optimal.
func (c *nonNegative) solve() bool {
	c.set, c.s = c.set[:0], c.s[:0]
	clear(c.barred)
	clear(c.in)
	copy(c.w, c.r)
	solves := nnlsSteps * len(c.r)
	for {
		enter := c.candidate()
		if enter < 0 {
			break
		}
		if !c.enter(enter) {
			c.barred[enter] = true
			continue
		}
		for {
			if solves--; solves < 0 {
				return false
			}
			c.fit()
			if c.inside() {
				break
			}
			c.back()
		}
		if c.in[enter] {
			clear(c.barred)
		} else {
			c.barred[enter] = true
		}
		copy(c.s, c.z)
		c.correlate()
	}
	c.polish()
	return true
}

// candidate returns the column outside the code with the largest correlation above
// rounding, or -1.
func (c *nonNegative) candidate() int {
	best, top := -1, c.rounding()
	for i, v := range c.w {
		if v > top && !c.in[i] && !c.barred[i] && c.g.Data[i*c.g.Stride+i] > 0 {
			best, top = i, v
		}
	}
	return best
}

// rounding estimates the error that rounding leaves in w.
func (c *nonNegative) rounding() float64 {
	largest, l1 := 0.0, 0.0
	for _, v := range c.r {
		largest = max(largest, math.Abs(v))
	}
	for p, i := range c.set {
		l1 += c.s[p] * math.Sqrt(c.g.Data[i*c.g.Stride+i])
	}
	return 64 * epsilon * (largest + l1)
}

// enter appends column i to the factor, unless it depends on those that are there.
func (c *nonNegative) enter(i int) bool {
	p, k := len(c.set), len(c.r)
	if p == c.stride { // grow: the rows of the factor move apart
		stride := 2*c.stride + 16
		l := make([]float64, stride*stride)
		for q := range p {
			copy(l[q*stride:], c.l[q*c.stride:q*c.stride+q+1])
		}
		rows := make([]float64, stride*k)
		copy(rows, c.rows[:p*k])
		c.l, c.rows, c.stride = l, rows, stride
	}
	copy(c.rows[p*k:(p+1)*k], c.g.Data[i*c.g.Stride:i*c.g.Stride+k])
	if !c.factorRow(p, i) {
		return false
	}
	c.set, c.s, c.in[i] = append(c.set, i), append(c.s, 0), true
	return true
}

// factorRow computes row p of the factor, of column i.
func (c *nonNegative) factorRow(p, i int) bool {
	row := c.l[p*c.stride : p*c.stride+p]
	for q, j := range c.set[:p] {
		row[q] = c.rows[p*len(c.r)+j]
	}
	if p > 0 {
		blas64.Trsv(blas.NoTrans, c.factor(p), blas64.Vector{N: p, Inc: 1, Data: row})
	}
	gii := c.g.Data[i*c.g.Stride+i]
	rest := gii
	for _, v := range row {
		rest = math.FMA(-v, v, rest)
	}
	if rest <= dependence*gii {
		return false
	}
	c.l[p*c.stride+p] = math.Sqrt(rest)
	return true
}

func (c *nonNegative) factor(n int) blas64.Triangular {
	return blas64.Triangular{N: n, Stride: c.stride, Data: c.l, Uplo: blas.Lower, Diag: blas.NonUnit}
}

// fit sets z to the least squares fit on P.
func (c *nonNegative) fit() {
	n := len(c.set)
	c.z = c.z[:0]
	for _, i := range c.set {
		c.z = append(c.z, c.r[i])
	}
	if n == 0 {
		return
	}
	z := blas64.Vector{N: n, Inc: 1, Data: c.z}
	blas64.Trsv(blas.NoTrans, c.factor(n), z)
	blas64.Trsv(blas.Trans, c.factor(n), z)
}

// inside reports whether the fit is positive.
func (c *nonNegative) inside() bool {
	for _, v := range c.z {
		if v <= 0 {
			return false
		}
	}
	return true
}

// back moves the code towards the fit up to the first entry that becomes zero, and takes
// the columns that are zero there out of the factor.
func (c *nonNegative) back() {
	step := 1.0
	for p, z := range c.z {
		if z <= 0 {
			step = min(step, c.s[p]/(c.s[p]-z))
		}
	}
	kept, k := 0, len(c.r)
	firstOut := -1
	for p, z := range c.z {
		s := c.s[p] + step*(z-c.s[p])
		if z <= 0 && c.s[p] <= step*(c.s[p]-z) || s <= 0 {
			c.in[c.set[p]] = false
			if firstOut < 0 {
				firstOut = p
			}
			continue
		}
		if kept != p {
			copy(c.rows[kept*k:(kept+1)*k], c.rows[p*k:(p+1)*k])
		}
		c.set[kept], c.s[kept] = c.set[p], s
		kept++
	}
	c.set, c.s = c.set[:kept], c.s[:kept]
	for p := max(firstOut, 0); p < kept; p++ {
		if !c.factorRow(p, c.set[p]) { // it was independent of more columns than these
			c.l[p*c.stride+p] = math.Sqrt(dependence * c.g.Data[c.set[p]*c.g.Stride+c.set[p]])
		}
	}
}

// correlate sets w = r - G s.
func (c *nonNegative) correlate() {
	k, n := len(c.r), len(c.set)
	copy(c.w, c.r)
	if n > 0 {
		blas64.Gemv(blas.Trans, -1, blas64.General{Rows: n, Cols: k, Stride: k, Data: c.rows},
			blas64.Vector{N: n, Inc: 1, Data: c.s}, 1, blas64.Vector{N: k, Inc: 1, Data: c.w})
	}
}

// polish solves for the columns of the code in ascending order and improves the solution
// once, unless rounding has it leave the positive numbers.
func (c *nonNegative) polish() {
	n, k := len(c.set), len(c.r)
	if n == 0 {
		return
	}
	set := make([]int, 0, n)
	for i, in := range c.in {
		if in {
			set = append(set, i)
		}
	}
	f := blas64.Symmetric{N: n, Stride: n, Data: make([]float64, n*n), Uplo: blas.Lower}
	for p, i := range set {
		for q, j := range set[:p+1] {
			f.Data[p*n+q] = c.g.Data[i*c.g.Stride+j]
		}
	}
	t, ok := lapack64.Potrf(f)
	if !ok {
		return
	}
	solve := func(x []float64) {
		v := blas64.Vector{N: n, Inc: 1, Data: x}
		blas64.Trsv(blas.NoTrans, t, v)
		blas64.Trsv(blas.Trans, t, v)
	}
	s := make([]float64, n)
	for p, i := range set {
		s[p] = c.r[i]
	}
	solve(s)
	d := make([]float64, n)
	for p, i := range set {
		d[p] = c.r[i]
		for q, j := range set {
			d[p] = math.FMA(-c.g.Data[i*c.g.Stride+j], s[q], d[p])
		}
	}
	solve(d)
	for p := range s {
		if s[p] += d[p]; s[p] <= 0 {
			return
		}
	}
	copy(c.set, set)
	copy(c.s, s)
	for p, i := range set {
		copy(c.rows[p*k:(p+1)*k], c.g.Data[i*c.g.Stride:i*c.g.Stride+k])
	}
	c.correlate()
}

// violation is that of the optimality conditions, as a fraction of the largest |r_i|.
func (c *nonNegative) violation() float64 {
	worst, largest := 0.0, 0.0
	for i, v := range c.w {
		if c.in[i] {
			v = math.Abs(v)
		}
		worst, largest = max(worst, v), max(largest, math.Abs(c.r[i]))
	}
	if largest == 0 {
		return 0
	}
	return worst / largest
}
