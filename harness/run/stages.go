package run

import (
	"container/list"
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"sync"

	"golang.org/x/sync/singleflight"

	"ssdl/methods"
)

// Stages keeps intermediate results that several runs share: the hypergraph of a
// lambda grid, the pseudo labels of an alpha grid, the Gram matrix of both. A result is
// built once even if several runs ask for it at the same moment. The least recently
// used go when the bytes held exceed the bound.
type Stages struct {
	bound int64

	mu     sync.Mutex
	held   int64
	order  *list.List // of *stage, most recently used first
	byKey  map[string]*list.Element
	flight singleflight.Group
	built  int
	reused int
}

type stage struct {
	key   string
	value any
	bytes int64
}

// NewStages returns an empty cache that holds at most bound bytes.
func NewStages(bound int64) *Stages {
	return &Stages{bound: bound, order: list.New(), byKey: map[string]*list.Element{}}
}

// Counts returns how many stages were built and how many requests were served from
// what was already there.
func (s *Stages) Counts() (built, reused int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.built, s.reused
}

// For returns the Share of one problem: scope names its data, split and subset.
func (s *Stages) For(scope string) methods.Share {
	return func(ctx context.Context, key string, build func() (any, int64, error)) (any, error) {
		return s.do(ctx, scope+"/"+key, build)
	}
}

func (s *Stages) do(ctx context.Context, key string, build func() (any, int64, error)) (any, error) {
	for {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if v, ok := s.lookup(key); ok {
			return v, nil
		}
		v, err, _ := s.flight.Do(key, func() (any, error) {
			if v, ok := s.lookup(key); ok { // finished between our look and our flight
				return v, nil
			}
			v, bytes, err := guarded(build)
			if err != nil {
				return nil, err
			}
			s.add(&stage{key, v, bytes})
			return v, nil
		})
		// Another run's cancellation must not fail this one: build it ourselves.
		if err != nil && ctx.Err() == nil && (errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)) {
			continue
		}
		return v, err
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

func (s *Stages) lookup(key string) (any, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	e, ok := s.byKey[key]
	if !ok {
		return nil, false
	}
	s.order.MoveToFront(e)
	s.reused++
	return e.Value.(*stage).value, true
}

func (s *Stages) add(st *stage) {
	s.mu.Lock()
	defer s.mu.Unlock()
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
