package executor

import (
	"context"
	"fmt"
	"strings"
	"sync"

	"ssdl/harness/command"
	"ssdl/harness/data"
	"ssdl/harness/spec"
)

// Library loads data sets and makes splits, each once. It searches a name in the folders Roots in
// turn, then among the built-in sets.
type Library struct {
	Roots    []string
	DropZero bool // leave out all-zero samples instead of refusing the data set
	// Programs runs the external programs of rows.
	Programs command.Runner
	// RecordedOnly makes the library find nothing, so that a plan uses the data that the store recorded.
	RecordedOnly bool

	mu     sync.Mutex
	sets   map[string]*data.Set
	splits map[string]*data.Split
}

// NoDataError says that a data set was not found.
type NoDataError struct {
	Name  string
	Roots []string
	// RecordedOnly is that of the Library.
	RecordedOnly bool
}

func (e *NoDataError) Error() string {
	if e.RecordedOnly {
		return fmt.Sprintf("the store has recorded no data set %s", e.Name)
	}
	where := "no data folder was given"
	if len(e.Roots) > 0 {
		where = "looked in " + strings.Join(e.Roots, ", ")
	}
	return fmt.Sprintf("data set %s was not found (%s); give its folder with --data DIR or SSDL_DATA, or use the built-in synth40, synth8", e.Name, where)
}

// Set returns the data set of that name.
func (l *Library) Set(ctx context.Context, name string) (*data.Set, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if s, ok := l.sets[name]; ok {
		return s, nil
	}
	s, err := l.load(ctx, name)
	if err != nil {
		return nil, err
	}
	if l.sets == nil {
		l.sets = map[string]*data.Set{}
	}
	l.sets[name] = s
	return s, nil
}

func (l *Library) load(ctx context.Context, name string) (*data.Set, error) {
	if l.RecordedOnly {
		return nil, &NoDataError{Name: name, RecordedOnly: true}
	}
	if path, ok := data.Find(name, l.Roots); ok {
		return data.Load(ctx, path, data.Options{DropZero: l.DropZero})
	}
	if s, ok := data.Builtin(name); ok {
		return s, nil
	}
	if err := data.Incomplete(l.Roots)[name]; err != nil {
		return nil, err
	}
	return nil, &NoDataError{Name: name, Roots: l.Roots}
}

// Has reports whether the data set can be loaded, without loading it.
func (l *Library) Has(name string) bool {
	if l.RecordedOnly {
		return false
	}
	_, ok := data.Find(name, l.Roots)
	return ok
}

// Split returns the split of a data set under a seed.
func (l *Library) Split(set *data.Set, s spec.Split, seed uint64) (*data.Split, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	key := fmt.Sprintf("%s %s %d", set.Hash, s, seed)
	if sp, ok := l.splits[key]; ok {
		return sp, nil
	}
	sp, err := data.MakeSplit(set, data.SplitSpec{Kind: s.Kind, Train: s.Train, Labels: s.Labels, File: s.Path(seed)}, seed)
	if err != nil {
		return nil, err
	}
	if l.splits == nil {
		l.splits = map[string]*data.Split{}
	}
	l.splits[key] = sp
	return sp, nil
}
