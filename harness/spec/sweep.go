package spec

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v4"
)

// Bounds against mistakes such as a step of 1e-9, far above any experiment.
const (
	maxPoints     = 1000  // of one sweep
	maxCandidates = 5000  // of one row on one data set: sweep points times candidates
	maxSettings   = 20000 // of a spec
	maxSeeds      = 1000
	maxRows       = 1000
)

const sweepForms = "{grid: [..]}, {range: [low, high, step]} or {log2: [low, high, step]}"

// sweep reads the values of a sweep in one of its three forms; nil if there is a fault.
func (f *faults) sweep(n *yaml.Node, r ref) []any {
	if n.Kind != yaml.MappingNode {
		f.at(n, "%s: parameter %s: to try several values write %s, not %s", r.entry.Name, r.param.Name, sweepForms, kind(n))
		return nil
	}
	forms := f.fields(n, "a sweep", "grid", "range", "log2")
	if len(forms) != 1 {
		if len(n.Content) == 0 || len(forms) > 1 {
			f.at(n, "a sweep has one of the forms %s", sweepForms)
		}
		return nil
	}
	if list := forms["grid"]; list != nil {
		return f.values(list, r, true)
	}
	var values []float64
	var err error
	at := forms["range"]
	if at != nil {
		values, err = spread(at)
	} else {
		at = forms["log2"]
		values, err = powers(at)
	}
	if err != nil {
		f.at(at, "%v", err)
		return nil
	}
	out := make([]any, len(values))
	for i, v := range values {
		if out[i], err = r.check(v); err != nil {
			f.at(at, "%v", err)
			return nil
		}
	}
	return out
}

// values reads a list of values; nil if there is a fault. With distinct a repeated value is a fault.
func (f *faults) values(list *yaml.Node, r ref, distinct bool) []any {
	items := f.items(list, "a grid")
	if len(items) > maxPoints {
		f.at(list, "a grid of %d values is too long; at most %d", len(items), maxPoints)
		return nil
	}
	var out []any
	for _, item := range items {
		v, err := r.scalar(item)
		switch {
		case err != nil:
			f.at(item, "%v", err)
		case distinct && slices.Contains(out, v):
			f.at(item, "%s is twice in the grid", FormatValue(v))
		default:
			out = append(out, v)
		}
	}
	if len(out) < len(items) {
		return nil
	}
	return out
}

// numbers reads a list of at least low and at most high numbers.
func numbers(n *yaml.Node, form string, low, high int) ([]float64, error) {
	if n.Kind != yaml.SequenceNode || len(n.Content) < low || len(n.Content) > high {
		return nil, fmt.Errorf("write %s", form)
	}
	out := make([]float64, len(n.Content))
	for i, item := range n.Content {
		v, err := number(item)
		if err != nil {
			return nil, err
		}
		out[i] = v
	}
	return out, nil
}

// spread reads {range: [low, high, step]}: low, low + step, ... up to high. The sums are exact in decimal,
// so the values equal those of a grid.
func spread(n *yaml.Node) ([]float64, error) {
	v, err := numbers(n, "{range: [low, high, step]}", 3, 3)
	if err != nil {
		return nil, err
	}
	if v[2] <= 0 || v[1] < v[0] {
		return nil, errors.New("a range goes up: low <= high, step > 0")
	}
	if (v[1]-v[0])/v[2] > maxPoints {
		return nil, fmt.Errorf("a range of more than %d values is too long", maxPoints)
	}
	at, high, step := exact(v[0]), exact(v[1]), exact(v[2])
	var out []float64
	for at.Cmp(high) <= 0 {
		if len(out) == maxPoints { // the test above is of rounded numbers, and counts steps
			return nil, fmt.Errorf("a range of more than %d values is too long", maxPoints)
		}
		x, _ := at.Float64()
		out = append(out, x)
		at.Add(at, step)
	}
	return out, nil
}

// exact is the exact value of the shortest decimal form of x.
func exact(x float64) *big.Rat {
	r, _ := new(big.Rat).SetString(strconv.FormatFloat(x, 'g', -1, 64))
	return r
}

// powers reads {log2: [low, high, step]}: the powers of two with these exponents.
func powers(n *yaml.Node) ([]float64, error) {
	v, err := numbers(n, "{log2: [low, high]} or {log2: [low, high, step]}", 2, 3)
	if err != nil {
		return nil, err
	}
	low, high, step := v[0], v[1], 1.0
	if len(v) == 3 {
		step = v[2]
	}
	for _, x := range []float64{low, high, step} {
		if x != math.Trunc(x) || math.Abs(x) > 1000 {
			return nil, fmt.Errorf("the exponents and the step of log2 are whole numbers from -1000 to 1000, not %v", x)
		}
	}
	if step <= 0 || high < low {
		return nil, errors.New("log2 goes up: low <= high, step > 0")
	}
	var out []float64
	for e := low; e <= high; e += step {
		out = append(out, math.Ldexp(1, int(e)))
	}
	if len(out) > maxPoints {
		return nil, fmt.Errorf("a sweep of %d values is too long; at most %d", len(out), maxPoints)
	}
	return out, nil
}

// ParseSeeds reads seeds of specs and the command line: "1000..1007", "1000,1003", or both mixed. A
// duplicate seed is an error.
func ParseSeeds(s string) ([]uint64, error) {
	var out []uint64
	seen := map[uint64]bool{}
	for item := range strings.SplitSeq(s, ",") {
		low, high, isRange := strings.Cut(strings.TrimSpace(item), "..")
		if !isRange {
			high = low
		}
		from, err1 := strconv.ParseUint(strings.TrimSpace(low), 10, 64)
		to, err2 := strconv.ParseUint(strings.TrimSpace(high), 10, 64)
		switch {
		case err1 != nil || err2 != nil:
			return nil, fmt.Errorf("%q is not a seed. Write whole numbers from 0, e.g. 1000..1007 or 1000,1003", item)
		case to < from:
			return nil, fmt.Errorf("the range of seeds %q goes down; write %d..%d", item, to, from)
		case to-from >= maxSeeds || len(out)+int(to-from) >= maxSeeds:
			return nil, fmt.Errorf("more than %d seeds", maxSeeds)
		}
		for i := range to - from + 1 {
			seed := from + i
			if seen[seed] {
				return nil, fmt.Errorf("seed %d is given twice", seed)
			}
			seen[seed] = true
			out = append(out, seed)
		}
	}
	return out, nil
}

// FormatSeeds is the inverse of ParseSeeds. It writes three or more consecutive seeds as a range.
func FormatSeeds(seeds []uint64) string {
	var parts []string
	for i := 0; i < len(seeds); {
		j := i + 1
		for j < len(seeds) && seeds[j]-seeds[i] == uint64(j-i) && seeds[j] > seeds[i] {
			j++
		}
		if j-i > 2 {
			parts = append(parts, fmt.Sprintf("%d..%d", seeds[i], seeds[j-1]))
		} else {
			j = i + 1
			parts = append(parts, strconv.FormatUint(seeds[i], 10))
		}
		i = j
	}
	return strings.Join(parts, ",")
}
