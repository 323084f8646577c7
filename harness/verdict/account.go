package verdict

import (
	"slices"

	"ssdl/experiments/paper"
	"ssdl/harness/results"
)

// Account is a claim on one data set, with the rows that judge it and what their runs took.
type Account struct {
	Finding
	// Spec is what the spec was asked for by. Metric is that of its table.
	Spec   string         `json:"spec"`
	Metric results.Metric `json:"metric"`
	results.Work
}

// Accounts joins the findings on the table of a spec with what their runs took. spec is what the spec was asked for
// by; work tells of rows on a data set, as results.WorkOf does.
func Accounts(v Verdicts, spec string, work func(column string, rows []string) (results.Work, error)) ([]Account, error) {
	var out []Account
	for _, f := range v.Claims {
		w, err := work(f.Column, rowsOf(f.Claim))
		if err != nil {
			return nil, err
		}
		out = append(out, Account{f, spec, v.Metric, w})
	}
	return out, nil
}

// rowsOf are the ids of the rows that a claim of the paper is about.
func rowsOf(claim string) []string {
	i := slices.IndexFunc(paper.Claims(), func(c paper.Claim) bool { return c.ID == claim })
	c := paper.Claims()[i]
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
