package catalog_test

import (
	"context"
	"errors"
	"math"
	"reflect"
	"testing"

	"gonum.org/v1/gonum/mat"

	"ssdl/methods"
	"ssdl/methods/catalog"
	"ssdl/methods/param"
)

// run calls the Fit, FitTargets and PseudoLabels that m has on an easy problem, and returns the
// errors that come first.
func run(ctx context.Context, m any) []error {
	w := makeWorld(22, 12, []int{9, 7, 6}, 0.6)
	p := w.problem()
	var errs []error
	if m, ok := m.(methods.Method); ok {
		_, err := m.Fit(ctx, p)
		errs = append(errs, err)
	}
	if m, ok := m.(methods.Learner); ok {
		_, err := m.FitTargets(ctx, p, softTargets(w))
		errs = append(errs, err)
		_, err = methods.Supervised("supervised", m).Fit(ctx, p)
		errs = append(errs, err)
	}
	if m, ok := m.(methods.Pretext); ok {
		_, err := m.PseudoLabels(ctx, p)
		errs = append(errs, err)
	}
	return errs
}

// each returns the errors that were joined.
func each(err error) []error {
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		return joined.Unwrap()
	}
	return []error{err}
}

// The zero value of a method works, or says which parameters are not set.
func TestZeroValues(t *testing.T) {
	for _, e := range catalog.All() {
		errs := run(t.Context(), e.Proto)
		if len(errs) == 0 {
			t.Errorf("%s can do nothing", e.Name)
		}
		missing := map[string]bool{}
		for _, p := range param.Of(e.Proto) {
			if _, err := p.Check(reflect.Zero(reflect.TypeOf(p.Default)).Interface()); err != nil {
				missing[p.Name] = true
			}
		}
		for i, err := range errs {
			if err == nil && len(missing) == 0 {
				continue
			}
			if got := len(each(err)); got != len(missing) {
				t.Errorf("%s: %d errors, want one for each of %v: %v", e.Name, got, missing, err)
			}
			for _, err := range each(err) {
				var wrong *param.Error
				if !errors.As(err, &wrong) || !wrong.Missing || !missing[wrong.Param] {
					t.Errorf("%s: the error %q is not about one of the parameters %v that are not set", e.Name, err, missing)
					continue
				}
				// Supervised uses the name that it was given.
				if name := wrong.Method; name != e.Name && (i == 0 || name != "supervised") {
					t.Errorf("%s: the error %q names another method", e.Name, err)
				}
			}
		}
	}
}

// Whoever sets a field to what its tag forbids is told so before anything is computed: a number
// beside its bounds, infinite or NaN, a string that is not a choice.
func TestParametersOutOfRange(t *testing.T) {
	tried := 0
	for _, e := range catalog.All() {
		good, err := e.Complete(nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range e.Params() {
			var wrong []any
			switch p.Kind {
			case reflect.Float64:
				wrong = []any{math.NaN(), math.Inf(1), math.Inf(-1)}
				if !math.IsInf(p.Min, 0) {
					wrong = append(wrong, math.Nextafter(p.Min, math.Inf(-1)))
				}
				if !math.IsInf(p.Max, 0) {
					wrong = append(wrong, math.Nextafter(p.Max, math.Inf(1)))
				}
			case reflect.Int:
				if math.IsInf(p.Min, 0) {
					t.Errorf("%s.%s has no least value", e.Name, p.Name)
				}
				wrong = []any{int(p.Min) - 1}
				if !math.IsInf(p.Max, 0) {
					wrong = append(wrong, int(p.Max)+1)
				}
			case reflect.String:
				if len(p.Choices) < 2 {
					t.Errorf("%s.%s has the choices %v", e.Name, p.Name, p.Choices)
				}
				wrong = []any{"no such choice"}
			}
			for _, v := range wrong {
				tried++
				values := catalog.Values{}
				for name, v := range good {
					values[name] = v
				}
				values[p.Name] = v
				for _, err := range run(t.Context(), param.With(e.Proto, values)) {
					var bad *param.Error
					if !errors.As(err, &bad) || bad.Param != p.Name || bad.Missing != reflect.ValueOf(v).IsZero() {
						t.Errorf("%s with %s = %v: error %v", e.Name, p.Name, v, err)
					}
				}
			}
		}
	}
	if tried < 300 {
		t.Errorf("%d values tried", tried)
	}
}

// Parameters are checked before the problem: nothing is said of data that never mattered.
func TestParametersComeFirst(t *testing.T) {
	for _, e := range catalog.All() {
		m, ok := e.Proto.(methods.Method)
		if !ok {
			continue
		}
		var wrong *param.Error
		if _, err := m.Fit(t.Context(), methods.Problem{X: &mat.Dense{}}); !errors.As(err, &wrong) {
			t.Errorf("%s: error %v", e.Name, err)
		}
	}
}
