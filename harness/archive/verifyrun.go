package archive

import (
	"fmt"
	"maps"
	"slices"

	"ssdl/harness/metric"
	"ssdl/harness/store"
)

// VerifyRun makes sure that the metrics of a run are in their range and, where its predictions and true
// classes imply them, that they are what these imply. It is a store.Verify: the error is a store.Fault.
func VerifyRun(r store.RunRecord) error {
	fault := func(what, is, want string) error {
		return store.Fault{Table: "metrics", ID: r.Run.UID, What: what, Is: is, Want: want}
	}
	o := metric.Outcome{Truth: r.Run.Truth, Predicted: r.Run.Predictions, Classes: r.Dataset.Classes}
	for _, classes := range [][]int{o.Truth, o.Predicted} {
		if i := slices.IndexFunc(classes, func(c int) bool { return c >= o.Classes }); i >= 0 {
			return store.Fault{Table: "predictions", ID: r.Run.UID, What: fmt.Sprintf("class %d", i), Is: fmt.Sprint(classes[i]), Want: fmt.Sprintf("one of %d", o.Classes)}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(r.Run.Metrics)) {
		m, ok := metric.Lookup(name)
		if !ok {
			continue
		}
		is := r.Run.Metrics[name]
		if !(is >= m.Min && is <= m.Max) {
			return fault(name, number(is), fmt.Sprintf("%s to %s", number(m.Min), number(m.Max)))
		}
		if m.From != metric.Predictions || len(o.Truth) == 0 {
			continue
		}
		if want := m.Of(o); is != want {
			return fault(name, number(is), number(want)+" by its predictions")
		}
	}
	return nil
}
