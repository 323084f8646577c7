package verdict

import (
	"errors"
	"slices"
	"testing"

	"ssdl/experiments/paper"
	"ssdl/harness/results"
)

// An account has the rows of its claim: those that it names, or all of the paper's table.
func TestAccountsAskForTheRowsOfAClaim(t *testing.T) {
	l := paper.Tables()[0]
	v := verdicts(t, table(l, []results.Column{{ID: "stanford40"}}, nil), "table1")
	asked := map[string][]string{}
	at := 0
	list, err := Accounts(v, "mine.yaml", func(column string, rows []string) (results.Work, error) {
		if column != v.Claims[at].Column {
			t.Errorf("asked for %s, want %s", column, v.Claims[at].Column)
		}
		asked[v.Claims[at].Claim] = rows
		at++
		return results.Work{Rows: rows}, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(list) != len(v.Claims) || len(list) == 0 {
		t.Fatalf("%d accounts of %d findings", len(list), len(v.Claims))
	}
	var all []string
	for _, r := range l.Rows() {
		all = append(all, r.ID)
	}
	if got := asked["ssdl-best"]; got[0] != "ssdl" || !slices.Equal(slices.Sorted(slices.Values(got)), slices.Sorted(slices.Values(all))) {
		t.Errorf("ssdl-best is about %v, want ssdl and the other rows of %v", got, all)
	}
	if got := asked["pseudo-labels-help-tuned"]; !slices.Equal(got, []string{"ssdl-tuned", "ssdl-labelled-tuned"}) {
		t.Errorf("pseudo-labels-help-tuned is about %v", got)
	}
	for i, a := range list {
		if a.Claim != v.Claims[i].Claim || a.Spec != "mine.yaml" || a.Metric != v.Metric || !slices.Equal(a.Rows, asked[a.Claim]) {
			t.Errorf("account %d: %+v", i, a)
		}
	}
	bad := errors.New("disk is gone")
	if _, err := Accounts(v, "", func(string, []string) (results.Work, error) { return results.Work{}, bad }); !errors.Is(err, bad) {
		t.Errorf("error %v", err)
	}
}
