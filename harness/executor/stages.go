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

// Stages keeps intermediate results that several runs share: the hypergraph of a
// lambda grid, the pseudo labels of an alpha grid, the Gram matrix of both. A result is
// built once even if several runs ask for it at the same moment. The least recently
// used go when the bytes held exceed the bound.
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

// stage is written by who builds it until done is closed, and by nobody after.
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

// Counts returns how many stages were built and how many requests were served from
// what was already there.
func (s *Stages) Counts() (built, reused int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.built, s.reused
}

// For returns the Share of one problem: scope names its data, split and subset. It is nil if s is.
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
			// Who builds does not leave at the end of its context: build writes into its run's trace.
			st.value, st.bytes, st.err = guarded(build)
			s.finish(st)
			return st.value, st.err
		}
		select {
		case <-st.done:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		// Another run's cancellation must not fail this one: build it ourselves.
		if errors.Is(st.err, context.Canceled) || errors.Is(st.err, context.DeadlineExceeded) {
			continue
		}
		return st.value, st.err
	}
}

// guarded turns a panic into an error, so that every run that waits for the stage gets it.
func guarded(build func() (any, int64, error)) (v any, bytes int64, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = &PanicError{Value: fmt.Sprint(r), Stack: string(debug.Stack())}
		}
	}()
	return build()
}

// join returns the stage of a key, held or being built by another run. Without one it begins a stage,
// which the caller is to build and finish.
func (s *Stages) join(key string) (st *stage, ours bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if e, ok := s.byKey[key]; ok {
		s.order.MoveToFront(e)
		s.reused++
		return e.Value.(*stage), false
	}
	if st, ok := s.building[key]; ok {
		return st, false
	}
	st = &stage{key: key, done: make(chan struct{})}
	s.building[key] = st
	return st, true
}

// finish hands a stage to those that wait for it, and keeps it unless it failed or is too large.
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
