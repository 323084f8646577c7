package verdict

import (
	"slices"

	"ssdl/experiments/paper"
	"ssdl/harness/results"
)

// Account is a claim on one data set, with the rows that decide it and what their runs cost.
type Account struct {
	Finding
	// Spec is the spec as the user named it. Metric is the metric of its table.
	Spec   string         `json:"spec"`
	Metric results.Metric `json:"metric"`
	results.Work
}

// Accounts joins the findings on the table of a spec with the cost of their runs. spec is the spec
// as the user named it. work returns the cost of rows on a data set, as results.WorkOf does.
func Accounts(v Verdicts, spec string, work func(column string, rows []string) (results.Work, error)) ([]Account, error) {
	var out []Account
	for _, f := range v.Claims {
		i := slices.IndexFunc(paper.Claims(), func(c paper.Claim) bool { return c.ID == f.Claim })
		w, err := work(f.Column, comparedRows(paper.Claims()[i]))
		if err != nil {
			return nil, err
		}
		out = append(out, Account{f, spec, v.Metric, w})
	}
	return out, nil
}

// comparedRows returns the ids of the rows that a claim compares: its own row, then the rows it
// names or else all others of the paper's table.
func comparedRows(c paper.Claim) []string {
	ids := append([]string{c.Row}, c.Over...)
	for _, l := range paper.Tables() {
		for _, r := range l.Rows() {
			if l.ID == c.Table && len(c.Over) == 0 && r.ID != c.Row {
				ids = append(ids, r.ID)
			}
		}
	}
	return ids
}
