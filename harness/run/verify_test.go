package run

import (
	"errors"
	"math"
	"testing"

	"ssdl/harness/store"
)

func TestVerify(t *testing.T) {
	good := func() store.RunRecord {
		return store.RunRecord{
			Dataset: store.Dataset{Classes: 3},
			Run: store.Run{
				UID: "u", Predictions: []int{0, 1, 2, 2}, Truth: []int{0, 1, 2, 1},
				Metrics: map[string]float64{"accuracy": 0.75, "balanced-accuracy": 2.5 / 3, "bce": 0.5, "test_unconverged": 1e9},
			},
		}
	}
	if err := Verify(good()); err != nil {
		t.Error(err)
	}
	unknown := good()
	unknown.Run.Truth, unknown.Run.Metrics["accuracy"] = nil, 0.25
	if err := Verify(unknown); err != nil {
		t.Errorf("without true classes: %v", err)
	}
	for name, c := range map[string]struct {
		edit func(*store.RunRecord)
		want store.Fault
	}{
		"not implied":      {func(r *store.RunRecord) { r.Run.Metrics["accuracy"] = 0.999 }, store.Fault{Table: "metrics", ID: "u", What: "accuracy", Is: "0.999", Want: "0.75 by its predictions"}},
		"the last bit":     {func(r *store.RunRecord) { r.Run.Metrics["accuracy"] = math.Nextafter(0.75, 1) }, store.Fault{Table: "metrics", ID: "u", What: "accuracy", Is: "0.7500000000000001", Want: "0.75 by its predictions"}},
		"above its range":  {func(r *store.RunRecord) { r.Run.Metrics["accuracy"], r.Run.Truth = 1.399, nil }, store.Fault{Table: "metrics", ID: "u", What: "accuracy", Is: "1.399", Want: "0 to 1"}},
		"below its range":  {func(r *store.RunRecord) { r.Run.Metrics["bce"] = -1e-9 }, store.Fault{Table: "metrics", ID: "u", What: "bce", Is: "-1e-09", Want: ""}},
		"no class of them": {func(r *store.RunRecord) { r.Run.Predictions[1] = 3 }, store.Fault{Table: "predictions", ID: "u", What: "class 1", Is: "3", Want: "one of 3"}},
		"no true class":    {func(r *store.RunRecord) { r.Run.Truth[3] = 100000 }, store.Fault{Table: "predictions", ID: "u", What: "class 3", Is: "100000", Want: "one of 3"}},
	} {
		r := good()
		c.edit(&r)
		var got store.Fault
		if err := Verify(r); !errors.As(err, &got) {
			t.Errorf("%s: %v", name, err)
		}
		if c.want.Want == "" {
			got.Want = ""
		}
		if got != c.want {
			t.Errorf("%s: %+v, want %+v", name, got, c.want)
		}
	}
}
