package run

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
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
		if is, ok := f.of(kindOf(j)); !ok || is != seconds {
			t.Errorf("%v %v: %v s (%v), want %v", j.Dataset, j.Method, is, ok, seconds)
		}
	}
	if _, ok := f.of(kindOf(at(1, 0.1))); ok {
		t.Error("something is known without a run")
	}
	f.RecallMeans(map[store.Computation]time.Duration{{Dataset: "a", Method: "ssdl"}: 8 * time.Second, {Dataset: "b", Method: "crc"}: time.Second})
	want(at(1, 0.1), 8)
	f.Measure(at(1, 0.1), 4*time.Second)
	want(at(1, 0.1), 4)                           // measured
	want(at(1, 0.2), 4)                           // of the same sizes
	want(at(2, 0.2), 4)                           // of the same method
	want(forecastJob("b", "crc", 1000, nil), 0.5) // recorded, on a machine half as fast
	f.Measure(at(1, 0.2), 6*time.Second)
	f.Measure(at(2, 0.2), 20*time.Second)
	want(at(1, 0.1), 4)
	want(at(1, 0.3), 5)
	want(at(2, 0.3), 20)
	want(at(3, 0.3), 10)
	if s, ok := f.sum(map[kind]int{kindOf(at(1, 0.1)): 2, kindOf(forecastJob("c", "src", 1, nil)): 1}); !ok || s != 12 {
		t.Errorf("two known and an unknown one: %v (%v), want 12", s, ok)
	}
}

// After a tenth of the runs, with nothing recorded before, the time left is known within a factor of two.
func TestTimeLeft(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	var todo []*Task
	cost := map[string]float64{}
	for m := range 12 { // as in a table: the cheap rows come first, and each has sizes that cost more
		for size := range 1 + m%3 {
			for alpha := range 6 {
				for seed := range 8 {
					j := forecastJob("a", fmt.Sprint("m", m), uint64(seed), map[string]any{"K": size, "alpha": float64(alpha)})
					todo = append(todo, &Task{Job: j, Key: j.Key()})
					cost[j.Key()] = 0.02 * float64(int(1)<<m) * float64(1+size) * (0.6 + 0.8*r.Float64())
				}
			}
		}
	}
	now := time.Unix(0, 0)
	var said bytes.Buffer
	p := NewProgress(&said, false)
	p.now = func() time.Time { return now }
	todo = inOrder(todo)
	p.begin(todo, nil, NewForecast(), 1)
	rest := 0.0
	for _, c := range cost {
		rest += c
	}
	for i, task := range todo {
		if left, ok := p.left(); 10*i >= len(todo) && i < len(todo)-1 {
			if is := left.Seconds(); !ok || is > 2*rest || is < rest/2 {
				t.Fatalf("after %d of %d runs: %.1f s left, it will be %.1f", i, len(todo), is, rest)
			}
		}
		p.started(task.Job)
		wall := cost[task.Key]
		now = now.Add(time.Duration(wall * float64(time.Second)))
		p.done(task.Job, store.Run{Status: store.StatusOK, Wall: time.Duration(wall * float64(time.Second))}, "accuracy")
		rest -= wall
	}
	p.end()
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
	p := NewProgress(&said, false)
	a, b := forecastJob("a", "ssdl", 1000, nil), forecastJob("a", "crc", 1001, nil)
	p.begin([]*Task{{Job: a}, {Job: b}}, nil, NewForecast(), 2)
	defer p.end()
	p.started(a)
	p.started(b)
	if is, want := p.state(), "  now ssdl on a, seed 1000 (tuning) and 1 more"; is != want {
		t.Errorf("%q, want %q", is, want)
	}
	p.now = func() time.Time { return time.Now().Add(30 * time.Second) }
	p.done(a, store.Run{Status: store.StatusOK, Wall: 90 * time.Second}, "accuracy")
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
	p := NewProgress(io.Discard, true)
	var todo []*Task
	for i := range 300_000 {
		todo = append(todo, &Task{Job: spec.Job{Job: job.Job{Seed: uint64(i % at)}}})
	}
	p.begin(todo, nil, NewForecast(), at)
	ended := make(chan struct{})
	go func() {
		var g sync.WaitGroup
		for k := range at {
			g.Go(func() {
				for begun := time.Now(); time.Since(begun) < time.Second; {
					j := todo[k].Job
					p.started(j)
					p.waits(j, "another process")
					p.done(j, store.Run{Status: store.StatusOK, Wall: time.Second}, "accuracy")
				}
			})
		}
		g.Wait()
		p.end()
		close(ended)
	}()
	select {
	case <-ended:
	case <-time.After(30 * time.Second):
		t.Fatal("jobs and bar wait for each other")
	}
}
