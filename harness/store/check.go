package store

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
)

// check finds what the caller got wrong, before anything is written.
func check(j Job, r Run) error {
	switch {
	case r.JobKey != "" && r.JobKey != j.Key():
		return fmt.Errorf("it belongs to job %s, not to %s", r.JobKey, j.Key())
	case r.UID == "":
		return errors.New("it has no uid: use NewUID")
	case r.Started.IsZero():
		return errors.New("it has no start time")
	case r.Wall < 0 || r.CPU < 0 || r.Peak < 0:
		return fmt.Errorf("its wall time %v, CPU time %v or peak %d is negative", r.Wall, r.CPU, r.Peak)
	}
	switch r.Status {
	case StatusOK:
		if r.Error != "" {
			return fmt.Errorf("its status is ok, and yet it has an error: %s", r.Error)
		}
	case StatusError, StatusPanic, StatusTimeout, StatusInterrupted, StatusMemory:
		if r.Error == "" {
			return fmt.Errorf("its status is %s, but it does not say why in Error", r.Status)
		}
	default:
		return fmt.Errorf("its status %q is none of ok, error, panic, timeout, interrupted, out of memory", r.Status)
	}
	for _, name := range slices.Sorted(maps.Keys(r.Metrics)) {
		if v := r.Metrics[name]; math.IsNaN(v) || math.IsInf(v, 0) {
			return fmt.Errorf("metric %q is %v", name, v)
		}
	}
	type place struct {
		name      string
		iteration int
	}
	seen := make(map[place]bool, len(r.Series))
	for _, p := range r.Series {
		if math.IsNaN(p.Value) || math.IsInf(p.Value, 0) {
			return fmt.Errorf("series %q is %v at iteration %d", p.Name, p.Value, p.Iteration)
		}
		if at := (place{p.Name, p.Iteration}); seen[at] {
			return fmt.Errorf("series %q has two values at iteration %d", p.Name, p.Iteration)
		} else {
			seen[at] = true
		}
	}
	if r.Command != nil && r.Command.State == "" {
		return errors.New("its Command has no State")
	}
	if len(r.Truth) > 0 && len(r.Truth) != len(r.Predictions) {
		return fmt.Errorf("it has %d predictions of %d samples", len(r.Predictions), len(r.Truth))
	}
	for i, c := range slices.Concat(r.Predictions, r.Truth) {
		if c < 0 {
			return fmt.Errorf("prediction or true class %d is %d", i, c)
		}
	}
	if r.Replaces != "" && r.Status != StatusOK {
		return fmt.Errorf("its status is %s: only a run that is ok replaces another", r.Status)
	}
	return nil
}
