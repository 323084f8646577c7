package results

import (
	"context"
	"fmt"
	"slices"

	"ssdl/harness/store"
)

// Agreement counts the test samples by which of two rows predicts them right, over the seeds with runs of both.
type Agreement struct {
	Seeds   []uint64         `json:"seeds"`
	Total   AgreementCount   `json:"total"`
	Classes []ClassAgreement `json:"classes"`
}

// ClassAgreement counts the samples of one class.
type ClassAgreement struct {
	Class string `json:"class"`
	AgreementCount
}

// AgreementCount counts test samples, each once for every seed that tests it.
type AgreementCount struct {
	Both    int `json:"both"`
	First   int `json:"first"`  // only the first row is right
	Second  int `json:"second"` // only the second row is right
	Neither int `json:"neither"`
}

// AgreementOf compares the predictions of two explained cells of one data set. It leaves out runs without true
// classes and pairs with different test samples; nil if none are left.
func AgreementOf(ctx context.Context, st *store.Store, a, b Explanation) (*Agreement, error) {
	sets, err := st.Datasets(ctx)
	if err != nil {
		return nil, err
	}
	var names []string
	if i := slices.IndexFunc(sets, func(d store.Dataset) bool { return d.Hash == a.DataHash }); i >= 0 {
		names = sets[i].ClassNames
	}
	var out Agreement
	for _, r := range a.Runs {
		i := slices.IndexFunc(b.Runs, func(o Run) bool { return o.Seed == r.Seed })
		if i < 0 || r.UID == "" || b.Runs[i].UID == "" {
			continue
		}
		_, first, err := st.RunByUID(ctx, r.UID)
		if err != nil {
			return nil, err
		}
		_, second, err := st.RunByUID(ctx, b.Runs[i].UID)
		if err != nil {
			return nil, err
		}
		if len(first.Truth) == 0 || !slices.Equal(first.Truth, second.Truth) ||
			len(first.Predictions) != len(first.Truth) || len(second.Predictions) != len(first.Truth) {
			continue
		}
		out.Seeds = append(out.Seeds, r.Seed)
		for k, y := range first.Truth {
			for len(out.Classes) <= y {
				name := fmt.Sprint(len(out.Classes))
				if n := len(out.Classes); n < len(names) {
					name = names[n]
				}
				out.Classes = append(out.Classes, ClassAgreement{Class: name})
			}
			right := [2]bool{first.Predictions[k] == y, second.Predictions[k] == y}
			out.Total.count(right)
			out.Classes[y].count(right)
		}
	}
	if len(out.Seeds) == 0 {
		return nil, nil
	}
	return &out, nil
}

func (c *AgreementCount) count(right [2]bool) {
	switch right {
	case [2]bool{true, true}:
		c.Both++
	case [2]bool{true, false}:
		c.First++
	case [2]bool{false, true}:
		c.Second++
	default:
		c.Neither++
	}
}
