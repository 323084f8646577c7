package results

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"ssdl/harness/store"
	"ssdl/methods/catalog"
)

// Dictionary describes the dictionary that a run learned; zero if it learned none.
type Dictionary struct {
	// Atoms is the number of its atoms, FirstAtoms that of a first stage.
	Atoms      int `json:"atoms,omitempty"`
	FirstAtoms int `json:"first_atoms,omitempty"`
	// Degenerate says that the codes of test samples have nearly as many non-zero entries as there are features,
	// so that they reproduce any sample.
	Degenerate bool `json:"degenerate,omitempty"`
}

func dictionaryOf(series []store.Point) (d Dictionary) {
	for _, p := range series {
		switch p.Name {
		case "atoms":
			d.Atoms = int(p.Value)
		case "first_atoms":
			d.FirstAtoms = int(p.Value)
		case "degenerate":
			d.Degenerate = p.Value != 0
		}
	}
	return d
}

// ReadRecords reads the Dictionary, the Commit and the Processor of each run.
func (e *Explanation) ReadRecords(ctx context.Context, st *store.Store) error {
	e.Runs = slices.Clone(e.Runs) // copies of e share it
	for i := range e.Runs {
		r := &e.Runs[i]
		if r.UID == "" {
			continue
		}
		_, is, err := st.RunByUID(ctx, r.UID)
		if err != nil {
			return fmt.Errorf("run %s: %w", r.UID, err)
		}
		r.Dictionary, r.Commit, r.Processor = dictionaryOf(is.Series), commitOf(is.Env), is.Env["cpu"]
	}
	return nil
}

// ShownParams lists parameters by name. It leaves out a number of atoms that is 0: then other parameters set it,
// and Dictionary has the result.
func ShownParams(values catalog.Values) []Value {
	var list []Value
	for name, v := range values {
		if (name == "K" || name == "atoms") && (v == 0 || v == 0.0) { // as JSON has it
			continue
		}
		list = append(list, Value{name, v})
	}
	slices.SortFunc(list, func(a, b Value) int { return cmp.Compare(a.Name, b.Name) })
	return list
}
