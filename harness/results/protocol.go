package results

import (
	"slices"

	"ssdl/harness/run"
	"ssdl/harness/spec"
)

// Protocol says which splits and seeds values are of.
type Protocol struct {
	Seeds []uint64 `json:"seeds"`
	// Split is "class" (per class at random), "official" or "file" (index files).
	Split string `json:"split"`
	// Train is the share of each class that is training data, and Labels the share of these that keep
	// their label; 0 where the split does not say. LabelRates are the shares where rows sweep them.
	Train      float64   `json:"train,omitempty"`
	Labels     float64   `json:"labels,omitempty"`
	LabelRates []float64 `json:"label_rates,omitempty"`
	// File is the path of the index file, with {seed} where each seed has its own.
	File    string `json:"file,omitempty"`
	PerSeed bool   `json:"per_seed,omitempty"`
}

func protocolOf(s *spec.Spec) *Protocol {
	return &Protocol{
		Seeds: s.Seeds, Split: s.Split.Kind, Train: s.Split.Train, Labels: s.Split.Labels, LabelRates: s.LabelRates,
		File: s.Split.File, PerSeed: s.Split.PerSeed(),
	}
}

// DataVersion names the data behind a column, and the sizes of its splits.
type DataVersion struct {
	Column  string `json:"column"`
	Hash    string `json:"hash"` // SHA-256, in hexadecimal
	Samples int    `json:"samples"`
	// Train, Labelled and Test are the sizes of the first split that has results; Labelled are those of
	// the training samples that keep their label. Unused samples are in no part of it.
	Train    int `json:"train"`
	Labelled int `json:"labelled"`
	Test     int `json:"test"`
	Unused   int `json:"unused,omitempty"`
}

// Tuning says how the parameters of rows came about. Rows that are tuned have an entry for each data set
// and number of candidates, since grids may be shorter where a run takes long.
type Tuning struct {
	// Selection is "val" or "test" of tuned rows: chosen on held-out samples or on the test part. It is
	// "paper" where the paper prints the values, and "fixed" where the spec gives them.
	Selection string `json:"selection"`
	// Column, Candidates and Seeds are of tuned rows: the data set, how many settings each row chose
	// from, 1 where the data set leaves one, and the seeds of the tuning.
	Column     string   `json:"column,omitempty"`
	Candidates int      `json:"candidates,omitempty"`
	Seeds      []uint64 `json:"seeds,omitempty"`
	// Rows are the ids of the spec's rows.
	Rows []string `json:"rows"`
}

// selectionOf is how the parameters of a cell came about, in the words of a spec. With one candidate
// nothing is tuned: it is the spec that gives it.
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
		if c.Excluded != "" || c.Point > 0 { // every point of a sweep has as many candidates
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

// TestToTrain is the size of the test part over that of the labelled training samples, which the
// corrected intervals of paired differences need: the largest of the reported splits, and 0 where
// all seeds test the same samples. The baselines learn from the labelled samples alone, and SSDL sees no
// labels of the others: the smaller part is taken for all, which makes the intervals wider.
func TestToTrain(p *run.Plan) (ratio float64) {
	for _, c := range p.Cells {
		if c.Split.SameTest() {
			continue
		}
		for i := range c.Final {
			if s, ok := p.SplitOf(&c.Final[i]); ok && s.Labeled > 0 {
				ratio = max(ratio, float64(s.Test)/float64(s.Labeled))
			}
		}
	}
	return ratio
}
