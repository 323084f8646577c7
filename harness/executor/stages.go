package executor

import (
	"container/list"
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"sync"

	"ssdl/methods"
)

// Stages caches the stages that several runs share: the hypergraph of a lambda grid, the pseudo
// labels of an alpha grid, the Gram matrix of both. A stage is built once even if several runs ask
// for it at the same moment. The least recently used are dropped when the cache exceeds its bound.
type Stages struct {
	bound int64

	mu       sync.Mutex
	held     int64
	order    *list.List // of *stage, most recently used first
	byKey    map[string]*list.Element
	building map[string]*stage
	built    int
	reused   int
}

// stage is written only by the goroutine that builds it, and not after done is closed.
type stage struct {
	key   string
	done  chan struct{}
	value any
	bytes int64
	err   error
}

// NewStages returns an empty cache that holds at most bound bytes.
func NewStages(bound int64) *Stages {
	return &Stages{bound: bound, order: list.New(), byKey: map[string]*list.Element{}, building: map[string]*stage{}}
}

// Counts returns how many stages were built, and how many requests the cache served.
func (s *Stages) Counts() (built, reused int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.built, s.reused
}

// For returns the Share of one problem: scope names its data, split and subset. It is nil if s is nil.
func (s *Stages) For(scope string) methods.Share {
	if s == nil {
		return nil
	}
	return func(ctx context.Context, key string, build func() (any, int64, error)) (any, error) {
		return s.do(ctx, scope+"/"+key, build)
	}
}

func (s *Stages) do(ctx context.Context, key string, build func() (any, int64, error)) (any, error) {
	for {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		st, ours := s.join(key)
		if ours {
			// Wait for build even if ctx is done: build writes into the trace of its run.
			st.value, st.bytes, st.err = guarded(build)
			s.finish(st)
			return st.value, st.err
		}
		select {
		case <-st.done:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		// The run that built the stage was cancelled: build it here.
		if errors.Is(st.err, context.Canceled) || errors.Is(st.err, context.DeadlineExceeded) {
			continue
		}
		return st.value, st.err
	}
}

// guarded turns a panic into an error, which every run that waits for the stage gets.
func guarded(build func() (any, int64, error)) (v any, bytes int64, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = &PanicError{Value: fmt.Sprint(r), Stack: string(debug.Stack())}
		}
	}()
	return build()
}

// join returns the stage of a key, cached or being built by another run. If there is none, it adds one that the
// caller must build and finish.
func (s *Stages) join(key string) (st *stage, ours bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if e, ok := s.byKey[key]; ok {
		s.order.MoveToFront(e)
		s.reused++
		return e.Value.(*stage), false
	}
	if st, ok := s.building[key]; ok {
		s.reused++
		return st, false
	}
	st = &stage{key: key, done: make(chan struct{})}
	s.building[key] = st
	return st, true
}

// finish wakes the runs that wait for a stage, and caches it unless it failed or is too large.
func (s *Stages) finish(st *stage) {
	s.mu.Lock()
	defer s.mu.Unlock()
	defer close(st.done)
	delete(s.building, st.key)
	if st.err != nil {
		st.value = nil
		return
	}
	s.built++
	if st.bytes > s.bound {
		return
	}
	s.byKey[st.key] = s.order.PushFront(st)
	s.held += st.bytes
	for s.held > s.bound {
		last := s.order.Back()
		old := s.order.Remove(last).(*stage)
		delete(s.byKey, old.key)
		s.held -= old.bytes
	}
}
