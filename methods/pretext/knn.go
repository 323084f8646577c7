package pretext

import (
	"cmp"
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"
	"ssdl/methods"
	"ssdl/methods/linalg"
)

// neighbours lists the K nearest samples of each query, by distance and then index.
type neighbours struct {
	K     int
	Index []int32   // query q's neighbours are Index[q*K:(q+1)*K], nearest first
	D2    []float64 // their squared distances
	// MeanDistance is the mean of all N x N distances, including the zeros of the diagonal. It is
	// set only on request.
	MeanDistance float64
}

// samples returns the number of queries of a search of the samples among themselves.
func (nb *neighbours) samples() int {
	if nb.K == 0 {
		return 1 // a single sample has no neighbours
	}
	return len(nb.Index) / nb.K
}

// query returns the neighbours of query q and their squared distances.
func (nb *neighbours) query(q int) ([]int32, []float64) {
	return nb.Index[q*nb.K : (q+1)*nb.K], nb.D2[q*nb.K : (q+1)*nb.K]
}

// meanD2 returns the mean squared distance to the neighbours. It returns 1 if that is 0 (no neighbours,
// or only copies), because callers divide by it.
func (nb *neighbours) meanD2() float64 {
	sum := 0.0
	for _, v := range nb.D2 {
		sum += v
	}
	if sum == 0 {
		return 1
	}
	return sum / float64(len(nb.D2))
}

const (
	// knnPanel queries are multiplied with all samples at once. Memory is proportional to a panel,
	// not to the square of the number of samples.
	knnPanel = 128
	// knnSpare candidates beyond K are kept by approximate distance.
	knnSpare = 6
)

// selfNeighbours finds the min(k, N-1) nearest other samples of each column of X
// (dim x N).
func selfNeighbours(ctx context.Context, X *mat.Dense, k int, meanDistance bool) (*neighbours, error) {
	_, n := X.Dims()
	x := transposed(X)
	s := newSearch(x, x, min(k, n-1))
	s.self = true
	if meanDistance {
		s.rowSum = make([]float64, n)
	}
	nb, err := s.run(ctx)
	if err != nil || !meanDistance {
		return nb, err
	}
	for _, v := range s.rowSum {
		nb.MeanDistance += v
	}
	nb.MeanDistance /= float64(n) * float64(n)
	return nb, nil
}

// crossNeighbours finds the min(k, N) nearest columns of X (dim x N) to each column of
// the queries (dim x M).
func crossNeighbours(ctx context.Context, X, queries *mat.Dense, k int) (*neighbours, error) {
	_, n := X.Dims()
	return newSearch(transposed(X), transposed(queries), min(k, n)).run(ctx)
}

// search is the state of one search. It chooses candidates by |a|^2+|b|^2-2ab from blocked matrix
// products, and then sums their distances directly: copies are at distance exactly 0,
// d(a,b) = d(b,a), and the result does not depend on the BLAS.
type search struct {
	x, q   []float64 // samples and queries by rows
	nx, nq int
	dim    int
	k      int
	self   bool
	x2, q2 []float64 // squared norms
	slack  float64   // bound on the error of an approximate squared distance
	heaps  []heap
	rowSum []float64 // sums of distances per query, or nil (self only)
}

func newSearch(x, q *mat.Dense, k int) *search {
	rx, rq := x.RawMatrix(), q.RawMatrix()
	s := &search{x: rx.Data, q: rq.Data, nx: rx.Rows, nq: rq.Rows, dim: rx.Cols, k: k}
	s.x2, s.q2 = rowSquares(x), rowSquares(q)
	// The error of a dot product of dim terms is at most dim*eps/2*|a||b|. A distance has three of
	// them, and rounding the sum adds little: twice the total is safe.
	const eps = 0x1p-52
	s.slack = 4 * float64(s.dim+4) * eps * max(slices.Max(s.x2), slices.Max(s.q2))
	s.heaps = make([]heap, s.nq)
	store := make([]candidate, s.nq*(k+knnSpare))
	for i := range s.heaps {
		s.heaps[i].items = store[i*(k+knnSpare) : i*(k+knnSpare) : (i+1)*(k+knnSpare)]
	}
	return s
}

func (s *search) run(ctx context.Context) (*neighbours, error) {
	nb := &neighbours{K: s.k, Index: make([]int32, s.nq*s.k), D2: make([]float64, s.nq*s.k)}
	products := make([]float64, min(knnPanel, s.nq)*s.nx)
	for lo := 0; lo < s.nq && (s.k > 0 || s.rowSum != nil); lo += knnPanel {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		hi, from := min(lo+knnPanel, s.nq), 0
		if s.self {
			from = lo // earlier panels had the pairs with earlier samples
		}
		w := s.nx - from
		blas64.Gemm(blas.NoTrans, blas.Trans, 1,
			blas64.General{Rows: hi - lo, Cols: s.dim, Stride: s.dim, Data: s.q[lo*s.dim:]},
			blas64.General{Rows: w, Cols: s.dim, Stride: s.dim, Data: s.x[from*s.dim:]},
			0, blas64.General{Rows: hi - lo, Cols: w, Stride: w, Data: products})
		s.offer(products, lo, hi, from)
	}
	linalg.Parallel(s.nq, 32, func(lo, hi int) {
		var found []candidate
		for i := lo; i < hi; i++ {
			found = s.exact(i, found[:0])
			for r, c := range found[:s.k] {
				nb.Index[i*s.k+r], nb.D2[i*s.k+r] = c.index, c.d2
			}
		}
	})
	return nb, nil
}

// offer computes distances from the products of queries lo..hi with samples from.. and pushes them
// onto the heaps. In a search of the samples among themselves a product beyond the panel counts for
// both of its samples.
func (s *search) offer(products []float64, lo, hi, from int) {
	w := s.nx - from
	linalg.Parallel(hi-lo, 4, func(a, b int) {
		for r := a; r < b; r++ {
			i := lo + r
			h := &s.heaps[i]
			row := products[r*w : (r+1)*w]
			for c, g := range row {
				d2 := max(s.q2[i]+s.x2[from+c]-2*g, 0)
				row[c] = d2
				if s.self && from+c == i {
					row[c] = 0
					continue
				}
				if d2 < h.worst || len(h.items) < cap(h.items) {
					h.push(candidate{d2, int32(from + c)})
				}
			}
			if s.rowSum != nil {
				for _, d2 := range row {
					s.rowSum[i] += math.Sqrt(d2)
				}
			}
		}
	})
	if !s.self {
		return
	}
	linalg.Parallel(s.nx-hi, 64, func(a, b int) {
		for r := range hi - lo {
			row := products[r*w+hi-from : (r+1)*w]
			for j := a; j < b; j++ {
				h := &s.heaps[hi+j]
				if row[j] < h.worst || len(h.items) < cap(h.items) {
					h.push(candidate{row[j], int32(lo + r)})
				}
			}
			if s.rowSum != nil {
				for j := a; j < b; j++ {
					s.rowSum[hi+j] += math.Sqrt(row[j])
				}
			}
		}
	})
}

// exact returns the candidates of query i by their summed distances, nearest first. If a sample that
// is not a candidate could be among the k nearest (many equal distances), exact measures all samples.
func (s *search) exact(i int, found []candidate) []candidate {
	h := &s.heaps[i]
	a := s.q[i*s.dim : (i+1)*s.dim]
	measure := func(j int32) {
		found = append(found, candidate{squaredDistance(a, s.x[int(j)*s.dim:(int(j)+1)*s.dim]), j})
	}
	for _, c := range h.items {
		measure(c.index)
	}
	slices.SortFunc(found, candidate.compare)
	if len(h.items) < cap(h.items) || s.k == 0 || found[s.k-1].d2 < h.worst-s.slack {
		return found
	}
	found = found[:0]
	for j := range s.nx {
		if !s.self || j != i {
			measure(int32(j))
		}
	}
	slices.SortFunc(found, candidate.compare)
	return found
}

type candidate struct {
	d2    float64
	index int32
}

func (c candidate) compare(d candidate) int {
	if r := cmp.Compare(c.d2, d.d2); r != 0 {
		return r
	}
	return cmp.Compare(c.index, d.index)
}

func (c candidate) compareIndex(d candidate) int { return cmp.Compare(c.index, d.index) }

// heap keeps the cap(items) smallest candidates pushed onto it, the largest on top.
type heap struct {
	items []candidate
	worst float64 // d2 of the top once the heap is full
}

func (h *heap) push(c candidate) {
	if n := len(h.items); n < cap(h.items) {
		h.items = append(h.items, c)
		for i := n; i > 0 && h.items[(i-1)/2].compare(h.items[i]) < 0; i = (i - 1) / 2 {
			h.items[i], h.items[(i-1)/2] = h.items[(i-1)/2], h.items[i]
		}
	} else {
		i := 0
		for {
			child := 2*i + 1
			if child >= n {
				break
			}
			if child+1 < n && h.items[child].compare(h.items[child+1]) < 0 {
				child++
			}
			if c.compare(h.items[child]) >= 0 {
				break
			}
			h.items[i], i = h.items[child], child
		}
		h.items[i] = c
	}
	h.worst = h.items[0].d2
}

// squaredDistance returns |a-b|^2, by four sums in a fixed order.
func squaredDistance(a, b []float64) float64 {
	b = b[:len(a)]
	var s0, s1, s2, s3 float64
	i := 0
	for ; i+4 <= len(a); i += 4 {
		x, y := a[i:i+4:i+4], b[i:i+4:i+4]
		d0, d1, d2, d3 := x[0]-y[0], x[1]-y[1], x[2]-y[2], x[3]-y[3]
		s0 += float64(d0 * d0)
		s1 += float64(d1 * d1)
		s2 += float64(d2 * d2)
		s3 += float64(d3 * d3)
	}
	for ; i < len(a); i++ {
		d := a[i] - b[i]
		s0 += float64(d * d)
	}
	return (s0 + s1) + (s2 + s3)
}

// rowSquares returns the squared norms of the rows of A.
func rowSquares(A *mat.Dense) []float64 {
	raw := A.RawMatrix()
	out := make([]float64, raw.Rows)
	for i := range out {
		row := raw.Data[i*raw.Stride : i*raw.Stride+raw.Cols]
		out[i] = dot(row, row)
	}
	return out
}

// transposed returns X^T with contiguous rows.
func transposed(X *mat.Dense) *mat.Dense {
	r, c := X.Dims()
	t := mat.NewDense(c, r, nil)
	src, dst := X.RawMatrix(), t.RawMatrix()
	const tile = 32
	linalg.Parallel(c, tile, func(lo, hi int) {
		for i0 := 0; i0 < r; i0 += tile {
			for i := i0; i < min(i0+tile, r); i++ {
				for j := lo; j < hi; j++ {
					dst.Data[j*dst.Stride+i] = src.Data[i*src.Stride+j]
				}
			}
		}
	})
	return t
}

// outOfSample extends F (C x N) to unseen columns: the mean of the columns of the k nearest training
// samples, weighted by exp(-d^2/sigma2). That is the stationary value of a vertex whose only
// hyperedge is its own. X is dim x N and must not change afterwards.
func outOfSample(method string, X, F *mat.Dense, k int, sigma2 float64) func(context.Context, *mat.Dense) (*mat.Dense, error) {
	return func(ctx context.Context, unseen *mat.Dense) (*mat.Dense, error) {
		dim, _ := X.Dims()
		if err := methods.CheckTest(method, unseen, dim); err != nil {
			return nil, err
		}
		nb, err := crossNeighbours(ctx, X, unseen, k)
		if err != nil {
			return nil, err
		}
		classes, _ := F.Dims()
		_, m := unseen.Dims()
		out := mat.NewDense(classes, m, nil)
		weights := make([]float64, nb.K)
		for q := range m {
			index, d2 := nb.query(q)
			total := 0.0
			for r := range index {
				// Relative to the nearest sample: the weights of far samples do not all underflow.
				weights[r] = math.Exp((d2[0] - d2[r]) / sigma2)
				total += weights[r]
			}
			for c := range classes {
				sum := 0.0
				for r, j := range index {
					sum += float64(weights[r] * F.At(c, int(j)))
				}
				out.Set(c, q, sum/total)
			}
		}
		return out, nil
	}
}
