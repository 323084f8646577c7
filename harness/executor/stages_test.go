package executor

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

func TestStagesBuildOnceForManyRuns(t *testing.T) {
	s := NewStages(1 << 20)
	share := s.For("d/s")
	var builds atomic.Int32
	var wg sync.WaitGroup
	for range 32 {
		wg.Go(func() {
			v, err := share(t.Context(), "gram", func() (any, int64, error) {
				builds.Add(1)
				time.Sleep(5 * time.Millisecond)
				return 42, 8, nil
			})
			if err != nil || v != 42 {
				t.Errorf("got %v, %v", v, err)
			}
		})
	}
	wg.Wait()
	if n := builds.Load(); n != 1 {
		t.Fatalf("built %d times", n)
	}
	if built, _ := s.Counts(); built != 1 {
		t.Fatalf("counted %d builds", built)
	}
}

func TestStagesScopesAreApart(t *testing.T) {
	s := NewStages(1 << 20)
	for i, scope := range []string{"d1/s", "d2/s"} {
		v, err := s.For(scope)(t.Context(), "gram", func() (any, int64, error) { return i, 8, nil })
		if err != nil || v != i {
			t.Fatalf("scope %s: got %v, %v", scope, v, err)
		}
	}
}

func TestStagesStayWithinTheirBytes(t *testing.T) {
	s := NewStages(100)
	share := s.For("x")
	get := func(key string, bytes int64) {
		if _, err := share(t.Context(), key, func() (any, int64, error) { return key, bytes, nil }); err != nil {
			t.Fatal(err)
		}
	}
	get("a", 60)
	get("b", 30)
	get("a", 60)  // a is now the more recent
	get("c", 40)  // b goes
	get("d", 400) // never kept
	if s.held != 100 {
		t.Fatalf("holds %d bytes, want 100", s.held)
	}
	built, _ := s.Counts()
	get("a", 60)
	if now, _ := s.Counts(); now != built {
		t.Fatal("the most recently used stage was dropped")
	}
	get("b", 30)
	if now, _ := s.Counts(); now != built+1 {
		t.Fatal("the dropped stage was not built again")
	}
}

func TestStagesErrors(t *testing.T) {
	s := NewStages(100)
	share := s.For("x")
	boom := errors.New("boom")
	if _, err := share(t.Context(), "k", func() (any, int64, error) { return nil, 0, boom }); !errors.Is(err, boom) {
		t.Fatalf("got %v", err)
	}
	var p *PanicError
	if _, err := share(t.Context(), "k", func() (any, int64, error) { panic("index 7") }); !errors.As(err, &p) {
		t.Fatalf("a panic came back as %v", err)
	}
	if v, err := share(t.Context(), "k", func() (any, int64, error) { return 1, 1, nil }); err != nil || v != 1 {
		t.Fatalf("a failed stage was kept: %v, %v", v, err)
	}
}

// A run that is cancelled while it builds a stage must not fail the runs that wait for it.
func TestStagesSurviveAnotherRunsCancellation(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		share := NewStages(100).For("x")
		ctx, cancel := context.WithCancel(t.Context())
		var wg sync.WaitGroup
		wg.Go(func() {
			_, err := share(ctx, "k", func() (any, int64, error) {
				<-ctx.Done()
				return nil, 0, ctx.Err()
			})
			if !errors.Is(err, context.Canceled) {
				t.Errorf("the cancelled run got %v", err)
			}
		})
		synctest.Wait() // it builds
		wg.Go(func() {
			v, err := share(t.Context(), "k", func() (any, int64, error) { return 7, 8, nil })
			if err != nil || v != 7 {
				t.Errorf("the waiting run got %v, %v", v, err)
			}
		})
		synctest.Wait() // it waits
		cancel()
		wg.Wait()
	})
}

// A run that waits for a stage keeps its own time limit; the run that builds the stage goes on for the
// others.
func TestStagesWaitNoLongerThanTheirRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		share := NewStages(100).For("x")
		get := func(limit time.Duration, want error) {
			ctx, cancel := context.WithTimeout(t.Context(), limit)
			defer cancel()
			begin := time.Now()
			v, err := share(ctx, "k", func() (any, int64, error) {
				time.Sleep(time.Hour)
				return 7, 8, nil
			})
			if !errors.Is(err, want) || err == nil && v != 7 {
				t.Errorf("limit %v: got %v, %v", limit, v, err)
			}
			if took := time.Since(begin); err != nil && took != limit {
				t.Errorf("a run with a limit of %v waited %v", limit, took)
			}
		}
		var wg sync.WaitGroup
		wg.Go(func() { get(time.Minute, nil) }) // builds: it is for build to look at the context
		synctest.Wait()
		wg.Go(func() { get(time.Second, context.DeadlineExceeded) })
		wg.Go(func() { get(2*time.Hour, nil) })
		wg.Wait()
	})
}
