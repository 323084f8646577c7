package progress

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"ssdl/harness/job"
	"ssdl/harness/spec"
	"ssdl/harness/store"
)

func forecastJob(dataset, method string, seed uint64, params map[string]any) spec.Job {
	return spec.Job{Dataset: dataset, Job: job.Job{DatasetHash: dataset, Method: job.Part{Name: method, Params: params}, Seed: seed, Eval: job.EvalVal}}
}

// The most similar runs decide: of the same setting, or else the same sizes, or else the same method. Measured times
// go before recorded ones, which are scaled.
func TestForecast(t *testing.T) {
	f := NewForecast()
	at := func(k int, alpha float64) spec.Job {
		return forecastJob("a", "ssdl", 1000, map[string]any{"K": k, "alpha": alpha})
	}
	want := func(j spec.Job, seconds float64) {
		t.Helper()
		if is, ok := f.of(kindOf(j.Job)); !ok || is != seconds {
			t.Errorf("%v %v: %v s (%v), want %v", j.Dataset, j.Method, is, ok, seconds)
		}
	}
	if _, ok := f.of(kindOf(at(1, 0.1).Job)); ok {
		t.Error("something is known without a run")
	}
	f.RecallMeans(map[store.Computation]time.Duration{{Dataset: "a", Method: "ssdl"}: 8 * time.Second, {Dataset: "b", Method: "crc"}: time.Second})
	want(at(1, 0.1), 8)
	f.Measure(at(1, 0.1).Job, 4*time.Second)
	want(at(1, 0.1), 4)                           // measured
	want(at(1, 0.2), 4)                           // of the same sizes
	want(at(2, 0.2), 4)                           // of the same method
	want(forecastJob("b", "crc", 1000, nil), 0.5) // recorded, on a machine half as fast
	f.Measure(at(1, 0.2).Job, 6*time.Second)
	f.Measure(at(2, 0.2).Job, 20*time.Second)
	want(at(1, 0.1), 4)
	want(at(1, 0.3), 5)
	want(at(2, 0.3), 20)
	want(at(3, 0.3), 10)
	if s, ok := f.sum(map[kind]int{kindOf(at(1, 0.1).Job): 2, kindOf(forecastJob("c", "src", 1, nil).Job): 1}); !ok || s != 12 {
		t.Errorf("two known and an unknown one: %v (%v), want 12", s, ok)
	}
}

// Recorded means serve jobs on other data too, and jobs of unknown methods take the mean of the others.
func TestEach(t *testing.T) {
	f := NewForecast()
	jobs := []job.Job{
		forecastJob("d1", "crc", 1, nil).Job, forecastJob("d2", "crc", 1, nil).Job, forecastJob("d0", "ssdl", 1, nil).Job,
	}
	if _, ok := f.Each(jobs); ok {
		t.Error("something is known without a run")
	}
	f.RecallMeans(map[store.Computation]time.Duration{
		{Dataset: "d0", Method: "crc"}: time.Second, {Dataset: "d1", Method: "crc"}: 3 * time.Second, {Dataset: "d0", Method: "src"}: 8 * time.Second,
	})
	if seconds, ok := f.Each(jobs); !ok || !slices.Equal(seconds, []float64{3, 2, 2.5}) {
		t.Errorf("%v (%v), want 3, 2 and 2.5 s", seconds, ok)
	}
}

// The mean over data sets has the same bits at every call, so that shards are cut alike.
func TestRecalledMeansHaveOneOrder(t *testing.T) {
	recorded := map[store.Computation]time.Duration{}
	for i := range 40 {
		recorded[store.Computation{Dataset: fmt.Sprint("d", i), Method: "crc"}] = time.Duration(1e8 * (1 + float64(i)/7))
	}
	elsewhere := []job.Job{forecastJob("other", "crc", 1, nil).Job}
	want := 0.0
	for i := range 50 {
		f := NewForecast()
		f.RecallMeans(recorded)
		seconds, _ := f.Each(elsewhere)
		if i == 0 {
			want = seconds[0]
		}
		if seconds[0] != want {
			t.Fatalf("%v s at call %d, %v at the first", seconds[0], i+1, want)
		}
	}
}

// After a tenth of the runs, with nothing recorded before, the time left is known within a factor of two.
func TestTimeLeft(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	var todo []spec.Job
	cost := map[string]float64{}
	for m := range 12 { // as in a table: the cheap rows come first, and each has sizes that cost more
		for size := range 1 + m%3 {
			for alpha := range 6 {
				for seed := range 8 {
					j := forecastJob("a", fmt.Sprint("m", m), uint64(seed), map[string]any{"K": size, "alpha": float64(alpha)})
					todo = append(todo, j)
					cost[j.Key()] = 0.02 * float64(int(1)<<m) * float64(1+size) * (0.6 + 0.8*r.Float64())
				}
			}
		}
	}
	now := time.Unix(0, 0)
	var said bytes.Buffer
	p := New(&said, false)
	p.now = func() time.Time { return now }
	todo = KindsFirst(todo, func(j spec.Job) job.Job { return j.Job })
	p.Begin(todo, nil, NewForecast(), 1)
	rest := 0.0
	for _, c := range cost {
		rest += c
	}
	for i, j := range todo {
		if left, ok := p.left(); 10*i >= len(todo) && i < len(todo)-1 {
			if is := left.Seconds(); !ok || is > 2*rest || is < rest/2 {
				t.Fatalf("after %d of %d runs: %.1f s left, it will be %.1f", i, len(todo), is, rest)
			}
		}
		p.Started(j)
		wall := cost[j.Key()]
		now = now.Add(time.Duration(wall * float64(time.Second)))
		p.Done(j, store.Run{Status: store.StatusOK, Wall: time.Duration(wall * float64(time.Second))}, "accuracy")
		rest -= wall
	}
	p.End()
	if left, ok := p.left(); !ok || left != 0 {
		t.Errorf("at the end %v is left (%v)", left, ok)
	}
	if !strings.Contains(said.String(), "  about ") {
		t.Errorf("no line says how much time is left: %s", said.String())
	}
}

// Lines say what runs now.
func TestProgressSaysWhatRuns(t *testing.T) {
	var said bytes.Buffer
	p := New(&said, false)
	a, b := forecastJob("a", "ssdl", 1000, nil), forecastJob("a", "crc", 1001, nil)
	p.Begin([]spec.Job{a, b}, nil, NewForecast(), 2)
	defer p.End()
	p.Started(a)
	p.Started(b)
	if is, want := p.state(), "  now ssdl on a, seed 1000 (tuning) and 1 more"; is != want {
		t.Errorf("%q, want %q", is, want)
	}
	p.now = func() time.Time { return time.Now().Add(30 * time.Second) }
	p.Done(a, store.Run{Status: store.StatusOK, Wall: 90 * time.Second}, "accuracy")
	if is, want := p.state(), "  about 60 s left  now crc on a, seed 1001 (tuning)"; is != want {
		t.Errorf("%q, want %q", is, want)
	}
	for d, want := range map[time.Duration]string{0: "0 s", 99 * time.Second: "99 s", 101 * time.Second: "2 min", 3 * time.Hour: "3 h", 200 * time.Hour: "8 days"} {
		if is := roughly(d); is != want {
			t.Errorf("%v is %q, want %q", d, is, want)
		}
	}
}

// The bar draws itself while jobs end: neither waits for the other for ever. In a second it is drawn several times.
func TestBarWhileJobsEnd(t *testing.T) {
	const at = 4
	p := New(io.Discard, true)
	var todo []spec.Job
	for i := range 300_000 {
		todo = append(todo, spec.Job{Job: job.Job{Seed: uint64(i % at)}})
	}
	p.Begin(todo, nil, NewForecast(), at)
	ended := make(chan struct{})
	go func() {
		var g sync.WaitGroup
		for k := range at {
			g.Go(func() {
				for begun := time.Now(); time.Since(begun) < time.Second; {
					j := todo[k]
					p.Started(j)
					p.Wait(j, "another process")
					p.Done(j, store.Run{Status: store.StatusOK, Wall: time.Second}, "accuracy")
				}
			})
		}
		g.Wait()
		p.End()
		close(ended)
	}()
	select {
	case <-ended:
	case <-time.After(30 * time.Second):
		t.Fatal("jobs and bar wait for each other")
	}
}
