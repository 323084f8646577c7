package catalog_test

import (
	"errors"
	"fmt"
	"reflect"
	"testing"

	"ssdl/methods"
	"ssdl/methods/catalog"
)

// Every parameter at the ends of its range, one at a time: weights so large that all codes vanish,
// steps so small that nothing moves. The outcome is a class for each sample, or an error that says
// what is wrong with the input; never a panic, and never a class out of range.
func TestExtremeParameters(t *testing.T) {
	const huge = 1e9
	w := makeWorld(20, 12, []int{9, 7, 6}, 0.5)
	for _, e := range catalog.All() {
		for _, p := range e.Params() {
			if p.Kind != reflect.Float64 {
				continue
			}
			for _, v := range []float64{max(p.Min, -huge), min(p.Max, huge)} {
				name := fmt.Sprintf("%s/%s=%g", e.Name, p.Name, v)
				t.Run(name, func(t *testing.T) {
					values := catalog.Values{p.Name: v}
					var m methods.Method
					if e.IsPretext() {
						pretext, err := e.Pretext(values)
						if err != nil {
							t.Fatal(err)
						}
						m = scored{pretext}
					} else {
						method, err := e.Method(values)
						if err != nil {
							t.Fatal(err)
						}
						m = method
					}
					model, err := m.Fit(t.Context(), w.problem())
					if errors.Is(err, methods.ErrInput) {
						return
					}
					if err != nil {
						t.Fatalf("fit: %v", err)
					}
					y, err := model.Predict(t.Context(), w.test)
					if errors.Is(err, methods.ErrInput) {
						return
					}
					if err != nil {
						t.Fatalf("predict: %v", err)
					}
					for j, c := range y {
						if c < 0 || c >= w.C {
							t.Fatalf("sample %d is predicted as class %d of %d", j, c, w.C)
						}
					}
				})
			}
		}
	}
}

// The number of atoms need be no multiple of the number of classes, nor below that of samples.
func TestAtomsOfAnyNumber(t *testing.T) {
	w := makeWorld(21, 12, []int{9, 7, 6}, 0.6)
	tried := 0
	for _, e := range catalog.All() {
		for _, p := range e.Params() {
			if p.Name != "K" && p.Name != "atoms" || e.IsPretext() {
				continue
			}
			tried++
			for _, k := range []int{1, 2, 7, 10} {
				m, err := e.Method(catalog.Values{p.Name: k})
				if err != nil {
					t.Fatal(err)
				}
				model, err := m.Fit(t.Context(), w.problem())
				if err == nil {
					_, err = model.Predict(t.Context(), w.test)
				}
				if err != nil && !errors.Is(err, methods.ErrInput) {
					t.Errorf("%s, %s=%d: %v", e.Name, p.Name, k, err)
				}
			}
		}
	}
	if tried < 8 {
		t.Errorf("%d methods have a number of atoms", tried)
	}
}
