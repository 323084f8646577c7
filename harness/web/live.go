package web

import (
	"context"
	"slices"

	"ssdl/harness/results"
	"ssdl/harness/store"
)

// liveData is the live page.
type liveData struct {
	Path   string
	Exists bool
	Specs  []results.Progress
	Latest results.RunList
}

// latest is the number of runs on the live page.
const latest = 25

func (v view) livePage(ctx context.Context) (page, error) {
	d := liveData{Path: v.Path}
	st, err := v.open(ctx)
	if err != nil {
		return page{}, err
	}
	if st != nil {
		d.Exists = true
		if d.Specs, err = v.progress(ctx, st); err != nil {
			return page{}, err
		}
		if d.Latest, err = results.ListRuns(ctx, st, store.Listing{Limit: latest}); err != nil {
			return page{}, err
		}
	}
	return page{Title: "Live", Section: "/live", Template: "live", Data: d}, nil
}

// progress returns the progress of each spec. It does not read finished specs again, to leave the machine
// to runs.
func (x *Explorer) progress(ctx context.Context, st *store.Store) ([]results.Progress, error) {
	var studies []*study
	for _, name := range x.Specs {
		x.mu.Lock()
		s := x.studies[name]
		x.mu.Unlock()
		if s == nil || !s.finished {
			var err error
			if s, err = x.load(ctx, st, name); err != nil {
				return nil, err
			}
		}
		studies = append(studies, s)
	}
	slices.SortStableFunc(studies, func(a, b *study) int { return rankOf(a) - rankOf(b) })
	var out []results.Progress
	for _, s := range studies {
		claimed, err := st.Claimed(results.Keys(s.plan))
		if err != nil {
			return nil, err
		}
		if is := results.ProgressOf(s.plan, claimed); x.Always || is.Done > 0 || is.Running != nil {
			out = append(out, is)
		}
	}
	return out, nil
}
