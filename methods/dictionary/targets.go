package dictionary

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"ssdl/methods"
)

// checkTargets reports why the learner m cannot learn the targets F (C x N) of the problem: see
// Problem.Check.
func checkTargets(method string, m any, p methods.Problem, F *mat.Dense) error {
	if err := p.Check(method, m); err != nil {
		return err
	}
	if F == nil {
		return fmt.Errorf("%s: %w: no targets F", method, methods.ErrInput)
	}
	c, n := F.Dims()
	if c != p.Classes || n != len(p.Labels) {
		return fmt.Errorf("%s: %w: F is %d x %d, want %d classes x %d samples",
			method, methods.ErrInput, c, n, p.Classes, len(p.Labels))
	}
	return methods.CheckFinite(method, "F", F)
}

// hardened returns the problem with the labels that F hardens to, after checkTargets. It leaves out
// the columns of F without an entry above 0, and those whose class has no labelled sample.
func hardened(method string, m any, p methods.Problem, F *mat.Dense) (methods.Problem, error) {
	if err := checkTargets(method, m, p, F); err != nil {
		return p, err
	}
	known := present(p.Labels, p.Classes)
	labels := methods.Harden(F)
	kept := 0
	for j, c := range labels {
		if F.At(c, j) > 0 && known[c] {
			kept++
		} else {
			labels[j] = methods.Unlabeled
		}
	}
	if kept == 0 {
		return p, fmt.Errorf("%s: %w: no column of F has its largest entry, above 0, in a class with a labelled sample",
			method, methods.ErrInput)
	}
	p.Labels = labels
	return p.Labelled(), nil
}

// present marks the classes that have a labelled sample.
func present(labels []int, classes int) []bool {
	out := make([]bool, classes)
	for _, c := range labels {
		if c != methods.Unlabeled {
			out[c] = true
		}
	}
	return out
}

// largest returns, for each column of scores (C x M), the row of the largest entry among the allowed
// rows, the first one on ties.
func largest(scores *mat.Dense, allowed []bool) []int {
	_, m := scores.Dims()
	out := make([]int, m)
	top := make([]float64, m)
	for j := range top {
		top[j] = math.Inf(-1)
	}
	for c, ok := range allowed {
		if !ok {
			continue
		}
		for j, v := range scores.RawRowView(c) {
			if v > top[j] {
				out[j], top[j] = c, v
			}
		}
	}
	return out
}
