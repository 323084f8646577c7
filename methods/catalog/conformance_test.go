package catalog_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"gonum.org/v1/gonum/mat"

	"ssdl/methods"
	"ssdl/methods/catalog"
	"ssdl/methods/linalg"
)

// subject is anything of the catalog in the shape of a Method: a method, a learner on
// the labelled columns, a pretext read by its scores, a pretext followed by a learner.
type subject struct {
	name           string
	method         methods.Method
	orderDependent string
	// parts are the method, or the pretext and the learner, themselves.
	parts []any
}

// subjects lists every entry, and every learner behind every pretext.
func subjects(t *testing.T) []subject {
	t.Helper()
	var out []subject
	for _, e := range catalog.All() {
		reason := ""
		if o, ok := e.Proto.(methods.OrderDependent); ok {
			reason = o.OrderDependent()
		}
		if e.IsPretext() {
			p, err := e.Pretext(nil)
			if err != nil {
				t.Fatal(err)
			}
			out = append(out, subject{e.Name, scored{p}, reason, []any{p}})
			continue
		}
		m, err := e.Method(nil)
		if err != nil {
			t.Fatal(err)
		}
		if !e.IsLearner() {
			out = append(out, subject{e.Name, m, reason, []any{m}})
			continue
		}
		l, err := e.Learner(nil)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, subject{e.Name, m, reason, []any{l}})
		for _, q := range catalog.All() {
			if !q.IsPretext() {
				continue
			}
			p, err := q.Pretext(nil)
			if err != nil {
				t.Fatal(err)
			}
			out = append(out, subject{q.Name + "+" + e.Name, composed{p, l}, reason, []any{p, l}})
		}
	}
	return out
}

// scored reads the scores of a pretext as predictions.
type scored struct{ methods.Pretext }

type scoreModel struct{ methods.Pseudo }

func (s scored) Fit(ctx context.Context, p methods.Problem) (methods.Model, error) {
	pseudo, err := s.PseudoLabels(ctx, p)
	return scoreModel{pseudo}, err
}

func (m scoreModel) Predict(ctx context.Context, X *mat.Dense) ([]int, error) {
	scores, err := m.Score(ctx, X)
	if err != nil {
		return nil, err
	}
	return methods.Harden(scores), nil
}

type composed struct {
	methods.Pretext
	methods.Learner
}

func (c composed) Fit(ctx context.Context, p methods.Problem) (methods.Model, error) {
	pseudo, err := c.PseudoLabels(ctx, p)
	if err != nil {
		return nil, err
	}
	return c.FitTargets(ctx, p, pseudo.F)
}

// world is a small classification problem: classes that overlap a little, of unequal
// size, with non-negative features as behind a ReLU.
type world struct {
	X      *mat.Dense
	labels []int // -1 where hidden
	C      int
	test   *mat.Dense
	truth  []int
}

func makeWorld(seed uint64, dim int, sizes []int, rate float64) world {
	r := rand.New(rand.NewPCG(seed, 1))
	means := mat.NewDense(dim, len(sizes), nil)
	for i := range dim {
		for c := range sizes {
			means.Set(i, c, math.Abs(linalg.Gaussian(r)))
		}
	}
	draw := func(n func(int) int) (*mat.Dense, []int) {
		var cols []float64
		var y []int
		for c, size := range sizes {
			for range n(size) {
				for i := range dim {
					cols = append(cols, math.Max(0, means.At(i, c)+0.35*linalg.Gaussian(r)))
				}
				y = append(y, c)
			}
		}
		if len(y) == 0 {
			return &mat.Dense{}, nil
		}
		X := mat.DenseCopyOf(mat.NewDense(len(y), dim, cols).T())
		perm := r.Perm(len(y))
		yy := make([]int, len(y))
		for i, j := range perm {
			yy[i] = y[j]
		}
		X = methods.Columns(X, perm)
		linalg.NormalizeColumns(X)
		return X, yy
	}
	w := world{C: len(sizes)}
	w.X, w.labels = draw(func(n int) int { return n })
	w.test, w.truth = draw(func(n int) int { return n/2 + 1 })
	seen := make([]int, len(sizes))
	for j, y := range w.labels {
		seen[y]++
		if float64(seen[y]) > math.Ceil(rate*float64(sizes[y])) {
			w.labels[j] = methods.Unlabeled
		}
	}
	return w
}

func (w world) problem() methods.Problem {
	return methods.Problem{X: w.X, Labels: w.labels, Classes: w.C, Rand: rand.New(rand.NewPCG(7, 7))}
}

func fitPredict(t *testing.T, m methods.Method, p methods.Problem, X *mat.Dense) []int {
	t.Helper()
	model, err := m.Fit(t.Context(), p)
	if err != nil {
		t.Fatalf("fit: %v", err)
	}
	y, err := model.Predict(t.Context(), X)
	if err != nil {
		t.Fatalf("predict: %v", err)
	}
	_, n := X.Dims()
	if len(y) != n {
		t.Fatalf("%d predictions for %d samples", len(y), n)
	}
	for j, c := range y {
		if c < 0 || c >= p.Classes {
			t.Fatalf("sample %d is predicted as class %d of %d", j, c, p.Classes)
		}
	}
	return y
}

func agreement(a, b []int) float64 {
	same := 0
	for i := range a {
		if a[i] == b[i] {
			same++
		}
	}
	return float64(same) / float64(len(a))
}

func TestConformance(t *testing.T) {
	checks := []struct {
		name string
		run  func(*testing.T, subject)
	}{
		{"learns", learns},
		{"input unmodified", inputUnmodified},
		{"same bits for any worker count", sameBits},
		{"same with a stage cache", sameWithShare},
		{"stages are listed", stagesListed},
		{"class relabelling", classRelabelling},
		{"test order", testOrder},
		{"training order", trainingOrder},
		{"zero columns", zeroColumns},
		{"duplicated columns", duplicatedColumns},
		{"empty class", emptyClass},
		{"one labelled sample per class", oneLabelled},
		{"all labelled", allLabelled},
		{"two classes", twoClasses},
		{"one class", oneClass},
		{"fewer features than samples and more", shapes},
		{"NaN is rejected by name", nanRejected},
		{"wrong dimensions are rejected", wrongDims},
		{"no labels at all are rejected", noLabels},
		{"a cancelled context stops it", cancelled},
	}
	for _, s := range subjects(t) {
		t.Run(s.name, func(t *testing.T) {
			for _, c := range checks {
				t.Run(c.name, func(t *testing.T) { c.run(t, s) })
			}
		})
	}
}

func learns(t *testing.T, s subject) {
	w := makeWorld(1, 30, []int{20, 16, 12}, 0.5)
	y := fitPredict(t, s.method, w.problem(), w.test)
	if acc := agreement(y, w.truth); acc < 0.8 {
		t.Fatalf("accuracy %.2f on an easy problem", acc)
	}
}

func inputUnmodified(t *testing.T, s subject) {
	w := makeWorld(2, 12, []int{9, 7, 6}, 0.5)
	X, test, labels := mat.DenseCopyOf(w.X), mat.DenseCopyOf(w.test), slices.Clone(w.labels)
	fitPredict(t, s.method, w.problem(), w.test)
	if !mat.Equal(X, w.X) || !slices.Equal(labels, w.labels) || !mat.Equal(test, w.test) {
		t.Fatal("the method changed its input")
	}
}

// sameBits compares predictions and every traced value, bit for bit.
func sameBits(t *testing.T, s subject) {
	w := makeWorld(3, 40, []int{30, 24, 20}, 0.4)
	run := func(workers int) ([]int, []string) {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(workers))
		var trace []string
		p := w.problem()
		p.Trace = func(name string, it int, v float64) {
			trace = append(trace, fmt.Sprintf("%s[%d] = %x", name, it, math.Float64bits(v)))
		}
		return fitPredict(t, s.method, p, w.test), trace
	}
	y, trace := run(1)
	for _, workers := range []int{2, 8} {
		y2, trace2 := run(workers)
		if !slices.Equal(y, y2) {
			t.Fatalf("predictions differ between 1 and %d workers", workers)
		}
		if !slices.Equal(trace, trace2) {
			t.Fatalf("traces differ between 1 and %d workers:\n%v\n%v", workers, trace, trace2)
		}
	}
}

func sameWithShare(t *testing.T, s subject) {
	w := makeWorld(4, 12, []int{9, 7, 6}, 0.5)
	want := fitPredict(t, s.method, w.problem(), w.test)
	kept := map[string]any{}
	p := w.problem()
	p.Share = func(_ context.Context, key string, build func() (any, int64, error)) (any, error) {
		if v, ok := kept[key]; ok {
			return v, nil
		}
		v, bytes, err := build()
		if err == nil && bytes <= 0 {
			t.Errorf("stage %q says it holds %d bytes", key, bytes)
		}
		kept[key] = v
		return v, err
	}
	for range 2 { // the second time every stage is kept
		p.Rand = rand.New(rand.NewPCG(7, 7))
		if y := fitPredict(t, s.method, p, w.test); !slices.Equal(y, want) {
			t.Fatal("predictions change with the stage cache")
		}
	}
}

// stagesListed compares the keys a method shares with those it says it does, with fewer
// and with more features than labelled samples.
func stagesListed(t *testing.T, s subject) {
	for _, dim := range []int{5, 40} {
		w := makeWorld(4, dim, []int{9, 7, 6}, 0.5)
		asked := map[string]bool{}
		p := w.problem()
		p.Share = func(_ context.Context, key string, build func() (any, int64, error)) (any, error) {
			asked[key] = true
			v, _, err := build()
			return v, err
		}
		fitPredict(t, s.method, p, w.test)
		n := 0
		for _, y := range w.labels {
			if y != methods.Unlabeled {
				n++
			}
		}
		listed := map[string]bool{}
		for _, part := range s.parts {
			if staged, ok := part.(methods.Staged); ok {
				for _, key := range staged.Stages(dim, n) {
					listed[key] = true
				}
			}
		}
		if !maps.Equal(asked, listed) {
			t.Fatalf("%d features, %d labelled: shares %v, lists %v", dim, n, asked, listed)
		}
	}
}

func classRelabelling(t *testing.T, s subject) {
	w := makeWorld(5, 20, []int{12, 12, 12}, 0.5)
	want := fitPredict(t, s.method, w.problem(), w.test)
	pi := []int{2, 0, 1}
	p := w.problem()
	p.Labels = slices.Clone(p.Labels)
	for j, y := range p.Labels {
		if y != methods.Unlabeled {
			p.Labels[j] = pi[y]
		}
	}
	got := fitPredict(t, s.method, p, w.test)
	for j := range want {
		want[j] = pi[want[j]]
	}
	if s.orderDependent != "" {
		// Class order is part of such a start: the outcome may move, but not much.
		if a := agreement(got, want); a < 0.85 {
			t.Fatalf("only %.0f %% agree after relabelling the classes", 100*a)
		}
		return
	}
	if !slices.Equal(got, want) {
		t.Fatalf("relabelled classes: got %v, want %v", got, want)
	}
}

func permuted(n int) []int { return rand.New(rand.NewPCG(9, 9)).Perm(n) }

func testOrder(t *testing.T, s subject) {
	w := makeWorld(6, 12, []int{9, 7, 6}, 0.5)
	want := fitPredict(t, s.method, w.problem(), w.test)
	perm := permuted(len(want))
	got := fitPredict(t, s.method, w.problem(), methods.Columns(w.test, perm))
	for i, j := range perm {
		if got[i] != want[j] {
			t.Fatalf("sample %d is class %d, and class %d when it comes as number %d", j, want[j], got[i], i)
		}
	}
}

func trainingOrder(t *testing.T, s subject) {
	if s.orderDependent != "" {
		t.Skipf("depends on the order by design: %s", s.orderDependent)
	}
	w := makeWorld(7, 30, []int{20, 16, 12}, 0.5)
	want := fitPredict(t, s.method, w.problem(), w.test)
	perm := permuted(len(w.labels))
	p := w.problem()
	p.X = methods.Columns(w.X, perm)
	p.Labels = make([]int, len(perm))
	for i, j := range perm {
		p.Labels[i] = w.labels[j]
	}
	if got := fitPredict(t, s.method, p, w.test); !slices.Equal(got, want) {
		t.Fatalf("reordered training samples: got %v, want %v", got, want)
	}
}

func zeroColumns(t *testing.T, s subject) {
	w := makeWorld(8, 12, []int{9, 7, 6}, 0.5)
	for _, j := range []int{0, 5, 11} { // labelled and unlabelled ones
		for i := range 12 {
			w.X.Set(i, j, 0)
		}
	}
	for i := range 12 {
		w.test.Set(i, 2, 0)
	}
	fitPredict(t, s.method, w.problem(), w.test)
}

func duplicatedColumns(t *testing.T, s subject) {
	w := makeWorld(9, 12, []int{9, 7, 6}, 0.6)
	for i := range 12 {
		w.X.Set(i, 3, w.X.At(i, 1))
		w.X.Set(i, 4, w.X.At(i, 1))
		w.test.Set(i, 0, w.X.At(i, 1))
	}
	fitPredict(t, s.method, w.problem(), w.test)
}

func emptyClass(t *testing.T, s subject) {
	w := makeWorld(10, 12, []int{9, 7, 6}, 0.5)
	p := w.problem()
	p.Classes = 5 // classes 3 and 4 have no sample
	for j, y := range fitPredict(t, s.method, p, w.test) {
		if y > 2 {
			t.Fatalf("test sample %d is predicted as class %d, which has no sample", j, y)
		}
	}
}

func oneLabelled(t *testing.T, s subject) {
	w := makeWorld(11, 12, []int{9, 7, 6}, 0.01)
	fitPredict(t, s.method, w.problem(), w.test)
}

func allLabelled(t *testing.T, s subject) {
	w := makeWorld(12, 12, []int{9, 7, 6}, 1)
	fitPredict(t, s.method, w.problem(), w.test)
}

func twoClasses(t *testing.T, s subject) {
	w := makeWorld(13, 12, []int{11, 8}, 0.5)
	fitPredict(t, s.method, w.problem(), w.test)
}

func oneClass(t *testing.T, s subject) {
	w := makeWorld(14, 12, []int{11}, 0.5)
	for j, y := range fitPredict(t, s.method, w.problem(), w.test) {
		if y != 0 {
			t.Fatalf("test sample %d is class %d of one", j, y)
		}
	}
}

func shapes(t *testing.T, s subject) {
	for _, dim := range []int{3, 150} {
		w := makeWorld(15, dim, []int{9, 7, 6}, 0.5)
		fitPredict(t, s.method, w.problem(), w.test)
	}
}

func wantInputError(t *testing.T, s subject, err error, words ...string) {
	t.Helper()
	if !errors.Is(err, methods.ErrInput) {
		t.Fatalf("got error %v, want one that wraps ErrInput", err)
	}
	name, _, _ := strings.Cut(s.name, "+") // a composition fails in its pretext
	for _, word := range append(words, name) {
		if !strings.Contains(strings.ToLower(err.Error()), word) {
			t.Fatalf("error %q does not say %q", err, word)
		}
	}
}

func nanRejected(t *testing.T, s subject) {
	w := makeWorld(16, 12, []int{9, 7, 6}, 1)
	w.X.Set(4, 7, math.NaN())
	_, err := s.method.Fit(t.Context(), w.problem())
	wantInputError(t, s, err, "nan", "row 4", "column 7")

	w = makeWorld(16, 12, []int{9, 7, 6}, 0.5)
	model, err := s.method.Fit(t.Context(), w.problem())
	if err != nil {
		t.Fatal(err)
	}
	w.test.Set(1, 2, math.Inf(1))
	if _, err = model.Predict(t.Context(), w.test); !errors.Is(err, methods.ErrInput) {
		t.Fatalf("an infinite test value gave error %v", err)
	}
}

func wrongDims(t *testing.T, s subject) {
	w := makeWorld(17, 12, []int{9, 7, 6}, 0.5)
	model, err := s.method.Fit(t.Context(), w.problem())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := model.Predict(t.Context(), mat.NewDense(5, 2, nil)); !errors.Is(err, methods.ErrInput) {
		t.Fatalf("test samples of another dimension gave error %v", err)
	}
	p := w.problem()
	p.Labels = p.Labels[1:]
	_, err = s.method.Fit(t.Context(), p)
	wantInputError(t, s, err, "labels")
}

func noLabels(t *testing.T, s subject) {
	w := makeWorld(18, 12, []int{9, 7, 6}, 0.5)
	for j := range w.labels {
		w.labels[j] = methods.Unlabeled
	}
	_, err := s.method.Fit(t.Context(), w.problem())
	wantInputError(t, s, err, "labelled")
}

// cancelled asks twice: before the start, and in the middle of a fit that takes long.
func cancelled(t *testing.T, s subject) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	w := makeWorld(19, 12, []int{9, 7, 6}, 0.5)
	if model, err := s.method.Fit(ctx, w.problem()); err == nil {
		if _, err = model.Predict(ctx, w.test); !errors.Is(err, context.Canceled) {
			t.Fatalf("a cancelled fit and prediction gave error %v", err)
		}
	} else if !errors.Is(err, context.Canceled) {
		t.Fatalf("a cancelled fit gave error %v", err)
	}

	if testing.Short() {
		t.Skip("the long half is left out with -short")
	}
	w = makeWorld(20, 400, []int{250, 250, 250}, 0.6)
	ctx, cancel = context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() {
		model, err := s.method.Fit(ctx, w.problem())
		if err == nil {
			_, err = model.Predict(ctx, w.test)
		}
		done <- err
	}()
	time.Sleep(150 * time.Millisecond)
	cancel()
	start := time.Now()
	select {
	case err := <-done:
		if err != nil && !errors.Is(err, context.Canceled) {
			t.Fatalf("cancelled in the middle: %v", err)
		}
		if d := time.Since(start); d > time.Second {
			t.Fatalf("took %v to stop", d)
		}
	case <-time.After(10 * time.Second):
		t.Fatal("did not stop within ten seconds")
	}
}
