package pretext

import (
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"
	"ssdl/methods"
)

// laplacian2 returns L_2 = diag(W 1) - W.
func laplacian2(W *CSR) *mat.Dense {
	L := full(W)
	L.Scale(-1, L)
	for i, d := range W.rowSums() {
		L.Set(i, i, L.At(i, i)+d)
	}
	return L
}

func checkEigenpairs(t *testing.T, W *CSR, m int) Embedding {
	t.Helper()
	e := eigenpairs(t, W, m)
	L := laplacian2(W)
	all := spectrum(t, L)
	if !slices.IsSorted(e.Lambda) {
		t.Errorf("eigenvalues do not ascend: %v", e.Lambda)
	}
	for c, v := range e.Lambda {
		if d := math.Abs(v - all[c]); d > 1e-12 {
			t.Errorf("eigenvalue %d is %v, want %v", c, v, all[c])
		}
		var r mat.VecDense
		r.MulVec(L, e.Q.ColView(c))
		r.AddScaledVec(&r, -v, e.Q.ColView(c))
		if n := mat.Norm(&r, 2); n > 1e-10 {
			t.Errorf("residual of eigenvector %d is %.1e", c, n)
		}
		column, largest := mat.Col(nil, c, e.Q), 0.0
		for _, q := range column {
			if math.Abs(q) > math.Abs(largest) {
				largest = q
			}
		}
		if largest < 0 {
			t.Errorf("the largest entry of eigenvector %d is %g", c, largest)
		}
	}
	if e.Orthogonality > 1e-12 {
		t.Errorf("|Q^T Q - I| = %.1e", e.Orthogonality)
	}
	return e
}

func TestEigenpairs(t *testing.T) {
	h := hypergraph(t, clusters(260, 9, 3, 0.5, 50).X, 6)
	for _, m := range []int{1, 7, 60, 260} {
		checkEigenpairs(t, h.Psi, m)
	}
}

// Copies of one graph side by side: every eigenvalue is as often there as there are
// copies, and one Krylov space sees it once.
func TestMultipleEigenvalues(t *testing.T) {
	one := hypergraph(t, clusters(40, 9, 3, 0.5, 51).X, 5).Psi
	const copies = 4
	W := &CSR{Rows: copies * 40, Cols: copies * 40, Ptr: []int{0}}
	for c := range copies {
		for i := range 40 {
			cols, vals := one.row(i)
			for e, j := range cols {
				W.Col, W.Val = append(W.Col, j+int32(40*c)), append(W.Val, vals[e])
			}
			W.Ptr = append(W.Ptr, len(W.Col))
		}
	}
	for _, m := range []int{3, 10, 50, 160} {
		e := checkEigenpairs(t, W, m)
		if want := min(m, copies); e.Null < want {
			t.Errorf("M = %d: %d null vectors, want %d at least", m, e.Null, want)
		}
	}
	// A complete graph: one eigenvalue but for 0.
	K := &CSR{Rows: 12, Cols: 12, Ptr: []int{0}}
	for range 12 {
		for j := range 12 {
			K.Col, K.Val = append(K.Col, int32(j)), append(K.Val, 1)
		}
		K.Ptr = append(K.Ptr, len(K.Col))
	}
	checkEigenpairs(t, K, 12)
	checkEigenpairs(t, K, 5)
}

func TestComponents(t *testing.T) {
	p := clusters(20, 4, 2, 0.01, 52)
	p.X.Zero()
	for j := range 20 { // two far groups, of 7 and 13
		if j%3 == 0 {
			p.X.Set(0, j, 1+0.01*float64(j))
		} else {
			p.X.Set(1, j, 1+0.01*float64(j))
		}
	}
	e := checkEigenpairs(t, hypergraph(t, p.X, 2).Psi, 6)
	if e.Null < 2 {
		t.Fatalf("%d null vectors, want 2 at least", e.Null)
	}
	for c := range e.Null {
		if R := Quotient(hypergraph(t, p.X, 2).Psi, mat.DenseCopyOf(e.Q.ColView(c)), 1.7)[0]; R > 1e-15 {
			t.Errorf("R of null vector %d is %g for p = 1.7", c, R)
		}
	}
	_, size := components(hypergraph(t, methods.Columns(p.X, []int{0, 3, 1, 2, 4}), 1).Psi)
	if !slices.Equal(size, []float64{3, 2}) {
		t.Errorf("sizes of the components are %v, want 3 and 2", size)
	}
}

func TestTridiagonalEigen(t *testing.T) {
	for _, n := range []int{1, 2, 3, 50} {
		for _, kind := range []string{"random", "split", "zero", "wilkinson"} {
			diag, off := make([]float64, n), make([]float64, n-1)
			r := random(2, n, uint64(n))
			for i := range n {
				diag[i] = r.At(0, i)
				if kind == "zero" {
					diag[i] = 0
				}
				if kind == "wilkinson" {
					diag[i] = math.Abs(float64(i) - float64(n-1)/2)
				}
				if i < n-1 {
					off[i] = r.At(1, i)
					if kind == "split" && i%4 == 0 {
						off[i] = 0
					}
					if kind == "wilkinson" {
						off[i] = 1
					}
				}
			}
			T := mat.NewDense(n, n, nil)
			for i := range n {
				T.Set(i, i, diag[i])
				if i < n-1 {
					T.Set(i, i+1, off[i])
					T.Set(i+1, i, off[i])
				}
			}
			carry := identity(n)
			if !tridiagonalEigen(diag, off, carry) {
				t.Fatalf("n = %d, %s: no convergence", n, kind)
			}
			// carry T carry^T is diagonal.
			var D, back mat.Dense
			D.Mul(carry, T)
			back.Mul(&D, carry.T())
			for i := range n {
				back.Set(i, i, back.At(i, i)-diag[i])
			}
			if a := mat.Norm(&back, 2); a > 1e-13*float64(n) {
				t.Errorf("n = %d, %s: off by %.1e", n, kind, a)
			}
			if o := orthogonality(carry); o > 1e-13 {
				t.Errorf("n = %d, %s: eigenvectors are off orthogonal by %.1e", n, kind, o)
			}
		}
	}
}
