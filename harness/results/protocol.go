package results

import (
	"slices"

	"ssdl/harness/run"
	"ssdl/harness/spec"
)

// Protocol describes the splits and seeds of a table.
type Protocol struct {
	Seeds []uint64 `json:"seeds"`
	// Split is "class" (per class at random), "official" or "file" (index files).
	Split string `json:"split"`
	// Train is the share of each class that is training data, and Labels the share of the training samples
	// that keep their label; 0 if the split has none. LabelRates are the values of a sweep over Labels.
	Train      float64   `json:"train,omitempty"`
	Labels     float64   `json:"labels,omitempty"`
	LabelRates []float64 `json:"label_rates,omitempty"`
	// File is the path of the index file, with {seed} if each seed has its own.
	File    string `json:"file,omitempty"`
	PerSeed bool   `json:"per_seed,omitempty"`
}

func protocolOf(s *spec.Spec) *Protocol {
	return &Protocol{
		Seeds: s.Seeds, Split: s.Split.Kind, Train: s.Split.Train, Labels: s.Split.Labels, LabelRates: s.LabelRates,
		File: s.Split.File, PerSeed: s.Split.PerSeed(),
	}
}

// DataVersion describes the data of a column and the sizes of its splits.
type DataVersion struct {
	Column  string `json:"column"`
	Hash    string `json:"hash"` // SHA-256, in hexadecimal
	Samples int    `json:"samples"`
	// Train, Labelled and Test are the sizes of the first split with results; Labelled counts the training
	// samples that keep their label. Unused counts the samples in neither part.
	Train    int `json:"train"`
	Labelled int `json:"labelled"`
	Test     int `json:"test"`
	Unused   int `json:"unused,omitempty"`
}

// Tuning says how the parameters of rows were chosen. Tuned rows have an entry for each data set and number
// of candidates, since grids may differ between data sets.
type Tuning struct {
	// Selection is "val" (tuned on held-out samples), "test" (tuned on the test part), "paper" (printed in
	// the paper) or "fixed" (given by the spec).
	Selection string `json:"selection"`
	// Column, Candidates and Seeds are set for tuned rows: the data set, the number of candidates (1 if the
	// data set leaves one), and the seeds of the tuning.
	Column     string   `json:"column,omitempty"`
	Candidates int      `json:"candidates,omitempty"`
	Seeds      []uint64 `json:"seeds,omitempty"`
	// Rows are the ids of the spec's rows.
	Rows []string `json:"rows"`
}

// selectionOf is the select of a cell. A single candidate is not tuned, so it is SelectFixed.
func selectionOf(c *run.Cell) string {
	if c.Select == spec.SelectVal && len(c.Candidates) == 1 {
		return spec.SelectFixed
	}
	return c.Select
}

func tuningOf(p *run.Plan) []Tuning {
	tuned := map[*spec.Row]bool{} // on any data set
	for _, c := range p.Cells {
		tuned[c.Row] = tuned[c.Row] || c.Excluded == "" && len(c.Candidates) > 1
	}
	var out []Tuning
	for _, c := range p.Cells {
		if c.Excluded != "" || c.Point > 0 { // all points of a sweep have the same candidates
			continue
		}
		is := Tuning{Selection: selectionOf(c)}
		if tuned[c.Row] {
			is = Tuning{Selection: c.Select, Column: c.Dataset, Candidates: len(c.Candidates), Seeds: c.TuneSeeds}
		}
		i := slices.IndexFunc(out, func(t Tuning) bool {
			return t.Selection == is.Selection && t.Column == is.Column && t.Candidates == is.Candidates && slices.Equal(t.Seeds, is.Seeds)
		})
		if i < 0 {
			i, out = len(out), append(out, is)
		}
		if !slices.Contains(out[i].Rows, c.Row.ID) {
			out[i].Rows = append(out[i].Rows, c.Row.ID)
		}
	}
	order := []string{spec.SelectVal, spec.SelectTest, spec.SelectPaper, spec.SelectFixed}
	slices.SortStableFunc(out, func(a, b Tuning) int {
		return slices.Index(order, a.Selection) - slices.Index(order, b.Selection)
	})
	return out
}

// TestToTrain is the ratio of test to training samples, for the corrected intervals of paired differences: the
// largest over the final splits, and 0 if all seeds test the same samples. All training samples count, also for
// methods that learn from the labelled ones alone: the correction takes as correlation of two seeds the share of the
// samples that a seed tests, which is the share of its test samples that the other one tests too. Labels are drawn
// anew for each seed, which makes two seeds less alike.
func TestToTrain(p *run.Plan) (ratio float64) {
	for _, c := range p.Cells {
		if c.Split.SameTest() {
			continue
		}
		for i := range c.Final {
			if s, ok := p.SplitOf(&c.Final[i]); ok && s.Train > 0 {
				ratio = max(ratio, float64(s.Test)/float64(s.Train))
			}
		}
	}
	return ratio
}
