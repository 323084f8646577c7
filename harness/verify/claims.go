package verify

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"ssdl/experiments/paper"
	"ssdl/harness/report"
)

// Decision says what the results make of a claim.
type Decision string

// The decisions on a claim. It is undecided if results are missing that could turn it, if
// the 95 % interval of the paired difference covers the claim's number, or if it does not but one
// of so many comparisons does that by chance.
const (
	Holds     Decision = "holds"
	Fails     Decision = "fails"
	Undecided Decision = "undecided"
)

// Finding is a claim tested on one data set.
type Finding struct {
	Claim string `json:"claim"`
	Quote string `json:"quote"`
	Where string `json:"where"`
	Note  string `json:"note,omitempty"`
	// Column is the data set; StandIn says that it is not the one the claim is about.
	Column  string `json:"column"`
	StandIn bool   `json:"stand_in,omitempty"`
	// Number is the margin or tolerance claimed, in the unit of the table.
	Number   float64  `json:"number"`
	Decision Decision `json:"decision"`
	// Why is the decision in words and numbers.
	Why       string     `json:"why"`
	Contrasts []Contrast `json:"contrasts,omitempty"`

	standsFor string // the data set of the claim, of a stand-in
}

// test evaluates a claim on each of its data sets and on what stands in their place.
func test(t report.Table, c paper.Claim, l paper.Layout, testToTrain float64) []Finding {
	var out []Finding
	for _, set := range slices.Sorted(maps.Keys(c.Columns)) {
		f := Finding{Claim: c.ID, Quote: c.Quote, Where: c.Where, Note: c.Note, Column: set, Number: c.Columns[set]}
		f.Decision, f.Why = Undecided, "no results on this data set"
		at := len(out)
		out = append(out, f)
		for j, col := range t.Columns {
			if col.Published || col.ID != set && col.StandsFor != set {
				continue
			}
			e := evaluator{t, c, l, j, testToTrain}
			g := f
			g.Column, g.StandIn = col.ID, !direct(col)
			g.Decision, g.Why, g.Contrasts = e.decide(g.Number)
			adjust(g.Contrasts)
			if g.StandIn {
				g.standsFor = set
				out = append(out, g)
			} else {
				out[at] = g
			}
		}
	}
	return out
}

// evaluator tests one claim on one column.
type evaluator struct {
	t           report.Table
	c           paper.Claim
	l           paper.Layout
	column      int
	testToTrain float64
}

func (e evaluator) decide(number float64) (Decision, string, []Contrast) {
	if e.c.Readings {
		return e.readings(number)
	}
	switch e.c.Kind {
	case paper.Best, paper.Margin, paper.Similar:
		return e.against(number)
	case paper.Minimum:
		return e.minimum()
	case paper.Flat:
		return e.flat(number)
	case paper.Slower:
		return e.slower()
	}
	return Undecided, fmt.Sprintf("the kind %q is unknown", e.c.Kind), nil
}

// against compares the row with every other one. One that refutes the claim is enough
// for Fails; Holds takes all of them.
func (e evaluator) against(number float64) (Decision, string, []Contrast) {
	row, ok := e.cell(e.c.Row)
	if !ok {
		return Undecided, "no result of " + e.c.Row, nil
	}
	others := e.c.Over
	if len(others) == 0 {
		for _, r := range e.l.Rows() {
			if r.ID != e.c.Row {
				others = append(others, r.ID)
			}
		}
	}
	var contrasts []Contrast
	var missing []string
	for _, id := range others {
		other, ok := e.cell(id)
		if !ok {
			missing = append(missing, id)
			continue
		}
		contrasts = append(contrasts, e.contrast(named(e.c.Row, row)+" over "+named(id, other), e.pairs(row, other)))
	}
	settle(contrasts, e.c.Kind, number)
	d, why := combine(contrasts, missing, e.t.Decimals)
	return d, why, contrasts
}

// combine joins the decisions on the contrasts and names the one that counts most.
func combine(contrasts []Contrast, missing []string, decimals int) (Decision, string) {
	if len(contrasts) == 0 && len(missing) == 0 {
		return Undecided, "nothing to compare with"
	}
	decision := Holds
	var parts []string
	if len(contrasts) > 0 {
		c := slices.MaxFunc(contrasts, moreAdverse)
		decision, parts = c.Decision, append(parts, c.words(decimals))
	}
	if n := len(contrasts); n > 1 {
		parts = append(parts, fmt.Sprintf("the most adverse of %d comparisons", n))
	}
	if len(missing) > 0 {
		parts = append(parts, without(missing))
		if decision == Holds {
			decision = Undecided
		}
	}
	return decision, strings.Join(parts, "; ")
}

// moreAdverse orders contrasts by their decision on a claim, and by their gain where that is the same.
func moreAdverse(a, b Contrast) int {
	rank := func(c Contrast) int { return slices.Index([]Decision{Holds, Undecided, Fails}, c.Decision) }
	return cmp.Or(rank(a)-rank(b), cmp.Compare(b.Gain, a.Gain))
}

// minimum compares the best setting within the claimed range with the best outside.
func (e evaluator) minimum() (Decision, string, []Contrast) {
	inside, outside := -1, -1
	rows := e.t.Rows()
	for i, r := range rows {
		v, swept := r.At[e.c.Setting]
		if !swept || !of(r, e.c.Row) {
			continue
		}
		if r.Cells[e.column].State != report.OK {
			return Undecided, "no result of " + r.ID, nil
		}
		best := &outside
		if v >= e.c.From-rounding && v <= e.c.To+rounding {
			best = &inside
		}
		if *best < 0 || e.better(r.Cells[e.column].Mean, rows[*best].Cells[e.column].Mean) {
			*best = i
		}
	}
	if inside < 0 || outside < 0 {
		return Undecided, fmt.Sprintf("needs values of %s within and outside %g..%g", e.c.Setting, e.c.From, e.c.To), nil
	}
	c := e.between(rows[inside], rows[outside])
	c.Decision = c.judge(paper.Best, 0)
	return c.Decision, c.words(e.t.Decimals), []Contrast{c}
}

// flat compares the best setting of the sweep with the worst. Both are picked by the
// same values that are compared, which overstates the range: Holds is on the safe side.
func (e evaluator) flat(number float64) (Decision, string, []Contrast) {
	best, worst := -1, -1
	var missing []string
	rows := e.t.Rows()
	for i, r := range rows {
		if len(r.At) == 0 || !of(r, e.c.Row) {
			continue
		}
		if r.Cells[e.column].State != report.OK {
			missing = append(missing, r.ID)
			continue
		}
		mean := r.Cells[e.column].Mean
		if best < 0 || e.better(mean, rows[best].Cells[e.column].Mean) {
			best = i
		}
		if worst < 0 || e.better(rows[worst].Cells[e.column].Mean, mean) {
			worst = i
		}
	}
	if best < 0 || best == worst {
		return Undecided, "needs results of at least two settings of " + e.c.Row, nil
	}
	c := e.between(rows[best], rows[worst])
	c.Decision = c.judge(paper.Similar, number)
	d, why := combine([]Contrast{c}, missing, e.t.Decimals)
	return d, why, []Contrast{c}
}

// between contrasts two rows.
func (e evaluator) between(a, b report.Row) Contrast {
	x, y := a.Cells[e.column], b.Cells[e.column]
	return e.contrast(named(a.ID, x)+" over "+named(b.ID, y), e.pairs(x, y))
}

// named is the row's id, with a dagger if its parameters were chosen on the test part.
func named(id string, c report.Cell) string {
	if c.Dagger {
		return id + "†"
	}
	return id
}

// without is as in "no result of nrc, slrc, euler-src and 4 more".
func without(missing []string) string {
	const shown = 3
	if n := len(missing) - shown; n > 1 {
		return fmt.Sprintf("no result of %s and %d more", strings.Join(missing[:shown], ", "), n)
	}
	return "no result of " + strings.Join(missing, ", ")
}

// slower compares what the row and the others lose between the largest and the smallest
// value of the setting.
func (e evaluator) slower() (Decision, string, []Contrast) {
	lowest, highest := math.Inf(1), math.Inf(-1)
	for _, r := range e.t.Rows() {
		if v, ok := r.At[e.c.Setting]; ok && of(r, e.c.Row) {
			lowest, highest = min(lowest, v), max(highest, v)
		}
	}
	if !(lowest < highest) {
		return Undecided, fmt.Sprintf("needs results of %s at two values of %s", e.c.Row, e.c.Setting), nil
	}
	losses := func(id string) (pairs, bool) {
		full, ok := e.at(id, highest)
		few, too := e.at(id, lowest)
		return e.pairs(full, few), ok && too
	}
	own, ok := losses(e.c.Row)
	if !ok {
		return Undecided, fmt.Sprintf("no result of %s at %s = %g and %g", e.c.Row, e.c.Setting, lowest, highest), nil
	}
	var contrasts []Contrast
	var missing []string
	for _, id := range e.c.Over {
		theirs, ok := losses(id)
		if !ok {
			missing = append(missing, id)
			continue
		}
		var less pairs
		for i, seed := range own.seeds {
			if j := slices.Index(theirs.seeds, seed); j >= 0 {
				less.add(seed, theirs.x[j]-theirs.y[j], own.x[i]-own.y[i])
			}
		}
		contrasts = append(contrasts, e.contrast(fmt.Sprintf("%s loses less than %s from %s = %g to %g", e.c.Row, id, e.c.Setting, highest, lowest), less))
	}
	settle(contrasts, paper.Best, 0)
	d, why := combine(contrasts, missing, e.t.Decimals)
	return d, why, contrasts
}

// readings tests the claim at every point of the row's sweep. It holds or fails as it does so at all
// of them; a point without a result leaves it open.
func (e evaluator) readings(number float64) (Decision, string, []Contrast) {
	var contrasts []Contrast // the most adverse of each reading
	count := map[Decision]int{}
	points := 0
	for _, r := range e.t.Rows() {
		row := r.Cells[e.column]
		if r.ID == e.c.Row || !of(r, e.c.Row) || row.State == report.Excluded {
			continue
		}
		if points++; row.State != report.OK {
			continue
		}
		against := make([]Contrast, len(e.c.Over))
		for i, id := range e.c.Over {
			id, other, ok := e.counterpart(r.ID, id)
			if !ok {
				return Undecided, without([]string{id}), nil
			}
			against[i] = e.contrast(named(r.ID, row)+" over "+named(id, other), e.pairs(row, other))
		}
		settle(against, e.c.Kind, number)
		c := slices.MaxFunc(against, moreAdverse)
		count[c.Decision]++
		contrasts = append(contrasts, c)
	}
	if len(contrasts) == 0 {
		return Undecided, "no result of " + e.c.Row, nil
	}
	d := Undecided
	for _, all := range []Decision{Holds, Fails} {
		if count[all] == points {
			d = all
		}
	}
	byGain := func(a, b Contrast) int { return cmp.Compare(a.Gain, b.Gain) }
	why := fmt.Sprintf("holds under %d of %d readings, fails under %d", count[Holds], points, count[Fails])
	if missing := points - len(contrasts); missing > 0 {
		why += fmt.Sprintf(", no result of %d", missing)
	}
	why += "; at best " + slices.MaxFunc(contrasts, byGain).words(e.t.Decimals) + "; at worst " + slices.MinFunc(contrasts, byGain).words(e.t.Decimals)
	return d, why, contrasts
}

// counterpart is the OK cell of the row with this id or, where that row is swept too, of its point
// with the same value as the row point in every setting that it has.
func (e evaluator) counterpart(point, id string) (string, report.Cell, bool) {
	if c, ok := e.cell(id); ok {
		return id, c, true
	}
	_, at, _ := strings.Cut(point, "@")
	has := strings.Fields(at)
	for _, r := range e.t.Rows() {
		_, setting, swept := strings.Cut(r.ID, "@")
		other := func(s string) bool { return !slices.Contains(has, s) }
		if of(r, id) && swept && !slices.ContainsFunc(strings.Fields(setting), other) {
			c := r.Cells[e.column]
			return r.ID, c, c.State == report.OK
		}
	}
	return id, report.Cell{}, false
}

// of reports whether r is the row of this id, or one of its rows in a sweep.
func of(r report.Row, id string) bool {
	return r.ID == id || strings.HasPrefix(r.ID, id+"@")
}

// cell is the OK cell of the row with this id.
func (e evaluator) cell(id string) (report.Cell, bool) {
	for _, r := range e.t.Rows() {
		if r.ID == id {
			return r.Cells[e.column], r.Cells[e.column].State == report.OK
		}
	}
	return report.Cell{}, false
}

// at is the OK cell of a row in a sweep at one value of the claim's setting.
func (e evaluator) at(id string, value float64) (report.Cell, bool) {
	for _, r := range e.t.Rows() {
		if v, ok := r.At[e.c.Setting]; ok && v == value && of(r, id) {
			return r.Cells[e.column], r.Cells[e.column].State == report.OK
		}
	}
	return report.Cell{}, false
}

func (e evaluator) better(a, b float64) bool {
	if e.t.LowerIsBetter {
		return a < b
	}
	return a > b
}

func (e evaluator) pairs(a, b report.Cell) pairs { return paired(a, b, e.t.LowerIsBetter) }

func (e evaluator) contrast(what string, p pairs) Contrast {
	return contrast(what, p, e.testToTrain)
}
