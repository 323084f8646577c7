package linalg

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"testing"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/gonum"
	"pgregory.net/rapid"
)

// matrix is a stored matrix whose rows are ld apart; the gaps hold a marker that no
// routine may change.
type matrix struct {
	rows, cols, ld int
	data           []float64
}

const marker = 12345.678

func newMatrix(r *rand.Rand, rows, cols, gap int) matrix {
	m := matrix{rows: rows, cols: cols, ld: max(1, cols+gap)}
	if rows > 0 {
		m.data = make([]float64, (rows-1)*m.ld+cols)
	}
	for i := range m.data {
		m.data[i] = marker
		if i%m.ld < cols {
			m.data[i] = 2*r.Float64() - 1
		}
	}
	return m
}

func (m matrix) clone() matrix {
	m.data = slices.Clone(m.data)
	return m
}

func (m matrix) at(i, j int) float64 { return m.data[i*m.ld+j] }

// op is element (i, j) of op(m).
func (m matrix) op(t blas.Transpose, i, j int) float64 {
	if t != blas.NoTrans {
		i, j = j, i
	}
	return m.at(i, j)
}

// sprinkle replaces some elements by values that are special in floating point.
func (m matrix) sprinkle(r *rand.Rand) {
	special := []float64{math.NaN(), math.Inf(1), math.Inf(-1), 0, math.Copysign(0, -1), 5e-324, math.MaxFloat64}
	for range 3 {
		if m.rows > 0 && m.cols > 0 {
			m.data[r.IntN(m.rows)*m.ld+r.IntN(m.cols)] = special[r.IntN(len(special))]
		}
	}
}

// same reports whether two numbers have the same bits, all NaN being one.
func same(x, y float64) bool {
	return math.Float64bits(x) == math.Float64bits(y) || math.IsNaN(x) && math.IsNaN(y)
}

// differ names the first element in which two matrices of one shape differ.
func differ(got, want []float64) string {
	for i := range want {
		if !same(got[i], want[i]) {
			return fmt.Sprintf("element %d is %x, want %x", i, got[i], want[i])
		}
	}
	return ""
}

// define computes alpha op(A) op(B) + beta C as the comment of implementation says.
func define(tA, tB blas.Transpose, k int, alpha float64, a, b matrix, beta float64, c matrix) {
	for i := range c.rows {
		for j := range c.cols {
			v := &c.data[i*c.ld+j]
			switch beta {
			case 0:
				*v = 0
			default:
				*v *= beta
			}
			if alpha == 0 {
				continue
			}
			for l := 0; l < k; l += 384 {
				t := 0.0
				for q := l; q < min(l+384, k); q++ {
					t = math.FMA(a.op(tA, i, q), b.op(tB, q, j), t)
				}
				if l == 0 && beta == 0 {
					*v = alpha * t
				} else {
					*v = math.FMA(alpha, t, *v)
				}
			}
		}
	}
}

// shaped returns a random matrix whose op is rows x cols.
func shaped(r *rand.Rand, t blas.Transpose, rows, cols int) matrix {
	if t != blas.NoTrans {
		rows, cols = cols, rows
	}
	return newMatrix(r, rows, cols, r.IntN(4))
}

var transposes = []blas.Transpose{blas.NoTrans, blas.Trans, blas.ConjTrans}

// checkDgemm compares every kernel with the definition, bit by bit, and with gonum's code
// up to rounding.
func checkDgemm(t rapid.TB, r *rand.Rand, tA, tB blas.Transpose, m, n, k int, alpha, beta float64, special bool) {
	a, b, c := shaped(r, tA, m, k), shaped(r, tB, k, n), newMatrix(r, m, n, r.IntN(4))
	if special {
		a.sprinkle(r)
		b.sprinkle(r)
		c.sprinkle(r)
	}
	want := c.clone()
	define(tA, tB, k, alpha, a, b, beta, want)
	for _, kern := range kernels() {
		got := c.clone()
		implementation{kern: kern}.Dgemm(tA, tB, m, n, k, alpha, a.data, a.ld, b.data, b.ld, beta, got.data, got.ld)
		if d := differ(got.data, want.data); d != "" {
			t.Fatalf("%s, %c %c m=%d n=%d k=%d alpha=%g beta=%g: %s", kern.name, tA, tB, m, n, k, alpha, beta, d)
		}
	}
	if special {
		return // gonum's skips zeros
	}
	theirs := c.clone()
	gonum.Implementation{}.Dgemm(tA, tB, m, n, k, alpha, a.data, a.ld, b.data, b.ld, beta, theirs.data, theirs.ld)
	tol := 0x1p-52 * float64(k+2) * (math.Abs(alpha)*float64(k) + math.Abs(beta))
	for i, v := range theirs.data {
		if math.Abs(v-want.data[i]) > tol {
			t.Fatalf("element %d is %g, gonum's %g", i, want.data[i], v)
		}
	}
}

// drawSize draws sizes around the edges of tiles and k-blocks more often than others.
func drawSize(t *rapid.T, name string, edges ...int) int {
	if rapid.Bool().Draw(t, name+" at an edge") {
		return max(0, rapid.SampledFrom(edges).Draw(t, name)+rapid.IntRange(-1, 1).Draw(t, name+" off"))
	}
	return rapid.IntRange(0, 70).Draw(t, name)
}

func drawScalar(t *rapid.T, name string) float64 {
	return rapid.OneOf(rapid.SampledFrom([]float64{0, 1, -1}), rapid.Float64Range(-3, 3)).Draw(t, name)
}

func TestDgemm(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		tA, tB := rapid.SampledFrom(transposes).Draw(t, "tA"), rapid.SampledFrom(transposes).Draw(t, "tB")
		m, n, k := drawSize(t, "m", 1, 8, 96), drawSize(t, "n", 1, 24, 192), drawSize(t, "k", 1, 384, 768)
		checkDgemm(t, r, tA, tB, m, n, k, drawScalar(t, "alpha"), drawScalar(t, "beta"), rapid.Bool().Draw(t, "special"))
	})
}

func TestDgemmBeyondThePackedParts(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, s := range [][2]int{{maxRows + 17, 5}, {9, maxCols + 29}} {
		for _, trans := range transposes[:2] {
			checkDgemm(t, r, trans, trans, s[0], s[1], 20, 1.5, 0.5, false)
		}
	}
}

func FuzzDgemm(f *testing.F) {
	f.Add(uint64(1), uint8(9), uint8(25), uint16(385), uint8(3), 1.0, 0.0)
	f.Add(uint64(2), uint8(0), uint8(1), uint16(1), uint8(7), -0.5, 1.0)
	f.Fuzz(func(t *testing.T, seed uint64, m, n uint8, k uint16, flags uint8, alpha, beta float64) {
		r := rand.New(rand.NewPCG(seed, 0))
		bounded := math.Abs(alpha) < 1e100 && math.Abs(beta) < 1e100
		checkDgemm(t, r, transposes[flags%3], transposes[flags/3%3], int(m), int(n), int(k%1000), alpha, beta, !bounded || flags >= 128)
	})
}

func TestDsyrkIsATriangleOfDgemm(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		tA := rapid.SampledFrom(transposes).Draw(t, "tA")
		ul := rapid.SampledFrom([]blas.Uplo{blas.Upper, blas.Lower}).Draw(t, "ul")
		n, k := drawSize(t, "n", 1, 8, 24, 96, 192), drawSize(t, "k", 1, 384)
		alpha, beta := drawScalar(t, "alpha"), drawScalar(t, "beta")
		a, c := shaped(r, tA, n, k), newMatrix(r, n, n, 2)
		if rapid.Bool().Draw(t, "special") {
			a.sprinkle(r)
			c.sprinkle(r)
		}
		flip := blas.Trans
		if tA != blas.NoTrans {
			flip = blas.NoTrans
		}
		for _, kern := range kernels() {
			l := implementation{kern: kern}
			got, product := c.clone(), c.clone()
			l.Dsyrk(ul, tA, n, k, alpha, a.data, a.ld, beta, got.data, got.ld)
			l.Dgemm(tA, flip, n, n, k, alpha, a.data, a.ld, a.data, a.ld, beta, product.data, product.ld)
			for i := range n {
				for j := range n {
					want := c.at(i, j)
					if i == j || (j > i) == (ul == blas.Upper) {
						want = product.at(i, j)
					}
					if !same(got.at(i, j), want) {
						t.Fatalf("%s: element (%d, %d) is %x, want %x", kern.name, i, j, got.at(i, j), want)
					}
				}
			}
		}
	})
}

// triangular returns a matrix whose triangle ul is safely invertible and whose other
// triangle is NaN: it must not be read.
func triangular(r *rand.Rand, ul blas.Uplo, d blas.Diag, n int) matrix {
	a := newMatrix(r, n, n, 1)
	for i := range n {
		for j := range n {
			v := &a.data[i*a.ld+j]
			switch {
			case i == j && d == blas.Unit || i != j && (j > i) != (ul == blas.Upper):
				*v = math.NaN()
			case i == j:
				*v = 1 + r.Float64()
			default:
				*v /= float64(n)
			}
		}
	}
	return a
}

func TestDtrsm(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		side := rapid.SampledFrom([]blas.Side{blas.Left, blas.Right}).Draw(t, "side")
		ul := rapid.SampledFrom([]blas.Uplo{blas.Upper, blas.Lower}).Draw(t, "ul")
		tA := rapid.SampledFrom(transposes).Draw(t, "tA")
		d := rapid.SampledFrom([]blas.Diag{blas.NonUnit, blas.Unit}).Draw(t, "d")
		size, sides := drawSize(t, "size", 1, 64, 128, 192), drawSize(t, "sides", 1, 4, 12, 24)
		alpha := drawScalar(t, "alpha")
		m, n := size, sides
		if side == blas.Right {
			m, n = sides, size
		}
		a, b := triangular(r, ul, d, size), newMatrix(r, m, n, 2)
		var first matrix
		for i, kern := range kernels() {
			x := b.clone()
			implementation{kern: kern}.Dtrsm(side, ul, tA, d, m, n, alpha, a.data, a.ld, x.data, x.ld)
			if i == 0 {
				first = x
			}
			if d := differ(x.data, first.data); d != "" {
				t.Fatalf("%s: %s", kern.name, d)
			}
		}

		theirs := b.clone()
		gonum.Implementation{}.Dtrsm(side, ul, tA, d, m, n, alpha, a.data, a.ld, theirs.data, theirs.ld)
		for i, v := range theirs.data {
			if math.Abs(v-first.data[i]) > 1e-13*max(1, math.Abs(v)) {
				t.Fatalf("element %d is %g, gonum's %g", i, first.data[i], v)
			}
		}

		// Every right-hand side alone gives the same bits.
		if sides == 0 {
			return
		}
		one, alone := r.IntN(sides), b.clone()
		if side == blas.Left {
			active.Dtrsm(side, ul, tA, d, m, 1, alpha, a.data, a.ld, alone.data[min(one, len(alone.data)):], alone.ld)
		} else {
			active.Dtrsm(side, ul, tA, d, 1, n, alpha, a.data, a.ld, alone.data[one*alone.ld:], alone.ld)
		}
		for i := range m {
			for j := range n {
				if (side == blas.Left && j == one || side == blas.Right && i == one) && !same(alone.at(i, j), first.at(i, j)) {
					t.Fatalf("(%d, %d) is %x alone, %x among others", i, j, alone.at(i, j), first.at(i, j))
				}
			}
		}
	})
}

func TestDtrsv(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		ul := rapid.SampledFrom([]blas.Uplo{blas.Upper, blas.Lower}).Draw(t, "ul")
		tA := rapid.SampledFrom(transposes).Draw(t, "tA")
		d := rapid.SampledFrom([]blas.Diag{blas.NonUnit, blas.Unit}).Draw(t, "d")
		n, inc := drawSize(t, "n", 1, 8, 32, 64, 100), rapid.SampledFrom([]int{1, 1, 2, -1, -3}).Draw(t, "inc")
		a, b := triangular(r, ul, d, n), strided(r, n, inc)
		theirs := slices.Clone(b)
		gonum.Implementation{}.Dtrsv(ul, tA, d, n, a.data, a.ld, theirs, inc)
		var first []float64
		for _, kern := range kernels() {
			x := slices.Clone(b)
			implementation{kern: kern}.Dtrsv(ul, tA, d, n, a.data, a.ld, x, inc)
			if first == nil {
				first = x
			}
			if d := differ(x, first); d != "" {
				t.Fatalf("%s: %s", kern.name, d)
			}
		}
		for i, v := range theirs {
			if math.Abs(v-first[i]) > 1e-13*max(1, math.Abs(v)) {
				t.Fatalf("element %d is %g, gonum's %g", i, first[i], v)
			}
		}
	})
}

// workload runs each routine on shapes that take several tasks and blocks, and returns
// all the results.
func workload(l blas.Float64) []float64 {
	r := rand.New(rand.NewPCG(3, 4))
	const m, n, k = 197, 251, 400
	a, b := newMatrix(r, m, k, 0), newMatrix(r, k, n, 0)
	c := make([]float64, m*n)
	l.Dgemm(blas.NoTrans, blas.NoTrans, m, n, k, 1, a.data, a.ld, b.data, b.ld, 0, c, n)
	g := make([]float64, n*n)
	for i := range n {
		g[i*n+i] = k
	}
	l.Dsyrk(blas.Upper, blas.Trans, n, k, 1, b.data, b.ld, 1, g, n)
	if !factor(l, blas.Upper, n, g, n) {
		panic("not positive definite")
	}
	x := slices.Clone(c)
	l.Dtrsm(blas.Right, blas.Upper, blas.NoTrans, blas.NonUnit, m, n, 0.5, g, n, x, n)
	return slices.Concat(c, g, x)
}

func TestSeveralAtOnce(t *testing.T) {
	want := workload(active)
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			if d := differ(workload(active), want); d != "" {
				t.Error(d)
			}
		})
	}
	wg.Wait()
}

// The hash is the same for every kernel, on every machine and for every number of
// goroutines. A change of it means that published results have other bits.
func TestBits(t *testing.T) {
	const want = "18a0a4820f1cf76d05525c1160a3c21e4f746d505527d65a439da3f6577c94b3"
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	for _, kern := range kernels() {
		for _, procs := range []int{1, 2, 8} {
			runtime.GOMAXPROCS(procs)
			h := sha256.New()
			for _, v := range workload(implementation{kern: kern}) {
				_ = binary.Write(h, binary.LittleEndian, v)
			}
			if got := hex.EncodeToString(h.Sum(nil)); got != want {
				t.Errorf("%s with GOMAXPROCS=%d: the results hash to %s, want %s", kern.name, procs, got, want)
			}
		}
	}
}

func TestAPartHasTheBitsOfTheWhole(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	const m, n, k = 150, 260, 400
	a, b := newMatrix(r, m, k, 0), newMatrix(r, k, n, 0)
	whole := newMatrix(r, m, n, 0)
	active.Dgemm(blas.NoTrans, blas.NoTrans, m, n, k, 1, a.data, a.ld, b.data, b.ld, 0, whole.data, n)
	for _, s := range [][4]int{{0, 0, 1, 1}, {0, 0, 1, 3}, {149, 259, 1, 1}, {3, 5, 2, 250}, {1, 7, 140, 1}, {17, 19, 60, 70}} {
		i, j, h, w := s[0], s[1], s[2], s[3]
		part := make([]float64, h*w)
		active.Dgemm(blas.NoTrans, blas.NoTrans, h, w, k, 1, a.data[i*k:], k, b.data[j:], n, 0, part, w)
		for q, v := range part {
			if want := whole.at(i+q/w, j+q%w); v != want {
				t.Fatalf("part %v, element %d is %x, want %x", s, q, v, want)
			}
		}
	}
}

func panicOf(f func()) (what any) {
	defer func() { what = recover() }()
	f()
	return nil
}

func TestBadArgumentsPanicAsGonums(t *testing.T) {
	x := make([]float64, 12)
	short := x[:5]
	type call func(l blas.Float64)
	calls := map[string]call{
		"gemm transpose": func(l blas.Float64) { l.Dgemm('x', 'N', 3, 4, 2, 1, x, 2, x, 4, 0, x, 4) },
		"gemm m":         func(l blas.Float64) { l.Dgemm('N', 'N', -1, 4, 2, 1, x, 2, x, 4, 0, x, 4) },
		"gemm ldb":       func(l blas.Float64) { l.Dgemm('N', 'N', 3, 4, 2, 1, x, 2, x, 3, 0, x, 4) },
		"gemm c":         func(l blas.Float64) { l.Dgemm('N', 'N', 3, 4, 2, 1, x, 2, x, 4, 0, short, 4) },
		"syrk triangle":  func(l blas.Float64) { l.Dsyrk('x', 'N', 3, 4, 1, x, 4, 0, x, 3) },
		"syrk transpose": func(l blas.Float64) { l.Dsyrk('U', 'x', 3, 4, 1, x, 4, 0, x, 3) },
		"syrk n":         func(l blas.Float64) { l.Dsyrk('U', 'N', -3, 4, 1, x, 4, 0, x, 3) },
		"syrk k":         func(l blas.Float64) { l.Dsyrk('U', 'N', 3, -4, 1, x, 4, 0, x, 3) },
		"syrk lda":       func(l blas.Float64) { l.Dsyrk('U', 'T', 3, 4, 1, x, 2, 0, x, 3) },
		"syrk ldc":       func(l blas.Float64) { l.Dsyrk('U', 'N', 3, 4, 1, x, 4, 0, x, 2) },
		"syrk a":         func(l blas.Float64) { l.Dsyrk('U', 'N', 3, 4, 1, short, 4, 0, x, 3) },
		"syrk c":         func(l blas.Float64) { l.Dsyrk('U', 'N', 3, 4, 1, x, 4, 0, short, 3) },
		"trsm side":      func(l blas.Float64) { l.Dtrsm('x', 'U', 'N', 'N', 3, 4, 1, x, 3, x, 4) },
		"trsm triangle":  func(l blas.Float64) { l.Dtrsm('L', 'x', 'N', 'N', 3, 4, 1, x, 3, x, 4) },
		"trsm transpose": func(l blas.Float64) { l.Dtrsm('L', 'U', 'x', 'N', 3, 4, 1, x, 3, x, 4) },
		"trsm diagonal":  func(l blas.Float64) { l.Dtrsm('L', 'U', 'N', 'x', 3, 4, 1, x, 3, x, 4) },
		"trsm m":         func(l blas.Float64) { l.Dtrsm('L', 'U', 'N', 'N', -3, 4, 1, x, 3, x, 4) },
		"trsm n":         func(l blas.Float64) { l.Dtrsm('L', 'U', 'N', 'N', 3, -4, 1, x, 3, x, 4) },
		"trsm lda":       func(l blas.Float64) { l.Dtrsm('R', 'U', 'N', 'N', 3, 4, 1, x, 3, x, 4) },
		"trsm ldb":       func(l blas.Float64) { l.Dtrsm('L', 'U', 'N', 'N', 3, 4, 1, x, 3, x, 3) },
		"trsm a":         func(l blas.Float64) { l.Dtrsm('L', 'U', 'N', 'N', 3, 4, 1, short, 3, x, 4) },
		"trsv triangle":  func(l blas.Float64) { l.Dtrsv('x', 'N', 'N', 3, x, 3, x, 1) },
		"trsv transpose": func(l blas.Float64) { l.Dtrsv('U', 'x', 'N', 3, x, 3, x, 1) },
		"trsv diagonal":  func(l blas.Float64) { l.Dtrsv('U', 'N', 'x', 3, x, 3, x, 1) },
		"trsv n":         func(l blas.Float64) { l.Dtrsv('U', 'N', 'N', -3, x, 3, x, 1) },
		"trsv lda":       func(l blas.Float64) { l.Dtrsv('U', 'N', 'N', 3, x, 2, x, 1) },
		"trsv inc":       func(l blas.Float64) { l.Dtrsv('U', 'N', 'N', 3, x, 3, x, 0) },
		"trsv a":         func(l blas.Float64) { l.Dtrsv('U', 'N', 'N', 3, short, 3, x, 1) },
		"trsv x":         func(l blas.Float64) { l.Dtrsv('U', 'N', 'N', 3, x, 3, short, 3) },
		"trsm b":         func(l blas.Float64) { l.Dtrsm('L', 'U', 'N', 'N', 3, 4, 1, x, 3, short, 4) },
	}
	for name, f := range calls {
		want := panicOf(func() { f(gonum.Implementation{}) })
		if got := panicOf(func() { f(active) }); want == nil || got != want {
			t.Errorf("%s: panics with %v, gonum's with %v", name, got, want)
		}
	}
}

func TestNothingToDo(t *testing.T) {
	c := []float64{math.NaN(), 2}
	active.Dgemm(blas.NoTrans, blas.NoTrans, 0, 0, 0, 1, nil, 1, nil, 1, 0, nil, 1)
	active.Dsyrk(blas.Upper, blas.NoTrans, 0, 3, 1, nil, 3, 0, nil, 1)
	active.Dtrsm(blas.Left, blas.Upper, blas.NoTrans, blas.Unit, 0, 2, 1, nil, 1, nil, 2)
	active.Dgemm(blas.NoTrans, blas.NoTrans, 1, 2, 0, 1, nil, 1, nil, 2, 0, c, 2)
	if c[0] != 0 || c[1] != 0 {
		t.Errorf("a product of no terms with beta = 0 is %v, want zeros", c)
	}
}
