//go:build !race

// Without the race detector, which takes memory of its own.

package catalog_test

import (
	"math/rand/v2"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"testing"
	"time"

	"gonum.org/v1/gonum/mat"

	"ssdl/methods"
	"ssdl/methods/catalog"
	"ssdl/methods/linalg"
)

// heap returns the bytes of all objects on the heap.
func heap() int64 {
	sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(sample)
	return int64(sample[0].Value.Uint64())
}

// peak returns how much the heap grows at most while f runs. It is collected all the time.
func peak(f func()) int64 {
	defer debug.SetGCPercent(debug.SetGCPercent(1))
	for range 3 { // what pools keep survives two
		runtime.GC()
	}
	start := heap()
	most := start
	stop, ended := make(chan bool), make(chan bool)
	go func() {
		defer close(ended)
		for {
			select {
			case <-stop:
				return
			default:
				most = max(most, heap())
				runtime.Gosched()
			}
		}
	}()
	f()
	close(stop)
	<-ended
	return most - start
}

// random is a problem of unit Gaussian columns, all labelled, and test samples.
func random(dim, n, m, classes int) (methods.Problem, *mat.Dense) {
	r := rand.New(rand.NewPCG(1, 1))
	draw := func(n int) *mat.Dense {
		X := mat.NewDense(dim, n, nil)
		raw := X.RawMatrix().Data
		for i := range raw {
			raw[i] = linalg.Gaussian(r)
		}
		linalg.NormalizeColumns(X)
		return X
	}
	p := methods.Problem{X: draw(n), Classes: classes, Rand: r}
	for j := range n {
		p.Labels = append(p.Labels, j%classes)
	}
	return p, draw(m)
}

// What a dictionary method says of its memory is true within a factor of two, with many atoms and
// with many samples.
func TestBytesOfDictionaries(t *testing.T) {
	if testing.Short() {
		t.Skip("fits large dictionaries")
	}
	for _, s := range []struct {
		name                  string
		dim, n, m, classes, k int
		atoms                 int
	}{
		{"many atoms", 300, 400, 100, 4, 1200, 300},
		{"many samples", 200, 2000, 300, 4, 160, 40},
		{"many features", 1500, 300, 100, 4, 600, 150},
	} {
		for name, params := range dictionaries(t) {
			t.Run(s.name+"/"+name, func(t *testing.T) {
				e, err := catalog.Lookup(name)
				if err != nil {
					t.Fatal(err)
				}
				values := catalog.Values{"iterations": 2}
				for _, p := range params {
					values[p] = s.k
					if p == "atoms" {
						values[p] = s.atoms
					}
				}
				for p, v := range map[string]any{"first_iterations": 2, "init_iterations": 2, "alpha": 0.1, "test_lambda": 0.1} {
					for _, q := range e.Params() {
						if q.Name == p {
							values[p] = v
						}
					}
				}
				l, err := e.Learner(values)
				if err != nil {
					t.Fatal(err)
				}
				sizer, ok := l.(methods.Sizer)
				if !ok {
					t.Fatal("it says nothing of its memory")
				}
				p, test := random(s.dim, s.n, s.m, s.classes)
				F := methods.OneHot(p.Labels, p.Classes, 0)
				start := time.Now()
				used := peak(func() {
					model, err := l.FitTargets(t.Context(), p, F)
					if err != nil {
						t.Error(err)
						return
					}
					if _, err = model.Predict(t.Context(), test); err != nil {
						t.Error(err)
					}
				})
				says := sizer.Bytes(s.dim, s.n, s.m, s.classes)
				ratio := float64(says) / float64(used)
				t.Logf("uses %.1f MB, says %.1f MB, ratio %.2f (%v)", float64(used)/1e6, float64(says)/1e6, ratio, time.Since(start))
				if ratio < 0.5 || ratio > 2 {
					t.Errorf("says %d bytes and uses %d", says, used)
				}
			})
		}
	}
}
