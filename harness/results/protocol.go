package results

import (
	"fmt"
	"slices"

	"ssdl/harness/data"
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

// DataVersion names the data behind a column.
type DataVersion struct {
	Column string `json:"column"`
	Hash   string `json:"hash"` // SHA-256, in hexadecimal
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
			return t.Selection == is.Selection && t.Column == is.Column && t.Candidates == is.Candidates
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
// corrected intervals of paired differences need; 0 where
// seeds do not change the split. The methods of the baselines learn from the labelled samples
// alone, and what SSDL sees of the others has no labels: the smaller part is taken for all, which
// makes the intervals wider. Of a sweep of label rates it is the smallest, and of index files by seed
// the largest ratio.
func TestToTrain(s *spec.Spec) (float64, error) {
	switch {
	case s.Split.PerSeed():
		return indexRatio(s)
	case s.Split.Kind != "class":
		return 0, nil
	}
	labels := s.Split.Labels
	if len(s.LabelRates) > 0 {
		labels = slices.Min(s.LabelRates)
	}
	return (1 - s.Split.Train) / (s.Split.Train * labels), nil
}

func indexRatio(s *spec.Spec) (ratio float64, err error) {
	for _, seed := range s.Seeds {
		test, labelled, err := data.SplitSizes(s.Split.Path(seed))
		if err != nil {
			return 0, fmt.Errorf("tests between methods need the sizes of the splits: %w", err)
		}
		ratio = max(ratio, float64(test)/float64(labelled))
	}
	return ratio, nil
}
