package pretext

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"
	"ssdl/methods/linalg"
)

// Embedding is a frame Q (N x M) with one quotient per column: L_p = Q diag(Lambda) Q^T.
type Embedding struct {
	Q      *mat.Dense
	Lambda []float64
	// Null is the number of leading columns that are the normalised indicators of
	// connected components: null vectors of L_p for every p.
	Null int
	// F1 is the objective of Eq. 6, the sum of Lambda, at the start and after each step.
	F1 []float64
	// Orthogonality is the largest entry of |Q^T Q - I|.
	Orthogonality float64
}

// bytes returns the memory of e.
func (e Embedding) bytes() int64 { return int64(8 * (len(e.Q.RawMatrix().Data) + 2*len(e.Lambda))) }

// Eigenpairs returns the M (1 to N, more count as N) smallest eigenpairs of the Laplacian
// L_2 = diag(W 1) - W of the symmetric W (N x N, non-negative). The columns ascend by
// eigenvalue. The null space comes first, spanned by the indicators of the connected
// components, the largest component first. The entry of largest size in a column is positive.
//
// The other vectors come from Lanczos' iteration in the complement of the null space with full
// reorthogonalisation. One Krylov space has a single vector of a multiple eigenvalue: further
// iterations, in the complement of the vectors found, look for the rest. The start vectors are
// fixed, and eigenvectors of simple eigenvalues do not depend on them.
func Eigenpairs(ctx context.Context, W *CSR, M int) (Embedding, error) {
	n := W.Rows
	M = min(M, n)
	k := &krylov{W: W, n: n, degree: W.rowSums()}
	k.component, k.size = components(W)
	k.scale = 2 * slices.Max(k.degree) // Gershgorin: |L_2| <= scale
	null := min(len(k.size), M)

	var found []float64 // eigenvalues of the first len(found) rows of the basis
	target := M - null
	for round := uint64(1); target > 0 && len(found)+len(k.size) < n; round++ {
		bound := math.Inf(1)
		if len(found) >= target {
			bound = slices.Sorted(slices.Values(found))[target-1]
		}
		more, err := k.extend(ctx, round, target-len(found), bound)
		if err != nil {
			return Embedding{}, err
		}
		if len(more) == 0 {
			break
		}
		found = append(found, more...)
	}

	if len(found) < target {
		return Embedding{}, fmt.Errorf("eigenpairs: found %d of %d", len(found)+null, M)
	}
	order := ascending(found)
	e := Embedding{Q: mat.NewDense(n, M, nil), Lambda: make([]float64, M), Null: null}
	for i, c := range k.component {
		if int(c) < null {
			e.Q.Set(i, int(c), 1/math.Sqrt(k.size[c]))
		}
	}
	for c := range target {
		v := k.basis[order[c]*n : (order[c]+1)*n]
		largest := 0
		for i := range v {
			if math.Abs(v[i]) > math.Abs(v[largest]) {
				largest = i
			}
		}
		sign := math.Copysign(1, v[largest])
		for i := range v {
			e.Q.Set(i, null+c, sign*v[i])
		}
		e.Lambda[null+c] = max(found[order[c]], 0)
	}
	e.F1 = []float64{total(e.Lambda)}
	e.Orthogonality = orthogonality(e.Q)
	return e, nil
}

const (
	// eigenTolerance bounds |L_2 q - theta q|, relative to |L_2|.
	eigenTolerance = 2e-11
	// eigenExclusion bounds the error of a Ritz value above the wanted eigenvalues, relative to the
	// largest of them: the value is then accurate enough to be excluded.
	eigenExclusion = 0.01
)

// krylov is the state of Eigenpairs.
type krylov struct {
	W         *CSR
	n         int
	degree    []float64
	component []int32   // of each vertex
	size      []float64 // of each component
	scale     float64
	basis     []float64 // orthonormal rows of length n: eigenvectors, then the Krylov space
}

// extend runs one iteration in the complement of the null space and of the basis. It adds to the
// basis the eigenvectors of the smallest eigenvalues there, missing many, or of all below bound if
// missing is 0, and returns their eigenvalues.
func (k *krylov) extend(ctx context.Context, seed uint64, missing int, bound float64) ([]float64, error) {
	n, first := k.n, len(k.basis)/k.n
	room := n - len(k.size) - first // dimension of the complement
	r := rand.New(rand.NewPCG(seed, 0))
	w := make([]float64, n)
	for i := range w {
		w[i] = linalg.Gaussian(r)
	}
	var diag, off []float64
	for next := max(40, 2*missing); ; {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		k.orthogonalise(w)
		beta := math.Sqrt(dot(w, w))
		ended := len(diag) == room || beta <= 1e-13*k.scale
		if ended {
			beta = 0
		}
		if steps := len(diag); ended || steps >= next {
			next = steps + 20 + steps/8
			theta, bottom, err := ritz(diag, off)
			if err != nil {
				return nil, err
			}
			if take := wanted(theta, bottom, beta, k.scale, missing, bound); take >= 0 || ended {
				return k.collect(first, diag, off, take)
			}
		}
		for i := range w {
			w[i] /= beta
		}
		if len(diag) > 0 {
			off = append(off, beta)
		}
		k.basis = append(k.basis, w...)
		v := k.basis[len(k.basis)-n:]
		k.apply(w, v)
		diag = append(diag, dot(v, w))
		axpy(w, -diag[len(diag)-1], v)
		if s := len(off); s > 0 {
			axpy(w, -off[s-1], k.basis[len(k.basis)-2*n:len(k.basis)-n])
		}
	}
}

// wanted returns how many of the smallest Ritz values are wanted if these have converged, and -1 if
// the iteration must go on.
func wanted(theta, bottom []float64, beta, scale float64, missing int, bound float64) int {
	n := missing
	if missing <= 0 {
		// Only values clearly below the bound were missed.
		for n = 0; n < len(theta) && theta[n] < bound-1e-8*scale; n++ {
		}
		if n == 0 {
			if len(theta) == 0 || beta*math.Abs(bottom[0]) <= eigenExclusion*bound {
				return 0
			}
			return -1
		}
	}
	n = min(n, len(theta))
	for i := range n {
		if beta*math.Abs(bottom[i]) > eigenTolerance*scale {
			return -1
		}
	}
	if n < missing && beta > 0 {
		return -1
	}
	return n
}

// collect replaces the Krylov part of the basis, its rows from first on, by the eigenvectors of the
// take smallest Ritz values, and returns these values.
func (k *krylov) collect(first int, diag, off []float64, take int) ([]float64, error) {
	krylov := k.basis[first*k.n:]
	if take <= 0 {
		k.basis = k.basis[:first*k.n]
		return nil, nil
	}
	s := len(diag)
	vectors := mat.NewDense(s, s, nil)
	for i := range s {
		vectors.Set(i, i, 1)
	}
	if !tridiagonalEigen(diag, off, vectors) {
		return nil, errTridiagonal
	}
	order := ascending(diag)[:take]
	small, values := mat.NewDense(take, s, nil), make([]float64, take)
	for i, o := range order {
		copy(small.RawRowView(i), vectors.RawRowView(o))
		values[i] = diag[o]
	}
	out := make([]float64, take*k.n)
	blas64.Gemm(blas.NoTrans, blas.NoTrans, 1, small.RawMatrix(),
		blas64.General{Rows: s, Cols: k.n, Stride: k.n, Data: krylov},
		0, blas64.General{Rows: take, Cols: k.n, Stride: k.n, Data: out})
	k.basis = append(k.basis[:first*k.n], out...)
	return values, nil
}

// apply sets dst = L_2 v.
func (k *krylov) apply(dst, v []float64) {
	k.W.mulVec(dst, v)
	for i, d := range k.degree {
		dst[i] = float64(d*v[i]) - dst[i]
	}
}

// orthogonalise projects w onto the complement of the null space and of the basis. It repeats the
// projection if that removed much of w.
func (k *krylov) orthogonalise(w []float64) {
	rows := len(k.basis) / k.n
	c := make([]float64, rows)
	before := dot(w, w)
	for range 3 {
		mean := make([]float64, len(k.size))
		for i, v := range w {
			mean[k.component[i]] += v
		}
		for c, s := range k.size {
			mean[c] /= s
		}
		for i := range w {
			w[i] -= mean[k.component[i]]
		}
		if rows > 0 {
			basis := blas64.General{Rows: rows, Cols: k.n, Stride: k.n, Data: k.basis}
			vc, vw := blas64.Vector{N: rows, Inc: 1, Data: c}, blas64.Vector{N: k.n, Inc: 1, Data: w}
			blas64.Gemv(blas.NoTrans, 1, basis, vw, 0, vc)
			blas64.Gemv(blas.Trans, -1, basis, vc, 1, vw)
		}
		after := dot(w, w)
		if after > 0.5*before {
			return
		}
		before = after
	}
}

// components numbers the connected components of W, the largest first, then by their first vertex.
// It returns the component of each vertex and the size of each component.
func components(W *CSR) (component []int32, size []float64) {
	component = make([]int32, W.Rows)
	for i := range component {
		component[i] = -1
	}
	var stack []int32
	for i := range component {
		if component[i] >= 0 {
			continue
		}
		id := int32(len(size))
		size = append(size, 0)
		component[i] = id
		for stack = append(stack[:0], int32(i)); len(stack) > 0; {
			v := stack[len(stack)-1]
			stack = stack[:len(stack)-1]
			size[id]++
			cols, vals := W.row(int(v))
			for e, j := range cols {
				if vals[e] > 0 && component[j] < 0 {
					component[j] = id
					stack = append(stack, j)
				}
			}
		}
	}
	order := make([]int, len(size))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(size[b], size[a]) })
	rank, sorted := make([]int32, len(size)), make([]float64, len(size))
	for r, o := range order {
		rank[o], sorted[r] = int32(r), size[o]
	}
	for i, c := range component {
		component[i] = rank[c]
	}
	return component, sorted
}

// orthogonality returns the largest entry of |Q^T Q - I|.
func orthogonality(Q *mat.Dense) float64 {
	g, worst := linalg.Gram(Q), 0.0
	m, _ := g.Dims()
	for i := range m {
		for j, v := range g.RawRowView(i) {
			if i == j {
				v--
			}
			worst = max(worst, math.Abs(v))
		}
	}
	return worst
}
