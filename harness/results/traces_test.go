package results

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"ssdl/harness/job"
	"ssdl/harness/store"
)

// A cell without a value has a row too, unless no cell has a value.
func TestTraces(t *testing.T) {
	st, _ := predicted(t)
	p := planned(t, head+"metric: {grid: [bce, ce_row]}\nselect: fixed\nrows: [{pretext: hl}]\n")
	read := func(name string) (Traces, error) {
		t.Helper()
		tab, err := TableOf(p, true)
		if err != nil {
			t.Fatal(err)
		}
		return TracesOf(t.Context(), st, p, tab, []string{name})
	}
	if none, err := read("objective"); err != nil || none.Rows != nil {
		t.Fatalf("no runs: %+v, %v", none, err)
	}
	r := store.Run{UID: "with-a-trace", Status: store.StatusOK, Started: time.Unix(9, 0), Series: []store.Point{{Name: "objective", Iteration: 1, Value: 3}, {Name: "objective", Iteration: 2, Value: 2}}}
	j := store.Job{Job: job.Job{DatasetHash: "d", SplitHash: "s0", Eval: job.EvalTest, Pretext: job.Part{Name: "hl"}}, Dataset: "tiny"}
	if err := st.Record(t.Context(), j, r); err != nil {
		t.Fatal(err)
	}
	p.Cells[1].Final[0].Result = &store.Result{UID: r.UID, Metrics: map[string]float64{"ce_row": 1.5}}
	var unknown UnknownTraceError
	if _, err := read("step"); !errors.As(err, &unknown) || len(unknown.Known) != 1 {
		t.Errorf("error %v", err)
	}
	is, err := read("objective")
	if err != nil {
		t.Fatal(err)
	}
	type line struct {
		column, metric string
		state          State
		ends           int
	}
	var got []line
	for _, r := range is.Rows {
		got = append(got, line{r.Column.ID, r.Metric.Name, r.Cell.State, r.Ends[0].N})
	}
	want := []line{{"stanford40", "bce", NotRun, 0}, {"stanford40", "ce_row", OK, 1}, {"sports8", "bce", NotRun, 0}, {"sports8", "ce_row", NotRun, 0}}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(line{})); diff != "" || is.Rows[1].Ends[0].Mean != 2 {
		t.Errorf("%+v (-want +got):\n%s", is.Rows[1], diff)
	}
}
