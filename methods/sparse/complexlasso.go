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

// ComplexLasso minimises 0.5||y - Z b||^2 + Lambda sum_j |b_j| over complex codes b for many y
// with one common Z, in real numbers: Z = R + iI is the 2 dim x 2N matrix [[R, -I], [I, R]], the
// code of column j is the pair of the entries j (real part) and N+j (imaginary part), and |b_j|
// is the norm of the pair.
//
// A splitting for all samples at once, as for Lasso, comes near the minimum. Newton's method on the
// nonzero pairs then reaches it: pairs leave and enter until the optimality conditions hold. Codes of
// more than newtonPairs pairs keep what the splitting found, since Newton's method costs the cube of
// their number for each sample; the report counts them as unconverged.
type ComplexLasso struct {
	Lambda float64
	// Gap is the duality gap, as a fraction of the objective, up to which a code counts as
	// converged; 0 means 1e-9.
	Gap float64
}

const (
	// newtonPairs is the largest number of pairs of a code for Newton's method.
	newtonPairs = 500
	// newtonSteps bounds its steps, newtonRounds the changes of the set of pairs.
	newtonSteps, newtonRounds = 40, 30
	// pathSteps bounds the steps of follow. They come nearer to the end of the path while the gradient of
	// each pair is at most centred lambda.
	pathSteps, centred = 200, 0.1
	// complexPasses is the largest number of passes of the splitting. From half of them on they end when
	// a pass changes the support of fewer than one entry per settledShare samples.
	complexPasses, settledShare = 200, 8
)

// Solve codes M samples: G = Z^T Z is 2N x 2N, R = Z^T Y is 2N x M and yy holds the squared norms of
// the samples. It returns the codes S (2N x M).
func (l ComplexLasso) Solve(ctx context.Context, G, R *mat.Dense, yy []float64) (*mat.Dense, Report, error) {
	k, m := R.Dims()
	if gr, gc := G.Dims(); gr != k || gc != k || k%2 != 0 || len(yy) != m {
		return nil, Report{}, fmt.Errorf("complex lasso: %w: G is %d x %d, R is %d x %d and there are %d squared norms; want 2N x 2N, 2N x M and M",
			methods.ErrInput, gr, gc, k, m, len(yy))
	}
	if !(l.Lambda > 0) || math.IsInf(l.Lambda, 0) {
		return nil, Report{}, fmt.Errorf("complex lasso: %w: lambda is %v, want a positive number", methods.ErrInput, l.Lambda)
	}
	if l.Gap == 0 {
		l.Gap = defaultGap
	}
	if err := errors.Join(methods.CheckFinite("complex lasso", "G", G), methods.CheckFinite("complex lasso", "R", R)); err != nil {
		return nil, Report{}, err
	}
	S := mat.NewDense(k, m, nil)
	g := G.RawMatrix()
	column, sample := 0.0, 0.0
	for i := range k {
		column += G.At(i, i) / float64(k)
	}
	for _, v := range yy {
		sample += v / float64(m)
	}
	if column == 0 || sample == 0 {
		return S, Report{}, nil
	}
	warm, ok := newSplitting(g, l.Lambda, column, sample)
	if !ok {
		return nil, Report{}, fmt.Errorf("complex lasso: %w: G is not positive semi-definite; want Z^T Z", methods.ErrInput)
	}
	all := make([]int, m)
	for j := range all {
		all[j] = j
	}
	linalg.Parallel(m, splitGroup, func(lo, hi int) { warm.runPairs(ctx, R.RawMatrix(), S.RawMatrix(), all[lo:hi]) })
	gaps := make([]float64, m)
	coders := sync.Pool{New: func() any { return newPairCoder(g, l.Lambda) }}
	linalg.Parallel(m, codeGrain, func(lo, hi int) {
		c := coders.Get().(*pairCoder)
		defer coders.Put(c)
		for j := lo; j < hi && ctx.Err() == nil; j++ {
			gaps[j] = c.code(ctx, columnOf(S, j), columnOf(R, j), yy[j], l.Gap)
			S.SetCol(j, c.s)
		}
	})
	if err := ctx.Err(); err != nil {
		return nil, Report{}, fmt.Errorf("complex lasso: %w", err)
	}
	report := Report{}
	for _, gap := range gaps {
		report.WorstGap = max(report.WorstGap, gap)
		if !(gap <= l.Gap) {
			report.Unconverged++
		}
	}
	for i := range k / 2 {
		for j := range m {
			if S.At(i, j) != 0 || S.At(k/2+i, j) != 0 {
				report.Support += 1 / float64(m)
			}
		}
	}
	return S, report, nil
}

// columnOf returns a copy of column j of A.
func columnOf(A *mat.Dense, j int) []float64 { return mat.Col(nil, j, A) }

// runPairs is run for pairs, from V = 0: it stores the codes Z of the samples idx in S.
func (p splitting) runPairs(ctx context.Context, R, S blas64.General, idx []int) {
	part := func() panels { return newPanels(R.Rows, len(idx), p.multiply.Width()) }
	r, v, b, x, z := part(), part(), part(), part(), part()
	r.load(R, idx)
	for pass := range complexPasses {
		changes := 0
		for re := range v.data {
			im := re + v.k/2*v.width
			if re/v.width%v.k >= v.k/2 {
				continue // an imaginary part
			}
			a, c := v.data[re], v.data[im]
			keep := 0.0
			if norm := math.Hypot(a, c); norm > p.threshold {
				keep = 1 - p.threshold/norm
			}
			if (keep != 0) != (z.data[re] != 0 || z.data[im] != 0) {
				changes++
			}
			s, t := float64(keep*a), float64(keep*c)
			z.data[re], z.data[im] = s, t
			b.data[re] = math.FMA(p.rho, 2*s-a, r.data[re])
			b.data[im] = math.FMA(p.rho, 2*t-c, r.data[im])
		}
		if settledShare*changes < len(idx) && pass >= complexPasses/2 || ctx.Err() != nil {
			break
		}
		p.multiply.Mul(x.data, b.data)
		for i, x := range x.data {
			v.data[i] = math.FMA(relaxation, x-z.data[i], v.data[i])
		}
	}
	z.store(S, idx)
}

// pairCoder is the working space of one code.
type pairCoder struct {
	g      blas64.General
	lambda float64
	n      int
	s, r   []float64 // the code and Z^T y, 2N
	e      []float64 // Z^T (y - Z b)
	set    []int     // the pairs in the code
	in     []bool
}

func newPairCoder(g blas64.General, lambda float64) *pairCoder {
	k := g.Rows
	return &pairCoder{g: g, lambda: lambda, n: k / 2, s: make([]float64, k), e: make([]float64, k), in: make([]bool, k/2)}
}

// code improves the code start and returns its duality gap.
func (c *pairCoder) code(ctx context.Context, start, r []float64, yy, gap float64) float64 {
	copy(c.s, start)
	c.r = r
	c.set = c.set[:0]
	for j := range c.n {
		if c.in[j] = c.s[j] != 0 || c.s[c.n+j] != 0; c.in[j] {
			c.set = append(c.set, j)
		}
	}
	c.correlate()
	best := c.gap(yy)
	if len(c.set) > newtonPairs {
		return best
	}
	kept := append([]float64(nil), c.s...)
	keep := func() {
		c.correlate()
		if now := c.gap(yy); now < best {
			best = now
			copy(kept, c.s)
		}
	}
	improve := func() {
		for range newtonRounds {
			ok := c.newton()
			keep()
			if !ok || !c.enter() || best <= 1e-4*gap || ctx.Err() != nil {
				break
			}
		}
	}
	improve()
	if best > gap && c.n <= newtonPairs && ctx.Err() == nil {
		c.follow(ctx, yy, 1e-4*gap)
		keep()
		improve()
	}
	copy(c.s, kept)
	return best
}

// entry returns the entry of the code that unknown p of the set stands for: real parts come first.
func (c *pairCoder) entry(p int) int {
	if m := len(c.set); p >= m {
		return c.n + c.set[p-m]
	}
	return c.set[p]
}

// correlate sets e = r - G s.
func (c *pairCoder) correlate() {
	copy(c.e, c.r)
	for _, j := range c.set {
		for _, i := range [2]int{j, c.n + j} {
			if v := c.s[i]; v != 0 {
				blas64.Axpy(-v, blas64.Vector{N: 2 * c.n, Inc: 1, Data: c.g.Data[i*c.g.Stride : i*c.g.Stride+2*c.n]},
					blas64.Vector{N: 2 * c.n, Inc: 1, Data: c.e})
			}
		}
	}
}

// gap is dualityGap with pairs.
func (c *pairCoder) gap(yy float64) float64 {
	largest := 0.0
	for j := range c.n {
		largest = max(largest, math.Hypot(c.e[j], c.e[c.n+j]))
	}
	f := min(1, c.lambda/largest)
	residual, l1, slack := yy, 0.0, 0.0
	for _, j := range c.set {
		i := c.n + j
		size := math.Hypot(c.s[j], c.s[i])
		residual -= c.s[j]*(c.r[j]+c.e[j]) + c.s[i]*(c.r[i]+c.e[i])
		l1 += size
		slack += max(c.lambda*size-f*(c.s[j]*c.e[j]+c.s[i]*c.e[i]), 0)
	}
	residual = max(residual, 0)
	objective := 0.5*residual + c.lambda*l1
	if objective == 0 {
		return 0
	}
	return (0.5*(1-f)*(1-f)*residual + slack) / objective
}

// enter adds the pairs whose correlation exceeds lambda to the set, with a small code along it, and
// reports whether there were any.
func (c *pairCoder) enter() bool {
	added := false
	for j := range c.n {
		i := c.n + j
		size := math.Hypot(c.e[j], c.e[i])
		gjj := c.g.Data[j*c.g.Stride+j]
		if c.in[j] || size <= c.lambda*(1+1e-11) || gjj == 0 || len(c.set) >= newtonPairs {
			continue
		}
		step := 0.5 * (size - c.lambda) / gjj
		c.s[j], c.s[i] = step*c.e[j]/size, step*c.e[i]/size
		c.in[j], c.set, added = true, append(c.set, j), true
	}
	return added
}

// newton minimises over the pairs of the set, and drops those that become zero. It reports false if
// it made no progress.
func (c *pairCoder) newton() bool {
	last := math.Inf(1)
	for range newtonSteps {
		c.correlate()
		c.dropZeros()
		m := len(c.set)
		if m == 0 {
			return true
		}
		grad, norm := make([]float64, 2*m), 0.0
		H := blas64.Symmetric{N: 2 * m, Stride: 2 * m, Data: make([]float64, 4*m*m), Uplo: blas.Lower}
		for p := range 2 * m {
			row := c.g.Data[c.entry(p)*c.g.Stride:]
			for q := range p + 1 {
				H.Data[p*2*m+q] = row[c.entry(q)]
			}
		}
		for p, j := range c.set {
			a, b := c.s[j], c.s[c.n+j]
			size := math.Hypot(a, b)
			u, v := a/size, b/size
			grad[p], grad[m+p] = c.lambda*u-c.e[j], c.lambda*v-c.e[c.n+j]
			f := c.lambda / size
			H.Data[p*2*m+p] += f * v * v
			H.Data[(m+p)*2*m+m+p] += f * u * u
			H.Data[(m+p)*2*m+p] -= f * u * v
			H.Data[p*2*m+p] *= 1 + ridgeShare
			H.Data[(m+p)*2*m+m+p] *= 1 + ridgeShare
			norm = max(norm, math.Hypot(grad[p], grad[m+p]))
		}
		if norm <= 1e-13*c.lambda || norm <= 1e-9*c.lambda && norm >= last {
			return true
		}
		last = norm
		t, ok := lapack64.Potrf(H)
		if !ok {
			return false
		}
		d := append([]float64(nil), grad...)
		dv := blas64.Vector{N: 2 * m, Inc: 1, Data: d}
		blas64.Trsv(blas.NoTrans, t, dv)
		blas64.Trsv(blas.Trans, t, dv)
		slope := 0.0
		for p := range d {
			slope += d[p] * grad[p]
		}
		before := c.value()
		old := append([]float64(nil), c.s...)
		moved := false
		for step := 1.0; step > 1e-10; step /= 2 {
			for p := range d {
				c.s[c.entry(p)] = old[c.entry(p)] - step*d[p]
			}
			c.correlate()
			// Near the minimum the objective is rounding, and full steps are safe.
			if norm <= 1e-5*c.lambda || c.value() <= before-1e-4*step*slope {
				moved = true
				break
			}
		}
		if !moved {
			copy(c.s, old)
			c.correlate()
			return norm <= 1e-8*c.lambda
		}
	}
	return true
}

// value returns the objective minus 0.5||y||^2, from the current code and e.
func (c *pairCoder) value() float64 {
	f := 0.0
	for _, j := range c.set {
		i := c.n + j
		f += c.lambda*math.Hypot(c.s[j], c.s[i]) - 0.5*(c.s[j]*(c.r[j]+c.e[j])+c.s[i]*(c.r[i]+c.e[i]))
	}
	return f
}

// dropZeros sets to zero the pairs whose best value, given all others, is zero: the correlation of
// column j with the residual without it, e_j + G_jj b_j, is at most lambda. It updates e, and reports
// whether there were any.
func (c *pairCoder) dropZeros() bool {
	kept := c.set[:0]
	before := len(c.set)
	for _, j := range c.set {
		i := c.n + j
		gjj := c.g.Data[j*c.g.Stride+j]
		if math.Hypot(math.FMA(gjj, c.s[j], c.e[j]), math.FMA(gjj, c.s[i], c.e[i])) > c.lambda {
			kept = append(kept, j)
			continue
		}
		for _, p := range [2]int{j, i} {
			blas64.Axpy(c.s[p], blas64.Vector{N: 2 * c.n, Inc: 1, Data: c.g.Data[p*c.g.Stride : p*c.g.Stride+2*c.n]},
				blas64.Vector{N: 2 * c.n, Inc: 1, Data: c.e})
			c.s[p] = 0
		}
		c.in[j] = false
	}
	c.set = kept
	return len(kept) < before
}
