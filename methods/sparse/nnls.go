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
	"ssdl/methods/linalg"
)

// NNLSReport says how well a batch of non-negative codes was solved.
type NNLSReport struct {
	// WorstResidual is the largest violation of the optimality conditions of a code, as a
	// fraction of the largest |A^T y|: of (A^T(y - A s))_i = 0 where s_i > 0 and <= 0 elsewhere,
	// both with the columns of A scaled to norm 1.
	WorstResidual float64
	// Unconverged counts the codes whose violation is above 1e-9.
	Unconverged int
	// Support is the mean number of non-zero entries of a code.
	Support float64
}

const (
	// nnlsTolerance is the violation up to which a code counts as converged.
	nnlsTolerance = 1e-9
	// nnlsGoal is the violation that ends the rounds, nnlsRounds their largest number.
	nnlsGoal, nnlsRounds = 1e-13, 12
	// nnlsSteps bounds the solves of a round, as a multiple of K. The method of Lawson and
	// Hanson terminates without a bound; about three solves per entry of the code are usual.
	nnlsSteps = 3
)

// NNLS minimises 0.5||y - A s||^2 over s >= 0 for many y with one common A by the active set
// of Lawson and Hanson ("Solving Least Squares Problems", 1974, chapter 23) in the Gram form:
// the column most correlated with the residual enters, and the least squares fit on the entered
// columns is the new code. If the fit has negative entries, the last code moves towards it up to
// the first zero, and that column leaves. The final code is solved again from the set of its
// columns, in ascending order, and refined once.
//
// A ridge of a tiny share of G_ii on the diagonal gives nearly dependent columns a factor. It does
// not change the answer: if it shows, further rounds start from the code found, and the ridge
// penalises only the distance from that code (the proximal point method). Columns enter by their
// correlation per unit of norm, so scaling a column scales its entry and changes nothing else.
//
// G = A^T A is K x K, symmetric and positive semi-definite, R = A^T Y is K x M. It returns the
// codes S (K x M); the entry of a zero column is 0. If G is singular there may be several minima, all
// with the same A s; it returns one. It keeps the factor of the entered columns from step to step,
// so a code of q entries takes some 2 K q^2 operations.
func NNLS(ctx context.Context, G, R *mat.Dense) (*mat.Dense, NNLSReport, error) {
	k, m := R.Dims()
	if gr, gc := G.Dims(); gr != k || gc != k {
		return nil, NNLSReport{}, fmt.Errorf("nnls: %w: G is %d x %d and R is %d x %d; want K x K and K x M", methods.ErrInput, gr, gc, k, m)
	}
	if err := errors.Join(methods.CheckFinite("nnls", "G", G), methods.CheckFinite("nnls", "R", R)); err != nil {
		return nil, NNLSReport{}, err
	}
	S := mat.NewDense(k, m, nil)
	worst := make([]float64, m)
	coders := sync.Pool{New: func() any { return newNonNegative(G.RawMatrix()) }}
	r, s := R.RawMatrix(), S.RawMatrix()
	linalg.Parallel(m, codeGrain, func(lo, hi int) {
		c := coders.Get().(*nonNegative)
		defer coders.Put(c)
		for j := lo; j < hi && ctx.Err() == nil; j++ {
			for i := range c.r {
				c.r[i] = r.Data[i*r.Stride+j]
			}
			worst[j] = c.solve()
			for p, i := range c.set {
				s.Data[i*s.Stride+j] = c.s[p]
			}
		}
	})
	if err := ctx.Err(); err != nil {
		return nil, NNLSReport{}, fmt.Errorf("nnls: %w", err)
	}
	report := NNLSReport{}
	for _, v := range worst {
		report.WorstResidual = max(report.WorstResidual, v)
		if !(v <= nnlsTolerance) {
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
	norm []float64 // of the columns of A
	r    []float64 // A^T y
	q    []float64 // r, and the ridge times the code that the round starts from
	w    []float64 // A^T (y - A s)
	set  []int     // P, the entered columns in order
	s, z []float64 // the code on P, and the fit
	rows []float64 // the rows of G at P, K elements each
	l    []float64 // Cholesky factor of G_PP with the ridge, row by row, stride elements apart
	// barred marks columns that entered and left without a move of the code, an effect of
	// rounding. They are not tried again until the code moves.
	barred []bool
	in     []bool
	stride int

	best    []float64 // the code of the best round, on bestSet
	bestSet []int
}

func newNonNegative(g blas64.General) *nonNegative {
	k := g.Rows
	c := &nonNegative{
		g: g, norm: make([]float64, k), r: make([]float64, k), q: make([]float64, k), w: make([]float64, k),
		barred: make([]bool, k), in: make([]bool, k),
	}
	for i := range c.norm {
		c.norm[i] = math.Sqrt(max(g.Data[i*g.Stride+i], 0))
	}
	return c
}

// solve finds the code of r and returns its violation of the optimality conditions.
func (c *nonNegative) solve() float64 {
	c.set, c.s = c.set[:0], c.s[:0]
	clear(c.in)
	copy(c.q, c.r)
	least := math.Inf(1)
	for range nnlsRounds {
		c.round()
		c.polish()
		c.correlate(c.r, 0)
		v := c.violation()
		enough := v <= nnlsGoal || v > 0.5*least
		if v < least {
			least = v
			c.best, c.bestSet = append(c.best[:0], c.s...), append(c.bestSet[:0], c.set...)
		}
		if enough {
			break
		}
		copy(c.q, c.r)
		for p, i := range c.set {
			c.q[i] += ridgeShare * c.norm[i] * c.norm[i] * c.s[p]
		}
		c.refactor(0) // polish put the columns in order
	}
	c.s, c.set = append(c.s[:0], c.best...), append(c.set[:0], c.bestSet...)
	return least
}

// round moves from the code, which is positive on P, to the minimum for q with the ridge.
func (c *nonNegative) round() {
	clear(c.barred)
	enter, moved := -1, true
	for range nnlsSteps * len(c.r) {
		c.fit()
		if !c.inside() {
			moved = c.back() || moved
			continue
		}
		copy(c.s, c.z)
		if moved || c.in[enter] {
			clear(c.barred)
		} else {
			c.barred[enter] = true
		}
		c.correlate(c.q, ridgeShare)
		if enter = c.candidate(); enter < 0 {
			return
		}
		c.enter(enter)
		moved = false
	}
}

// candidate returns the column outside the code with the largest correlation above
// rounding, per unit of norm, or -1.
func (c *nonNegative) candidate() int {
	best, top := -1, c.rounding()
	for i, v := range c.w {
		if v > top*c.norm[i] && !c.in[i] && !c.barred[i] && c.norm[i] > 0 {
			best, top = i, v/c.norm[i]
		}
	}
	return best
}

// rounding estimates the error that rounding leaves in w, per unit of norm.
func (c *nonNegative) rounding() float64 {
	l1 := 0.0
	for p, i := range c.set {
		l1 += c.s[p] * c.norm[i]
	}
	return 64 * epsilon * (c.largest() + l1)
}

// largest is the largest |r_i| per unit of norm.
func (c *nonNegative) largest() float64 {
	v := 0.0
	for i, r := range c.r {
		if c.norm[i] > 0 {
			v = max(v, math.Abs(r)/c.norm[i])
		}
	}
	return v
}

// enter appends column i to the factor.
func (c *nonNegative) enter(i int) {
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
	c.set, c.s, c.in[i] = append(c.set, i), append(c.s, 0), true
	c.refactor(p)
}

// refactor computes the rows of the factor from the p-th on.
func (c *nonNegative) refactor(p int) {
	for ; p < len(c.set); p++ {
		row, rows := c.l[p*c.stride:p*c.stride+p], c.rows[p*len(c.r):]
		for q, j := range c.set[:p] {
			row[q] = rows[j]
		}
		if p > 0 {
			blas64.Trsv(blas.NoTrans, c.factor(p), blas64.Vector{N: p, Inc: 1, Data: row})
		}
		gii := rows[c.set[p]]
		rest := gii
		for _, v := range row {
			rest = math.FMA(-v, v, rest)
		}
		c.l[p*c.stride+p] = math.Sqrt(max(rest, 0) + ridgeShare*gii)
	}
}

func (c *nonNegative) factor(n int) blas64.Triangular {
	return blas64.Triangular{N: n, Stride: c.stride, Data: c.l, Uplo: blas.Lower, Diag: blas.NonUnit}
}

// fit sets z to the least squares fit on P, with the ridge.
func (c *nonNegative) fit() {
	n := len(c.set)
	c.z = c.z[:0]
	for _, i := range c.set {
		c.z = append(c.z, c.q[i])
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
// the columns that are zero there out of the factor. It reports whether the code moved.
func (c *nonNegative) back() bool {
	step, blocking := math.Inf(1), -1
	for p, z := range c.z {
		if z > 0 {
			continue
		}
		t := 0.0
		if c.s[p] > 0 { // or z may be 0 too
			t = c.s[p] / (c.s[p] - z)
		}
		if t < step {
			step, blocking = t, p
		}
	}
	firstOut, kept, k := -1, 0, len(c.r)
	for p, z := range c.z {
		s := c.s[p] + step*(z-c.s[p])
		// The entry that has just entered is 0 and rises: it stays even if the step is 0.
		if p == blocking || z <= 0 && s <= 0 {
			c.in[c.set[p]] = false
			if firstOut < 0 {
				firstOut = p
			}
			continue
		}
		if kept != p {
			copy(c.rows[kept*k:(kept+1)*k], c.rows[p*k:(p+1)*k])
		}
		c.set[kept], c.s[kept] = c.set[p], max(s, 0)
		kept++
	}
	c.set, c.s = c.set[:kept], c.s[:kept]
	c.refactor(firstOut)
	return step > 0
}

// correlate sets w = q - G s, and subtracts share G_ii s_i on P.
func (c *nonNegative) correlate(q []float64, share float64) {
	k, n := len(c.r), len(c.set)
	copy(c.w, q)
	if n > 0 {
		blas64.Gemv(blas.Trans, -1, blas64.General{Rows: n, Cols: k, Stride: k, Data: c.rows},
			blas64.Vector{N: n, Inc: 1, Data: c.s}, 1, blas64.Vector{N: k, Inc: 1, Data: c.w})
	}
	for p, i := range c.set {
		c.w[i] -= share * c.norm[i] * c.norm[i] * c.s[p]
	}
}

// polish solves for the columns of the code in ascending order and refines the solution once. It
// changes nothing if rounding makes an entry negative.
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
}

// violation returns the largest violation of the optimality conditions, as a fraction of the largest
// |r_i|, both per unit of norm.
func (c *nonNegative) violation() float64 {
	largest, worst := c.largest(), 0.0
	if largest == 0 {
		return 0
	}
	for i, v := range c.w {
		if c.in[i] {
			v = math.Abs(v)
		}
		if c.norm[i] > 0 {
			worst = max(worst, v/c.norm[i])
		}
	}
	return worst / largest
}
