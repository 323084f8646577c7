package stats

import (
	"errors"
	"fmt"
	"math"
	"slices"
)

// errConstant says that a list has no order.
var errConstant = errors.New("all values of a list are equal: there is no order to compare")

// Spearman returns the rank correlation ρ of two lists, with shared ranks for ties.
func Spearman(x, y []float64) (float64, error) {
	if err := pairs(x, y); err != nil {
		return 0, fmt.Errorf("stats: Spearman's correlation: %w", err)
	}
	rx, ry := rank(x, tolerance(x)), rank(y, tolerance(y))
	mean := float64(len(x)+1) / 2
	var xy, xx, yy float64
	for i := range rx {
		a, b := rx[i]-mean, ry[i]-mean
		xy, xx, yy = xy+a*b, xx+a*a, yy+b*b
	}
	if xx == 0 || yy == 0 {
		return 0, fmt.Errorf("stats: Spearman's correlation: %w", errConstant)
	}
	return clamp(xy / math.Sqrt(xx*yy)), nil
}

// pairs checks the lists of a correlation.
func pairs(x, y []float64) error {
	if len(x) != len(y) {
		return fmt.Errorf("%d values against %d", len(x), len(y))
	}
	if len(x) < 2 {
		return fmt.Errorf("%d value(s), at least 2 are needed", len(x))
	}
	if err := finite("x", x); err != nil {
		return err
	}
	return finite("y", y)
}

// rank returns the ranks of v, 1 for the smallest. A run of values, each within tol of the previous
// one, shares the mean of its ranks.
func rank(v []float64, tol float64) []float64 {
	order := make([]int, len(v))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int { return int(sign(v[i] - v[j])) })
	ranks := make([]float64, len(v))
	for from := 0; from < len(v); {
		to := from + 1
		for to < len(v) && v[order[to]]-v[order[to-1]] <= tol {
			to++
		}
		for _, i := range order[from:to] {
			ranks[i] = float64(from+1+to) / 2
		}
		from = to
	}
	return ranks
}

func sign(v float64) float64 {
	switch {
	case v > 0:
		return 1
	case v < 0:
		return -1
	}
	return 0
}

// clamp limits a correlation to [-1,1], which rounding can exceed.
func clamp(r float64) float64 { return max(-1, min(1, r)) }
