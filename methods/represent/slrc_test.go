package represent

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"ssdl/methods"
	"ssdl/methods/linalg"
)

// unequal draws classes of 1, 2, 5 and 9 samples and a class 4 without any, in shuffled order.
func unequal(seed uint64) (X *mat.Dense, labels []int, Y *mat.Dense) {
	r := rand.New(rand.NewPCG(seed, 43))
	labels = slices.Concat(slices.Repeat([]int{0}, 1), slices.Repeat([]int{1}, 2), slices.Repeat([]int{2}, 5), slices.Repeat([]int{3}, 9))
	r.Shuffle(len(labels), func(i, j int) { labels[i], labels[j] = labels[j], labels[i] })
	centres := gaussian(r, 12, 4)
	draw := func(labels []int) *mat.Dense {
		X := gaussian(r, 12, len(labels))
		for j, y := range labels {
			for i := range 12 {
				X.Set(i, j, 0.4*X.At(i, j)+centres.At(i, y))
			}
		}
		linalg.NormalizeColumns(X)
		return X
	}
	return draw(labels), labels, draw([]int{0, 1, 2, 3, 3, 2, 1, 0})
}

func TestSLRCDictionaryOfUnequalClasses(t *testing.T) {
	X, labels, _ := unequal(1)
	zero := len(labels) // a zero column of class 3 counts as no sample
	X = mat.DenseCopyOf(X.Grow(0, 1))
	X.SetCol(zero, make([]float64, 12))
	labels = append(labels, 3)
	for _, unit := range []bool{false, true} {
		D := fit(t, SLRC{Lambda: 1, Penalty: "l1", Mode: "paper", Unit: unit}, methods.Problem{X: X, Labels: labels, Classes: 5}).(*SLRCModel).Dictionary()
		want := mat.NewDense(12, 5+len(labels), nil)
		for k, size := range []float64{1, 2, 5, 9} {
			for i := range 12 {
				for j, y := range labels {
					if y == k {
						want.Set(i, k, want.At(i, k)+X.At(i, j)/size)
					}
				}
				for j, y := range labels {
					if y == k && j != zero {
						want.Set(i, 5+j, X.At(i, j)-want.At(i, k))
					}
				}
			}
		}
		if unit {
			for j := range 5 + len(labels) {
				c := mat.Col(nil, j, want)
				if norm := mat.Norm(mat.NewVecDense(12, c), 2); norm > 1e-9 {
					for i, v := range c {
						want.Set(i, j, v/norm)
					}
				}
			}
		}
		if !mat.EqualApprox(D, want, 1e-14) {
			t.Errorf("unit=%t: the dictionary is not the means and the deviations", unit)
		}
		for _, j := range []int{4, 5 + slices.Index(labels, 0), 5 + zero} {
			if c := mat.Col(nil, j, D); slices.ContainsFunc(c, func(v float64) bool { return v != 0 }) {
				t.Errorf("unit=%t: column %d is %v, want zeros", unit, j, c)
			}
		}
	}
}

// TestSLRCCodesAreOptimal, and its residuals those of the definition.
func TestSLRCCodesAreOptimal(t *testing.T) {
	X, labels, Y := unequal(2)
	_, m := Y.Dims()
	for _, setting := range []SLRC{
		{Lambda: 0.02, Penalty: "l1", Mode: "paper"},
		{Lambda: 0.02, Penalty: "l1", Mode: "paper", Unit: true},
		{Lambda: 0.05, Penalty: "l2", Mode: "paper"},
		{Lambda: 0.05, Penalty: "l2", Mode: "paper", Unit: true},
	} {
		model := fit(t, setting, methods.Problem{X: X, Labels: labels, Classes: 5}).(*SLRCModel)
		D := model.Dictionary()
		S, err := model.Codes(context.Background(), Y)
		if err != nil {
			t.Fatal(err)
		}
		var E, W mat.Dense
		E.Mul(D, S)
		E.Sub(Y, &E)
		W.Mul(D.T(), &E)
		for i := range 5 + len(labels) {
			for j := range m {
				s, w := S.At(i, j), W.At(i, j)
				switch {
				case setting.Penalty == "l2":
					w -= setting.Lambda * s
				case s != 0:
					w -= math.Copysign(setting.Lambda, s)
				default:
					w = max(math.Abs(w)-setting.Lambda, 0)
				}
				if !(math.Abs(w) <= 1e-11) {
					t.Fatalf("%+v: sample %d is off its minimum by %g at entry %d", setting, j, w, i)
				}
			}
		}
		Q, err := model.Residuals(context.Background(), Y)
		if err != nil {
			t.Fatal(err)
		}
		for k := range 5 {
			for j := range m {
				want := 0.0
				for i := range 12 {
					e := Y.At(i, j) - D.At(i, k)*S.At(k, j)
					for c := range labels {
						e -= D.At(i, 5+c) * S.At(5+c, j)
					}
					want += e * e
				}
				if k == 4 {
					want = math.Inf(1)
				}
				if got := Q.At(k, j); got != want && !(math.Abs(got-want) <= 1e-13) {
					t.Errorf("%+v: residual (%d, %d) is %g, want %g", setting, k, j, got, want)
				}
			}
		}
	}
}

// TestSLRCDoesNotDependOnTheOrderOfClasses: their names permute the predictions.
func TestSLRCDoesNotDependOnTheOrderOfClasses(t *testing.T) {
	X, labels, Y := unequal(3)
	perm := []int{3, 0, 4, 1, 2}
	renamed := make([]int, len(labels))
	for j, y := range labels {
		renamed[j] = perm[y]
	}
	for _, penalty := range []string{"l1", "l2"} {
		setting := SLRC{Lambda: 0.02, Penalty: penalty, Mode: "paper"}
		a := predict(t, fit(t, setting, methods.Problem{X: X, Labels: labels, Classes: 5}), Y)
		b := predict(t, fit(t, setting, methods.Problem{X: X, Labels: renamed, Classes: 5}), Y)
		for j := range a {
			if b[j] != perm[a[j]] {
				t.Errorf("%s: sample %d goes to class %d, and with other names to %d, want %d", penalty, j, a[j], b[j], perm[a[j]])
			}
		}
	}
}

// TestSLRCWithoutClassPart: above the largest correlation with a mean, the nearest mean decides.
func TestSLRCWithoutClassPart(t *testing.T) {
	X, labels, Y := unequal(4)
	zero := 0.0
	p := methods.Problem{X: X, Labels: labels, Classes: 5, Trace: func(name string, _ int, v float64) {
		if name == "zero codes" {
			zero = v
		}
	}}
	model := fit(t, SLRC{Lambda: 2, Penalty: "l1", Mode: "paper"}, p).(*SLRCModel)
	got := predict(t, model, Y)
	var R mat.Dense
	R.Mul(model.Dictionary().Slice(0, 12, 0, 4).T(), Y)
	if want := methods.Harden(&R); !slices.Equal(got, want) {
		t.Errorf("predictions are %v, want %v", got, want)
	}
	if zero != 8 {
		t.Errorf("%g zero codes traced, want 8", zero)
	}
}

// The early stop of the reference is that of sparse codes; the tags cannot say so.
func TestSLRCModeGoesWithItsPenalty(t *testing.T) {
	p := methods.Problem{X: mat.NewDense(2, 2, []float64{1, 0, 0, 1}), Labels: []int{0, 1}, Classes: 2}
	s := SLRC{Lambda: 1, Penalty: "l2", Mode: "reference"}
	if _, err := s.Fit(context.Background(), p); !errors.Is(err, methods.ErrInput) || !strings.Contains(err.Error(), "penalty l1") {
		t.Errorf("error %v, want one that wraps ErrInput and names the penalty", err)
	}
}
