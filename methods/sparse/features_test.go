package sparse_test

import (
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"testing"

	"gonum.org/v1/gonum/mat"

	"ssdl/harness/data"
	"ssdl/harness/protocol"
	"ssdl/methods"
	"ssdl/methods/linalg"
	"ssdl/methods/sparse"
)

// features splits a real set: the labelled training columns, all training columns, the
// test columns.
func features(t testing.TB, name string) (labelled, train, test *mat.Dense) {
	t.Helper()
	dir := os.Getenv("SSDL_DATA")
	if dir == "" {
		t.Skip("SSDL_DATA is not set: no real features to test on")
	}
	set, err := data.Load(context.Background(), filepath.Join(dir, name), data.Options{})
	if err != nil {
		t.Skipf("no real features to test on: %v", err)
	}
	split, err := data.MakeSplit(set, data.SplitSpec{}, 1000)
	if err != nil {
		t.Fatal(err)
	}
	var keep []int
	for i, j := range split.Train {
		if split.Labelled[i] {
			keep = append(keep, j)
		}
	}
	return methods.Columns(set.X, keep), methods.Columns(set.X, split.Train), methods.Columns(set.X, split.Test)
}

// learned returns a dictionary of k unit atoms for X, by a few rounds of sweeps and ball-
// constrained atom updates from normal draws: what SSDL codes its test samples with, in
// kind.
func learned(X *mat.Dense, k, rounds int, alpha float64) *mat.Dense {
	dim, n := X.Dims()
	r := protocol.Stream(7, "dictionary")
	DT := mat.NewDense(k, dim, nil) // atoms are rows
	for i := range DT.RawMatrix().Data {
		DT.RawMatrix().Data[i] = linalg.Gaussian(r)
	}
	S := mat.NewDense(k, n, nil)
	for range rounds {
		for a := range k {
			row := DT.RawRowView(a)
			norm := mat.Norm(mat.NewVecDense(dim, row), 2)
			for i := range row {
				row[i] /= max(norm, 1e-9)
			}
		}
		var R, V mat.Dense
		R.Mul(DT, X)
		linalg.Sweep(S, linalg.Outer(DT), &R, alpha)
		A := linalg.Outer(S)
		V.Mul(S, X.T())
		var AD mat.Dense
		AD.Mul(A, DT)
		for a := range k { // a damped step is enough here
			if h := A.At(a, a); h > 1e-12 {
				row, v, ad := DT.RawRowView(a), V.RawRowView(a), AD.RawRowView(a)
				for i := range row {
					row[i] += 0.5 * (v[i] - ad[i]) / (h + mat.Trace(A)/float64(k))
				}
			}
		}
	}
	D := mat.DenseCopyOf(DT.T())
	linalg.NormalizeColumns(D)
	return D
}

func solve(t testing.TB, A, Y *mat.Dense, lambda float64) (*mat.Dense, sparse.Report) {
	t.Helper()
	var R mat.Dense
	R.Mul(A.T(), Y)
	S, report, err := sparse.Lasso{Lambda: lambda}.Solve(context.Background(), linalg.Gram(A), &R, linalg.ColumnSquares(Y))
	if err != nil {
		t.Fatal(err)
	}
	return S, report
}

// TestLassoOnFeatures covers sparse and dense codes, a badly conditioned dictionary of raw
// samples, a learned one, and one with more atoms than features.
func TestLassoOnFeatures(t *testing.T) {
	labelled, train, test := features(t, "sports8")
	dim, _ := test.Dims()
	test = test.Slice(0, dim, 0, 60).(*mat.Dense)
	atoms := learned(train, 552, 5, math.Ldexp(1, -12))
	var fewer, fewerTest mat.Dense // 300 random directions: more columns than features
	r := protocol.Stream(3, "directions")
	P := mat.NewDense(300, dim, nil)
	for i := range P.RawMatrix().Data {
		P.RawMatrix().Data[i] = linalg.Gaussian(r)
	}
	fewer.Mul(P, labelled)
	fewerTest.Mul(P, test)
	linalg.NormalizeColumns(&fewer)
	linalg.NormalizeColumns(&fewerTest)
	for _, c := range []struct {
		name          string
		A, Y          *mat.Dense
		log2          []int
		least, most   float64 // share of non-zeros
		worst         float64
		mustNotSearch bool
	}{
		{"raw samples", labelled, test, []int{-12, -7, -3}, 0.005, 0.95, 1e-10, true},
		{"learned atoms", atoms, test, []int{-12}, 0.9, 1, 1e-10, true},
		{"more samples than features", &fewer, &fewerTest, []int{-12, -7}, 0.05, 0.68, 1e-9, false},
	} {
		for _, e := range c.log2 {
			S, report := solve(t, c.A, c.Y, math.Ldexp(1, e))
			k, _ := S.Dims()
			t.Logf("%s, lambda 2^%d: %.1f of %d entries, gap %.1e, %d by line search", c.name, e, report.Support, k, report.WorstGap, report.Descended)
			if !(report.WorstGap <= c.worst) || report.Unconverged != 0 {
				t.Errorf("%s, lambda 2^%d: %+v", c.name, e, report)
			}
			if share := report.Support / float64(k); share < c.least || share > c.most {
				t.Errorf("%s, lambda 2^%d: %.3f of the entries are not zero, want %g to %g", c.name, e, share, c.least, c.most)
			}
			if c.mustNotSearch && report.Descended > 0 {
				t.Errorf("%s, lambda 2^%d: %d codes did not settle", c.name, e, report.Descended)
			}
		}
	}
}

func BenchmarkLasso(b *testing.B) {
	for _, c := range []struct {
		set     string
		atoms   int // 0: the labelled samples themselves
		log2    int
		samples int
	}{
		{"sports8", 0, -12, 480},
		{"sports8", 0, -7, 480},
		{"sports8", 0, -3, 480},
		{"sports8", 552, -12, 480},
		{"stanford40", 0, -10, 480},
		{"stanford40", 0, -7, 480},
		{"stanford40", 1334, -14, 480},
		{"stanford40", 3336, -14, 96}, // more atoms than features
	} {
		b.Run(fmt.Sprintf("%s/K=%d/lambda=2^%d", c.set, c.atoms, c.log2), func(b *testing.B) {
			A, train, test := features(b, c.set)
			dim, _ := test.Dims()
			test = test.Slice(0, dim, 0, c.samples).(*mat.Dense)
			if c.atoms > 0 {
				A = learned(train, c.atoms, 5, math.Ldexp(1, -12))
			}
			for b.Loop() {
				_, report := solve(b, A, test, math.Ldexp(1, c.log2))
				b.ReportMetric(report.Support, "nonzeros")
				b.ReportMetric(report.WorstGap, "gap")
			}
		})
	}
}

// BenchmarkNNLS codes all test samples over the labelled ones.
func BenchmarkNNLS(b *testing.B) {
	for _, set := range []string{"sports8", "stanford40"} {
		b.Run(set, func(b *testing.B) {
			A, _, test := features(b, set)
			G := linalg.Gram(A)
			var R mat.Dense
			R.Mul(A.T(), test)
			for b.Loop() {
				_, report, err := sparse.NNLS(context.Background(), G, &R)
				if err != nil {
					b.Fatal(err)
				}
				b.ReportMetric(report.Support, "nonzeros")
				b.ReportMetric(report.WorstResidual, "residual")
			}
		})
	}
}
