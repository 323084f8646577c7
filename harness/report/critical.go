package report

import (
	"fmt"
	"io"
	"math"
	"slices"

	"ssdl/harness/chart"
	"ssdl/harness/sanitize"
)

// CriticalDifference is a diagram of mean ranks after Demšar, "Statistical Comparisons of Classifiers over
// Multiple Data Sets" (JMLR 7, 2006): an axis of ranks with the best on the left, a line from each method
// to its rank, bars over the methods that a post-hoc test does not tell apart, and the critical difference
// above the axis, to scale.
type CriticalDifference struct {
	// Title stands above the diagram, Notes in small print below it.
	Title string
	Notes []string
	// Methods and their mean Ranks are in ascending order of rank.
	Methods []string
	Ranks   []float64
	// TunedOnTest marks methods whose parameters were chosen on the test part, by a † that a line under the
	// title explains. May be nil.
	TunedOnTest []bool
	// Critical is the difference of mean ranks at which two methods differ.
	Critical float64
	// Cliques are ranges from..to of Methods, both included. Each gets a bar.
	Cliques [][2]int
}

// check returns why the diagram cannot be drawn.
func (d CriticalDifference) check() error {
	n := len(d.Methods)
	switch {
	case n < 2:
		return fmt.Errorf("%d method(s), at least 2 are needed", n)
	case len(d.Ranks) != n:
		return fmt.Errorf("%d ranks of %d methods", len(d.Ranks), n)
	case d.TunedOnTest != nil && len(d.TunedOnTest) != n:
		return fmt.Errorf("%d marks of %d methods", len(d.TunedOnTest), n)
	case !slices.IsSorted(d.Ranks) || !(d.Ranks[0] >= 1) || !(d.Ranks[n-1] <= float64(n)):
		return fmt.Errorf("ranks %v, want ascending ones in 1..%d", d.Ranks, n)
	case !(d.Critical > 0) || math.IsInf(d.Critical, 1):
		return fmt.Errorf("critical difference %v, want a positive one", d.Critical)
	}
	for _, c := range d.Cliques {
		if c[0] < 0 || c[0] >= c[1] || c[1] >= n {
			return fmt.Errorf("clique %d..%d of %d methods", c[0], c[1], n)
		}
	}
	return nil
}

// Draw writes the diagram as "png" or "svg".
func (d CriticalDifference) Draw(w io.Writer, format string) error {
	if err := d.check(); err != nil {
		return fmt.Errorf("critical-difference diagram: %w", err)
	}
	c := chart.Ranks{Title: d.Title, Heading: d.Title, Ranks: d.Ranks, Critical: d.Critical, Cliques: d.Cliques}
	for i, m := range d.Methods {
		c.Names = append(c.Names, withDagger(sanitize.Line(m), d.TunedOnTest != nil && d.TunedOnTest[i]))
	}
	if slices.Contains(d.TunedOnTest, true) {
		c.Notes = append(c.Notes, "† "+TunedOnTestText)
	}
	c.Notes = append(c.Notes, d.Notes...)
	if err := c.Draw().Write(w, format); err != nil {
		return fmt.Errorf("critical-difference diagram: %w", err)
	}
	return nil
}
