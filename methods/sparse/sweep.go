package sparse

import (
	"math"
	"sync"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"ssdl/methods/dense"
)

const (
	// panelWidth samples are swept together. It is fixed, so that the arithmetic of a
	// sample does not depend on the number of goroutines.
	panelWidth = 256
	// rowBlock rows of S share one product with G and all of S; leafRows of them are
	// worked off one by one.
	rowBlock, leafRows = 192, 16
)

// Sweep makes one cyclic pass of coordinate descent over the rows k = 1..K of S (K x N),
// the codes of N samples, in place:
//
//	S_kn <- soft(J_kn, alpha) / G_kk,   J_kn = R_kn - sum_{i != k} G_ki S_in,
//
// J always from the newest values. G is K x K and symmetric, R is K x N, alpha >= 0; a
// row with G_kk = 0 becomes 0. It never raises 0.5 tr(S^T G S) - tr(R^T S) + alpha |S|_1.
//
// The iterates are those of the row-by-row pass to rounding, but J is begun for many rows
// and a panel of samples by one matrix product, and later changes of the codes are brought
// in by further ones.
func Sweep(S, G, R *mat.Dense, alpha float64) {
	k, n := S.Dims()
	s, g, r := S.RawMatrix(), G.RawMatrix(), R.RawMatrix()
	dense.Parallel(n, panelWidth, func(lo, hi int) {
		p := newPanel(k, hi-lo)
		defer p.release()
		p.load(s, lo)
		p.sweep(g, block(r, 0, k, lo, hi), alpha)
		p.store(s, lo)
	})
}

// panel holds the codes of a few samples without gaps between the rows: the rows of a
// wide S lie a page apart each, which costs more than the copy.
type panel struct {
	s     blas64.General // K x w
	t     blas64.General // rowBlock x w: J of the rows at work, less the part of their own codes
	delta blas64.General // rowBlock x w: change of the codes of these rows
	buf   []float64
}

var panels = sync.Pool{New: func() any { return new(panel) }}

func newPanel(k, w int) *panel {
	p := panels.Get().(*panel)
	b := min(rowBlock, k)
	if need := (k + 2*b) * w; len(p.buf) < need {
		p.buf = make([]float64, need)
	}
	all := blas64.General{Rows: k + 2*b, Cols: w, Stride: w, Data: p.buf[:(k+2*b)*w]}
	p.s, p.t, p.delta = block(all, 0, k, 0, w), block(all, k, k+b, 0, w), block(all, k+b, k+2*b, 0, w)
	return p
}

func (p *panel) release() { panels.Put(p) }

// load copies the columns of S from lo on into the panel, store copies them back.
func (p *panel) load(S blas64.General, lo int) {
	w := p.s.Cols
	for i := range p.s.Rows {
		copy(p.s.Data[i*w:(i+1)*w], S.Data[i*S.Stride+lo:])
	}
}

func (p *panel) store(S blas64.General, lo int) {
	w := p.s.Cols
	for i := range p.s.Rows {
		copy(S.Data[i*S.Stride+lo:i*S.Stride+lo+w], p.s.Data[i*w:(i+1)*w])
	}
}

// sweep makes one pass over the rows of the panel; R (K x w) belongs to its samples.
func (p *panel) sweep(G, R blas64.General, alpha float64) {
	k, w := p.s.Rows, p.s.Cols
	for lo := 0; lo < k; lo += rowBlock {
		hi := min(lo+rowBlock, k)
		for i := lo; i < hi; i++ {
			copy(p.t.Data[(i-lo)*w:(i-lo+1)*w], R.Data[i*R.Stride:])
		}
		// T = R_I - G_I S with the codes as they stand before the block.
		blas64.Gemm(blas.NoTrans, blas.NoTrans, -1, block(G, lo, hi, 0, k), p.s, 1, block(p.t, 0, hi-lo, 0, w))
		p.sweepRows(G, lo, lo, hi, alpha)
	}
}

// sweepRows works off rows lo..hi of the block that begins at row base: the upper half, then
// what its changes do to the lower half, then the lower half.
func (p *panel) sweepRows(G blas64.General, base, lo, hi int, alpha float64) {
	w := p.s.Cols
	if hi-lo > leafRows {
		mid := lo + (hi-lo)/2
		p.sweepRows(G, base, lo, mid, alpha)
		blas64.Gemm(blas.NoTrans, blas.NoTrans, -1, block(G, mid, hi, lo, mid),
			block(p.delta, lo-base, mid-base, 0, w), 1, block(p.t, mid-base, hi-base, 0, w))
		p.sweepRows(G, base, mid, hi, alpha)
		return
	}
	for i := lo; i < hi; i++ {
		t := p.t.Data[(i-base)*w : (i-base+1)*w]
		for q := lo; q < i; q++ {
			delta := blas64.Vector{N: w, Inc: 1, Data: p.delta.Data[(q-base)*w : (q-base+1)*w]}
			blas64.Axpy(-G.Data[i*G.Stride+q], delta, blas64.Vector{N: w, Inc: 1, Data: t})
		}
		p.shrink(i, t, p.delta.Data[(i-base)*w:(i-base+1)*w], G.Data[i*G.Stride+i], alpha)
	}
}

// block is the view of rows i..j and columns k..l of m.
func block(m blas64.General, i, j, k, l int) blas64.General {
	return blas64.General{Rows: j - i, Cols: l - k, Stride: m.Stride, Data: m.Data[i*m.Stride+k:]}
}

// shrink replaces one row of codes by soft(t + gkk s, alpha)/gkk and puts the change in delta.
func (p *panel) shrink(row int, t, delta []float64, gkk, alpha float64) {
	w := p.s.Cols
	inv := 0.0
	if gkk > 0 {
		inv = 1 / gkk
	}
	for c, old := range p.s.Data[row*w : (row+1)*w] {
		j := math.FMA(gkk, old, t[c])
		v := math.Copysign(max(math.Abs(j)-alpha, 0), j) * inv
		p.s.Data[row*w+c] = v
		delta[c] = v - old
	}
}
