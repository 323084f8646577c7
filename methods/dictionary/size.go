package dictionary

import (
	"fmt"
	"math"

	"ssdl/methods"
)

// mostAtoms bounds the atoms of a dictionary: at most so many for each training sample or each
// feature, whichever are more. Beyond that an atom has nothing to learn from, and memory grows
// with the square of the atoms.
const mostAtoms = 4

// size says how many atoms a method learns: as many as given, or, if given is 0, share times what of
// names. All methods with atoms have these three parameters:
//
//   - K (or atoms, for each class) is given;
//   - size is share, size_of is of: "all" training columns that the method learns from, the
//     "labelled" ones among the columns of its problem, or the features ("dim").
//
// Behind a pretext a method learns from all columns, and p.Labels says which ones are labelled;
// without one it sees the labelled columns alone. There is at least one atom.
//
// Where atoms belong to classes (ADDL, DPL, LC-PDL, FDDL, CSDL, the first stage of CDLF), a class
// has share times its own columns, its own labelled columns, or an equal part of the features,
// rounded up. In total that is about share times what of names, as for the other methods, whose K is
// rounded down.
type size struct {
	// method is the method's name, param that of given: for errors.
	method, param string
	given         int
	share         float64
	of            string
}

// The values of size_of.
const (
	ofAll      = "all"
	ofLabelled = "labelled"
	ofDim      = "dim"
)

// total returns the number of atoms for p. The method learns from q, which is p or a part of it.
func (z size) total(p, q methods.Problem) (int, error) {
	k, err := z.unrounded(p, q)
	return wholeBelow(k), err
}

// unrounded is total before it is rounded.
func (z size) unrounded(p, q methods.Problem) (float64, error) {
	dim, _ := p.X.Dims()
	if z.given > 0 {
		return float64(z.given), z.check(1, len(q.Labels), dim)
	}
	switch z.of {
	case ofLabelled:
		return z.share * float64(countLabelled(p.Labels)), nil
	case ofDim:
		return z.share * float64(dim), nil
	}
	return z.share * float64(len(q.Labels)), nil
}

// perClass returns the number of atoms of each class, 0 for a class without samples. The method
// learns from q, a part of p without unlabelled columns.
func (z size) perClass(p, q methods.Problem) ([]int, error) {
	dim, _ := p.X.Dims()
	own, labelled := make([]int, p.Classes), make([]int, p.Classes)
	for _, c := range q.Labels {
		own[c]++
	}
	for _, c := range p.Labels {
		if c != methods.Unlabeled {
			labelled[c]++
		}
	}
	classes := 0
	for _, n := range own {
		if n > 0 {
			classes++
		}
	}
	atoms := make([]int, p.Classes)
	for c, n := range own {
		switch {
		case n == 0:
		case z.given > 0:
			atoms[c] = z.given
		case z.of == ofLabelled:
			atoms[c] = wholeAbove(z.share * float64(labelled[c]))
		case z.of == ofDim:
			atoms[c] = wholeAbove(z.share * float64(dim) / float64(classes))
		default:
			atoms[c] = wholeAbove(z.share * float64(n))
		}
	}
	return atoms, z.check(classes, len(q.Labels), dim)
}

// check refuses a given number of atoms, for each of the classes, far above the samples.
func (z size) check(classes, samples, dim int) error {
	most := max(1, mostAtoms*max(samples, dim)/classes)
	if z.given <= most {
		return nil
	}
	what := ""
	if classes > 1 {
		what = fmt.Sprintf(" for each of %d classes", classes)
	}
	return fmt.Errorf("%s: %w: %s = %d%s is more than %d times the %d training samples and the %d features; choose at most %d",
		z.method, methods.ErrInput, z.param, z.given, what, mostAtoms, samples, dim, most)
}

// A product such as 0.7 x 90 may lie beside its decimal value; slack makes it whole again.
const slack = 1e-9

// wholeBelow rounds down, to at least 1.
func wholeBelow(v float64) int { return max(1, int(math.Floor(v+slack))) }

// wholeAbove rounds up, to at least 1.
func wholeAbove(v float64) int { return max(1, int(math.Ceil(v-slack))) }

// atMost bounds the number of atoms that n samples of dim features can have, for estimates: all of
// them may be labelled, and what check refuses needs no memory.
func (z size) atMost(dim, n, classes int) int {
	switch {
	case z.given > 0:
		return min(z.given, max(1, mostAtoms*max(n, dim)/classes)) * classes
	case z.of == ofDim:
		return wholeAbove(z.share * float64(dim))
	}
	return wholeAbove(z.share * float64(n))
}

// traceAtoms traces the number of atoms of all classes.
func traceAtoms(trace methods.Trace, perClass []int) {
	total := 0
	for _, k := range perClass {
		total += k
	}
	trace.Add("atoms", 0, float64(total))
}

func countLabelled(labels []int) int {
	n := 0
	for _, c := range labels {
		if c != methods.Unlabeled {
			n++
		}
	}
	return n
}
