package run

import (
	"context"
	"slices"
	"time"

	"ssdl/harness/provenance"
	"ssdl/harness/store"
)

// Provenance counts the runs of cells, tuning included, by their origin and by what is known of them.
type Provenance struct {
	Runs int `json:"runs"`
	// Damaged runs are not as they were recorded. The other fields leave them out.
	Damaged int `json:"damaged,omitempty"`
	// Modified runs are of programs with modified sources, Unknown runs of programs with unknown sources.
	Modified int `json:"modified_sources,omitempty"`
	Unknown  int `json:"unknown_sources,omitempty"`
	// Incomplete runs lack the fingerprint of their code or their memory.
	Incomplete int `json:"incomplete,omitempty"`
	// Migrated runs got their record hash later: see store.Run.
	Migrated int `json:"migrated,omitempty"`
	// Imported counts the imported runs by file.
	Imported []Import `json:"imported,omitempty"`
	// Repeated runs were computed again here by the code of this program; Differ of them with a difference.
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

// Provenance counts the runs of cells, each once.
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

// behind lists the finished tasks of cells, tuning included, one for each run.
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

// Cost is the measured cost of runs.
type Cost struct {
	Runs   int     `json:"runs"`
	Failed int     `json:"failed,omitempty"` // how many of Runs failed: see CostWithFailed
	Wall   float64 `json:"wall_seconds"`     // the sum over the runs
	CPU    float64 `json:"cpu_seconds"`
	Peak   int64   `json:"peak_bytes,omitempty"` // largest peak memory of a run; 0 if unknown
	Disk   int64   `json:"disk_bytes"`           // of the records: see store.Sizes
}

// Cost sums up the cost of the finished runs of cells, each once. st is the store of the plan.
func (p *Plan) Cost(ctx context.Context, st *store.Store, cells ...*Cell) (Cost, error) {
	var out Cost
	var uids []string
	for _, t := range behind(cells) {
		if r := t.Result; t.Fault == nil {
			out.add(r.Wall, r.CPU, r.Peak)
			uids = append(uids, r.UID)
		}
	}
	err := out.addDisk(ctx, st, uids)
	return out, err
}

// CostWithFailed is Cost with the failed attempts, also those at jobs that have a result. A timeout may be the
// dearest run of a cell.
func (p *Plan) CostWithFailed(ctx context.Context, st *store.Store, cells ...*Cell) (Cost, error) {
	out, err := p.Cost(ctx, st, cells...)
	if err != nil {
		return out, err
	}
	keys := []string{} // nil would be all jobs
	for _, c := range cells {
		for _, t := range c.tasks() {
			if t.last != "" {
				keys = append(keys, t.Key)
			}
		}
	}
	var uids []string
	if err := st.Each(ctx, keys, func(r store.RunRecord) error {
		if r.Run.Status != store.StatusOK && len(r.Faults) == 0 {
			out.Failed++
			out.add(r.Run.Wall, r.Run.CPU, r.Run.Peak)
			uids = append(uids, r.Run.UID)
		}
		return nil
	}); err != nil {
		return out, err
	}
	err = out.addDisk(ctx, st, uids)
	return out, err
}

// add adds a run, without its record.
func (c *Cost) add(wall, cpu time.Duration, peak int64) {
	c.Runs++
	c.Wall += wall.Seconds()
	c.CPU += cpu.Seconds()
	c.Peak = max(c.Peak, peak)
}

// addDisk adds the records of runs.
func (c *Cost) addDisk(ctx context.Context, st *store.Store, uids []string) error {
	sizes, err := st.Sizes(ctx, uids)
	for _, n := range sizes {
		c.Disk += n
	}
	return err
}

func (p *Provenance) addImport(o *store.Origin) {
	i := slices.IndexFunc(p.Imported, func(x Import) bool { return x.SHA256 == o.SHA256 && x.Name == o.Name })
	if i < 0 {
		i = len(p.Imported)
		p.Imported = append(p.Imported, Import{Name: o.Name, SHA256: o.SHA256, Signer: o.Signer})
	}
	p.Imported[i].Runs++
}

// repeated reports whether the result of t was computed again by the code of this program, and whether the
// last repetition differs.
func (p *Plan) repeated(t *Task) (repeated, differs bool) {
	list := p.repetitionsOf(t)
	if len(list) == 0 {
		return false, false
	}
	return true, list[len(list)-1].Differs != ""
}

// repetitionsOf lists the repetitions of the result of t by the code of this program, by time.
func (p *Plan) repetitionsOf(t *Task) (list []store.Repetition) {
	for _, r := range p.repetitions[t.finished] {
		if r.Code == t.code {
			list = append(list, r)
		}
	}
	return list
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

// Fault returns the fault of the first damaged run of a cell; nil if there is none.
func (p *Plan) Fault(c *Cell) *store.Fault {
	for _, t := range c.tasks() {
		if t.Fault != nil {
			return t.Fault
		}
	}
	return nil
}
