package run

import (
	"context"
	"slices"

	"ssdl/harness/provenance"
	"ssdl/harness/store"
)

// Provenance counts the runs behind cells, those that chose their parameters included, by where they are
// from and what is known of them.
type Provenance struct {
	Runs int `json:"runs"`
	// Damaged are not as they were recorded, and count nowhere else.
	Damaged int `json:"damaged,omitempty"`
	// Modified are of programs with sources that are no commit's, Unknown of programs whose sources are
	// not known.
	Modified int `json:"modified_sources,omitempty"`
	Unknown  int `json:"unknown_sources,omitempty"`
	// Incomplete do not say what code computed them, or what memory that took.
	Incomplete int `json:"incomplete,omitempty"`
	// Migrated got the hash of their record later: see store.Run.
	Migrated int `json:"migrated,omitempty"`
	// Imported are those that were not recorded here, by file.
	Imported []Import `json:"imported,omitempty"`
	// Repeated were computed again here, by the code that this program has; of these, some Differ.
	Repeated int `json:"repeated"`
	Differ   int `json:"differ"`
}

// Import is a file that runs came from.
type Import struct {
	Name   string `json:"name"`
	SHA256 string `json:"sha256"`
	Signer string `json:"signer,omitempty"` // empty without a signature
	Runs   int    `json:"runs"`
}

// Provenance counts the runs behind cells, each once.
func (p *Plan) Provenance(cells ...*Cell) Provenance {
	var out Provenance
	for _, t := range behind(cells) {
		out.Runs++
		if t.Fault != nil {
			out.Damaged++
			continue
		}
		switch provenance.SourcesOf(p.envs[t.Result.EnvID]) {
		case provenance.Modified:
			out.Modified++
		case provenance.Unknown:
			out.Unknown++
		}
		if is := t.Result; is.Peak == 0 || is.Code.Protocol == "" || t.code.Method != "" && is.Code.Method == "" || t.code.Pretext != "" && is.Code.Pretext == "" {
			out.Incomplete++
		}
		if t.Result.Migrated {
			out.Migrated++
		}
		if o := t.Result.Origin; o != nil {
			out.addImport(o)
		}
		if repeated, differs := p.repeated(t); repeated {
			out.Repeated++
			if differs {
				out.Differ++
			}
		}
	}
	return out
}

// behind lists the finished tasks of cells, those that chose their parameters included, one for each run.
func behind(cells []*Cell) []*Task {
	var out []*Task
	seen := map[string]bool{}
	for _, c := range cells {
		for _, t := range c.tasks() {
			if t.finished == "" || seen[t.finished] || t.Result == nil && t.Fault == nil {
				continue
			}
			seen[t.finished] = true
			out = append(out, t)
		}
	}
	return out
}

// Cost is what runs took, as measured.
type Cost struct {
	Runs int     `json:"runs"`
	Wall float64 `json:"wall_seconds"` // the sum over the runs
	CPU  float64 `json:"cpu_seconds"`
	Peak int64   `json:"peak_bytes,omitempty"` // of memory, the largest of a run; 0 if unknown
	Disk int64   `json:"disk_bytes"`           // of the records: see store.Sizes
}

// Cost sums up the runs behind cells, each once. st is the store of the plan.
func (p *Plan) Cost(ctx context.Context, st *store.Store, cells ...*Cell) (Cost, error) {
	var out Cost
	var uids []string
	for _, t := range behind(cells) {
		if t.Fault != nil {
			continue
		}
		out.Runs++
		out.Wall += t.Result.Wall.Seconds()
		out.CPU += t.Result.CPU.Seconds()
		out.Peak = max(out.Peak, t.Result.Peak)
		uids = append(uids, t.Result.UID)
	}
	sizes, err := st.Sizes(ctx, uids)
	for _, n := range sizes {
		out.Disk += n
	}
	return out, err
}

func (p *Provenance) addImport(o *store.Origin) {
	i := slices.IndexFunc(p.Imported, func(x Import) bool { return x.SHA256 == o.SHA256 && x.Name == o.Name })
	if i < 0 {
		i = len(p.Imported)
		p.Imported = append(p.Imported, Import{Name: o.Name, SHA256: o.SHA256, Signer: o.Signer})
	}
	p.Imported[i].Runs++
}

// repeated reports whether the result of t was computed again by the code that the program has, and
// whether the last time it came out otherwise.
func (p *Plan) repeated(t *Task) (repeated, differs bool) {
	for _, r := range p.repetitions[t.finished] {
		if r.Code == t.code {
			repeated, differs = true, r.Differs != ""
		}
	}
	return repeated, differs
}

// readRepetitions reads the repetitions of results.
func (p *Plan) readRepetitions(ctx context.Context, st *store.Store, results map[string]store.Result) error {
	var uids []string
	for _, r := range results {
		if _, ok := p.repetitions[r.UID]; !ok {
			uids = append(uids, r.UID)
		}
	}
	slices.Sort(uids)
	list, err := st.Repetitions(ctx, uids)
	for _, r := range list {
		p.repetitions[r.Run] = append(p.repetitions[r.Run], r)
	}
	return err
}

// Fault is what is wrong with the first run behind a cell that is not as it was recorded; nil if there is
// none.
func (p *Plan) Fault(c *Cell) *store.Fault {
	for _, t := range c.tasks() {
		if t.Fault != nil {
			return t.Fault
		}
	}
	return nil
}
