package sparse

import (
	"context"
	"iter"
	"math"

	"gonum.org/v1/gonum/blas/blas64"

	"ssdl/methods/linalg"
)

const (
	// penalty and relaxation of the splitting. For unit columns and samples, and lambda from 2^-14 to
	// 2^-3, the best penalties were within a factor of 4 of lambda^0.6; relaxation is below 2.
	penalty, relaxation = 2, 1.9
	// splitGroup samples make their passes together. It is a multiple of every width of a panel.
	splitGroup = 48
	// watchedPasses are the last passes of a round, over which run counts the changes of a support.
	watchedPasses = 10
)

// splitting is the alternating direction method of multipliers for the Lasso. A pass multiplies all
// codes by one matrix. Some hundred passes find nearly all entries of a support; the minimum itself
// takes thousands. Its state is the matrix V (K x M), from which the codes are
//
//	Z = soft(V, lambda/rho),
//
// and a pass, of relaxation a, is
//
//	X = W (R + rho (2Z - V)),   V <- V + a (X - Z).
//
// That is the usual form with the scaled multiplier U = V - Z, the part of V that the threshold cuts.
type splitting struct {
	multiply  *linalg.Multiplier // by W = (G + rho I)^-1
	rho       float64
	threshold float64 // lambda/rho
}

// newSplitting chooses the penalty rho and inverts G + rho I; column is the mean squared norm
// of the columns of A, sample that of the samples, both above 0; other scales than 1 reduce to it. It
// reports false if G is not positive semi-definite.
func newSplitting(G blas64.General, lambda, column, sample float64) (splitting, bool) {
	rho := column * max(penalty*math.Pow(lambda/math.Sqrt(column*sample), 0.6), 1e-6)
	W, ok := inverse(G, func(float64) float64 { return rho }, math.Inf(1))
	if !ok {
		return splitting{}, false
	}
	return splitting{multiply: linalg.NewMultiplier(dense(W)), rho: rho, threshold: lambda / rho}, true
}

// panels are n columns of K numbers, as linalg.Multiplier takes them.
type panels struct {
	k, width int
	data     []float64
}

func newPanels(k, n, width int) panels {
	return panels{k: k, width: width, data: make([]float64, (n+width-1)/width*width*k)}
}

// at is the index of the first row of column c; the next row is width elements on.
func (p panels) at(c int) int { return c/p.width*p.width*p.k + c%p.width }

// column yields the rows of column c and their indices in data.
func (p panels) column(c int) iter.Seq2[int, int] {
	return func(yield func(row, at int) bool) {
		for i, at := 0, p.at(c); i < p.k; i, at = i+1, at+p.width {
			if !yield(i, at) {
				return
			}
		}
	}
}

// load copies the columns idx of A to the first columns of the panels, and store back.
func (p panels) load(A blas64.General, idx []int) {
	for i := range p.k {
		row := A.Data[i*A.Stride:]
		for c, j := range idx {
			p.data[p.at(c)+i*p.width] = row[j]
		}
	}
}

func (p panels) store(A blas64.General, idx []int) {
	for i := range p.k {
		row := A.Data[i*A.Stride:]
		for c, j := range idx {
			row[j] = p.data[p.at(c)+i*p.width]
		}
	}
}

// progress is what run says of a sample: the entries of its support, and how many entered or left
// in the last passes.
type progress struct{ support, changes int }

// run makes passes for the samples idx, at most splitGroup: columns of R and of the state V (both
// K x M).
func (p splitting) run(ctx context.Context, R, V blas64.General, idx []int, passes int) []progress {
	part := func() panels { return newPanels(R.Rows, len(idx), p.multiply.Width()) }
	r, v, b, x := part(), part(), part(), part()
	r.load(R, idx)
	v.load(V, idx)
	before := make([]float64, len(v.data))
	p.prepare(v.data, r.data, b.data)
	for pass := range passes {
		if ctx.Err() != nil {
			break
		}
		if pass == passes-watchedPasses {
			copy(before, v.data)
		}
		p.multiply.Mul(x.data, b.data)
		p.step(v.data, x.data, r.data, b.data)
	}
	v.store(V, idx)
	out := make([]progress, len(idx))
	for c := range idx {
		for _, at := range v.column(c) {
			in := math.Abs(v.data[at]) > p.threshold
			if in {
				out[c].support++
			}
			if in != (math.Abs(before[at]) > p.threshold) {
				out[c].changes++
			}
		}
	}
	return out
}

// prepare sets b = r + rho (2z - v), the right-hand side of a pass.
func (p splitting) prepare(v, r, b []float64) {
	for i, u := range v {
		cut := max(min(u, p.threshold), -p.threshold)
		b[i] = math.FMA(p.rho, u-2*cut, r[i])
	}
}

// step updates v by the x of a pass, and prepares the next one.
func (p splitting) step(v, x, r, b []float64) {
	x, r, b = x[:len(v)], r[:len(v)], b[:len(v)]
	for i, u := range v {
		cut := max(min(u, p.threshold), -p.threshold)
		u = math.FMA(relaxation, x[i]-(u-cut), u)
		v[i] = u
		cut = max(min(u, p.threshold), -p.threshold)
		b[i] = math.FMA(p.rho, u-2*cut, r[i])
	}
}

// soft sets the columns idx of the state V to their codes Z.
func (p splitting) soft(V blas64.General, idx []int) {
	for i := range V.Rows {
		row := V.Data[i*V.Stride:]
		for _, j := range idx {
			row[j] -= max(min(row[j], p.threshold), -p.threshold)
		}
	}
}
