package web

import (
	"context"

	"ssdl/harness/results"
	"ssdl/harness/store"
)

// liveData is what happens in the store.
type liveData struct {
	Path   string
	Exists bool
	Specs  []results.Progress
	Latest results.RunList
}

// latest is how many runs the live page lists.
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

// progress says of each spec that is shown how far it is.
func (x *Explorer) progress(ctx context.Context, st *store.Store) ([]results.Progress, error) {
	all, err := x.loadAll(ctx)
	if err != nil {
		return nil, err
	}
	var out []results.Progress
	for _, s := range all {
		claimed, err := st.Claimed(results.Keys(s.plan))
		if err != nil {
			return nil, err
		}
		out = append(out, results.ProgressOf(s.plan, claimed))
	}
	return out, nil
}
