package archive

import (
	"cmp"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"time"

	"ssdl/harness/store"
)

// span is the time from the start of the first run to the end of the last.
type span struct{ start, end time.Time }

func (s *span) add(r store.Run) {
	end := r.Started.Add(r.Wall)
	if s.start.IsZero() || r.Started.Before(s.start) {
		s.start = r.Started
	}
	if end.After(s.end) {
		s.end = end
	}
}

// history sums up the runs of a store for the metadata.
type history struct {
	runs      int
	failed    int
	all       span
	batches   map[batch]*batchRuns
	platforms map[state]map[string]bool
	datasets  map[string]store.Dataset
	specs     map[string]*span           // by name
	uses      map[string]map[string]bool // hashes of data sets, by spec
}

// batch names runs of one state of the program and one origin.
type batch struct {
	state
	origin origin
}

// origin is the file that runs were imported from; empty if they were recorded here.
type origin struct{ file, signer string }

// batchRuns are the runs of a batch.
type batchRuns struct {
	span
	runs, failed int
	datasets     map[string]bool
}

func newHistory() *history {
	return &history{
		batches: map[batch]*batchRuns{}, platforms: map[state]map[string]bool{}, datasets: map[string]store.Dataset{},
		specs: map[string]*span{}, uses: map[string]map[string]bool{},
	}
}

// add adds a run; specs are the specs of the archive that show it.
func (h *history) add(e store.RunRecord, specs []string) {
	b := batch{state: stateOf(e.Run.Env)}
	if o := e.Run.Origin; o != nil {
		b.origin = origin{path.Base(filepath.ToSlash(o.Name)), o.Signer} // without its folder, which is private
	}
	is := h.batches[b]
	if is == nil {
		is = &batchRuns{datasets: map[string]bool{}}
		h.batches[b] = is
	}
	is.add(e.Run)
	is.datasets[e.Dataset.Hash] = true
	h.runs, is.runs = h.runs+1, is.runs+1
	if e.Run.Status != store.StatusOK {
		h.failed, is.failed = h.failed+1, is.failed+1
	}
	if h.platforms[b.state] == nil {
		h.platforms[b.state] = map[string]bool{}
	}
	h.platforms[b.state][e.Run.Env["go"]+" "+e.Run.Env["os"]+"/"+e.Run.Env["arch"]] = true
	h.all.add(e.Run)
	h.datasets[e.Dataset.Hash] = e.Dataset
	for _, name := range specs {
		if h.specs[name] == nil {
			h.specs[name], h.uses[name] = &span{}, map[string]bool{}
		}
		h.specs[name].add(e.Run)
		h.uses[name][e.Dataset.Hash] = true
	}
}

func (h *history) sortedBatches() []batch {
	return slices.SortedFunc(maps.Keys(h.batches), func(a, b batch) int {
		return cmp.Or(a.compare(b.state), cmp.Compare(a.origin.file, b.origin.file), cmp.Compare(a.origin.signer, b.origin.signer))
	})
}

func (h *history) sortedStates() []state {
	return slices.SortedFunc(maps.Keys(h.platforms), state.compare)
}

func (h *history) programIDs() []string {
	var ids []string
	for _, s := range h.sortedStates() {
		ids = append(ids, s.id())
	}
	return ids
}
