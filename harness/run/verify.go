package run

import (
	"context"
	"fmt"
	"slices"

	"ssdl/harness/metric"
	"ssdl/harness/store"
)

// Verify checks that the metrics of a run are in their range and agree with its predictions and true classes.
// It is a store.Verify: the error is a store.Fault.
func Verify(r store.RunRecord) error {
	if f := VerifyMetrics(r.Run.UID, r.Run.Metrics, store.Predicted{Predictions: r.Run.Predictions, Truth: r.Run.Truth, Classes: r.Dataset.Classes}); f != nil {
		return *f
	}
	return nil
}

// VerifyMetrics is Verify for the parts of a run; nil if there is no fault.
func VerifyMetrics(uid string, metrics map[string]float64, of store.Predicted) *store.Fault {
	if of.Fault != nil {
		return of.Fault
	}
	for _, list := range [][]int{of.Truth, of.Predictions} {
		if i := slices.IndexFunc(list, func(c int) bool { return c < 0 || c >= of.Classes }); i >= 0 {
			return &store.Fault{Table: "predictions", ID: uid, What: fmt.Sprintf("class %d", i), Is: fmt.Sprint(list[i]), Want: fmt.Sprintf("one of %d", of.Classes)}
		}
	}
	if m := metric.Verify(metrics, metric.Outcome{Truth: of.Truth, Predicted: of.Predictions, Classes: of.Classes}); m != nil {
		return &store.Fault{Table: "metrics", ID: uid, What: m.Name, Is: m.Is, Want: m.Want}
	}
	return nil
}

// verifyResults verifies results against the predictions of their runs, and sets the faults of wrong ones.
func verifyResults(ctx context.Context, st *store.Store, results map[string]store.Result) error {
	var uids []string
	for _, r := range results {
		if r.Fault == nil {
			uids = append(uids, r.UID)
		}
	}
	predicted, err := st.Predictions(ctx, uids)
	if err != nil {
		return err
	}
	for key, r := range results {
		if r.Fault != nil {
			continue
		}
		if r.Fault = VerifyMetrics(r.UID, r.Metrics, predicted[r.UID]); r.Fault != nil {
			r.Metrics = nil
			results[key] = r
		}
	}
	return nil
}
