package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"ssdl/harness/executor"
	"ssdl/harness/provenance"
	"ssdl/harness/run"
	"ssdl/harness/sanitize"
	"ssdl/harness/spec"
	"ssdl/harness/store"
	"ssdl/harness/tempfile"
)

// openStore opens runs.db in the results folder, and makes both if they are missing.
func (e *env) openStore(f resultsFlag) (*store.Store, error) {
	if err := os.MkdirAll(f.Results, 0o755); err != nil {
		return nil, fmt.Errorf("results folder: %w", err)
	}
	return store.Open(e.ctx, f.dbPath())
}

// readStore opens the store for a verb that only reads. A store that cannot be written is opened read-only.
func (e *env) readStore(f resultsFlag) (*store.Store, error) {
	if f.missing() {
		return nil, fail(exitNoData, "%s not found: nothing was run yet. `ssdl run` makes it; --results names its folder", f.dbPath())
	}
	if info, err := os.Stat(f.dbPath()); err == nil && info.Mode().IsRegular() && info.Size() == 0 {
		return nil, fail(exitNoData, "%s is empty: it holds no runs. Remove it, or name another folder with --results", f.dbPath())
	}
	st, err := e.openStore(f)
	if err == nil || e.ctx.Err() != nil {
		return st, err
	}
	if as, err := store.OpenReadOnly(e.ctx, f.dbPath()); err == nil {
		return as, nil
	}
	return nil, err
}

// missing reports whether there is no store yet.
func (f resultsFlag) missing() bool {
	_, err := os.Stat(f.dbPath())
	return errors.Is(err, fs.ErrNotExist)
}

// readStoreOrEmpty is readStore, or a note and a temporary empty store if there is none yet: a verb that reads makes
// no results folder.
func (e *env) readStoreOrEmpty(f resultsFlag) (st *store.Store, done func(), err error) {
	if f.missing() {
		fmt.Fprintf(e.stderr, "%s not found: nothing was run yet, or --results names another folder\n", f.dbPath())
	}
	return e.quietStoreOrEmpty(f)
}

// quietStoreOrEmpty is readStoreOrEmpty without the note.
func (e *env) quietStoreOrEmpty(f resultsFlag) (st *store.Store, done func(), err error) {
	if !f.missing() {
		if st, err = e.readStore(f); err != nil {
			return nil, nil, err
		}
		return st, func() { st.Close() }, nil
	}
	dir, err := tempfile.System()
	if err != nil {
		return nil, nil, err
	}
	if st, err = store.Open(e.ctx, filepath.Join(dir.Path, "runs.db")); err != nil {
		return nil, nil, errors.Join(err, dir.Remove())
	}
	return st, func() { st.Close(); dir.Remove() }, nil
}

// closeStore closes a store and keeps the first error: closing fails if the file was removed meanwhile.
func closeStore(st *store.Store, err *error) {
	if closed := st.Close(); *err == nil {
		*err = closed
	}
}

// plan plans a spec on local data or, without it, on the data that the store recorded.
func (e *env) plan(sel specSelection, name string) (*run.Plan, error) {
	st, done, err := e.readStoreOrEmpty(sel.resultsFlag)
	if err != nil {
		return nil, err
	}
	defer done()
	return e.planOf(st, sel, name)
}

// storedPlan is plan for a verb that only reads, with noteRecorded.
func (e *env) storedPlan(sel specSelection, name string) (*run.Plan, error) {
	p, err := e.plan(sel, name)
	if err == nil {
		e.noteRecorded(p)
	}
	return p, err
}

// noteRecorded says, once for each data set, that local data differs from what the store recorded by its name.
func (e *env) noteRecorded(p *run.Plan) {
	e.noting.Lock()
	defer e.noting.Unlock()
	for _, name := range p.Spec.Datasets {
		recorded, differs := p.Recorded[name]
		if !differs || e.noted[name] {
			continue
		}
		if e.noted == nil {
			e.noted = map[string]bool{}
		}
		e.noted[name] = true
		fmt.Fprintf(e.stderr, "%s: the local data (hash %.12s) is not what the store recorded (%.12s). --recorded shows the results of the recorded data\n", sanitize.Line(name), p.Datasets[name].Hash, recorded)
	}
}

// resolver is run.Resolve or run.ResolveFinished.
type resolver func(context.Context, *executor.Library, *provenance.Code, *store.Store, *spec.Spec) (*run.Plan, error)

// planOf is plan on an open store.
func (e *env) planOf(st *store.Store, sel specSelection, name string) (*run.Plan, error) {
	return e.resolved(st, sel, name, run.Resolve)
}

// resolved plans a spec on an open store with resolve.
func (e *env) resolved(st *store.Store, sel specSelection, name string, resolve resolver) (*run.Plan, error) {
	lib := sel.library()
	s, err := e.specOn(e.ctx, st, lib, sel, name)
	if err != nil {
		return nil, err
	}
	return resolve(e.ctx, lib, e.code, st, s)
}

// specOn is spec on the data sets that are local or recorded.
func (e *env) specOn(ctx context.Context, st *store.Store, lib *executor.Library, sel specSelection, name string) (*spec.Spec, error) {
	recorded, err := st.Datasets(ctx)
	if err != nil {
		return nil, err
	}
	return e.spec(sel, name, func(name string) bool {
		return lib.Has(name) || slices.ContainsFunc(recorded, func(d store.Dataset) bool { return d.Name == name && !d.Synthetic })
	})
}
