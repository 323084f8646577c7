package verdict

import (
	"cmp"
	"maps"
	"math"
	"slices"

	"ssdl/experiments/paper"
	"ssdl/harness/compare"
	"ssdl/harness/results"
	"ssdl/harness/stats"
)

// Decision is what the results say of a claim.
type Decision string

// The decisions on a claim. A claim is undecided if rows without results could change the decision, if
// the 95 % interval of the paired difference covers the claimed number, or if the difference is not
// significant after Holm's correction. Differences are over the common seeds; see Finding.Incomplete. It is not
// tested if results are missing without which there is no difference to test.
const (
	Holds     Decision = "holds"
	Fails     Decision = "fails"
	Undecided Decision = "undecided"
	NotTested Decision = "not tested"
)

// Finding is the decision on a claim on one data set.
type Finding struct {
	Claim string `json:"claim"`
	Quote string `json:"quote"`
	Where string `json:"where"`
	Note  string `json:"note,omitempty"`
	// Variant is true if the claim is tested on a row that is not in the paper.
	Variant bool `json:"variant,omitempty"`
	// Kind is how the claim is tested, Row the row it is about. Setting is the swept setting of a
	// claim of kind Minimum or Slower. From and To bound the claimed minimum, or are the smallest
	// and largest value of the setting.
	Kind    paper.Kind `json:"kind"`
	Row     string     `json:"row"`
	Setting string     `json:"setting,omitempty"`
	From    float64    `json:"from,omitempty"`
	To      float64    `json:"to,omitempty"`
	// Column is the data set. If it is a stand-in, StandsFor is the data set of the claim.
	Column    string `json:"column"`
	StandsFor string `json:"stands_for,omitempty"`
	// Number is the claimed margin or tolerance, in the unit of the table.
	Number   float64  `json:"number"`
	Decision Decision `json:"decision"`
	// Lacks is the result without which the claim cannot be tested. It is empty unless Decision is NotTested.
	Lacks Lack `json:"lacks,omitempty"`
	// Missing are further rows of the claim that have no result.
	Missing   []string   `json:"missing,omitempty"`
	Contrasts []Contrast `json:"contrasts,omitempty"`
	// Decisive is the index of the contrast most adverse to the claim; nil without contrasts and
	// for a claim about variants.
	Decisive *int `json:"decisive,omitempty"`
	// Variants is set for a claim about every setting of a sweep.
	Variants *Variants `json:"variants,omitempty"`
}

// Better reports whether the claim fails since the row is better than claimed, not similar.
func (f Finding) Better() bool {
	return f.Decision == Fails && f.Decisive != nil && f.BetterIn(f.Contrasts[*f.Decisive])
}

// BetterIn reports whether a contrast of the finding alone contradicts the claim in that way.
func (f Finding) BetterIn(c Contrast) bool {
	return f.Kind == paper.Similar && c.Decision == Fails && c.Gain > 0
}

// Incomplete reports whether results that the claim is about are missing: of rows, settings or seeds.
func (f Finding) Incomplete() bool {
	return len(f.Missing) > 0 || f.Variants != nil && f.Variants.Missing > 0 ||
		slices.ContainsFunc(f.Contrasts, func(c Contrast) bool { return c.N < c.RequestedSeeds })
}

// Variants counts the settings of a sweep by the decision on the claim at each. Finding.Contrasts
// then has the most adverse contrast of each setting.
type Variants struct {
	All int `json:"all"`
	// Missing settings lack a result of the row, or of one that it is compared with.
	Missing int `json:"missing"`
	// Holds and Fails are after correction for the number of settings (Benjamini and Hochberg): an
	// expected share of at most 5 % of them is wrong. Alone has the numbers before the correction.
	Holds int `json:"holds"`
	Fails int `json:"fails"`
	Alone struct {
		Holds int `json:"holds"`
		Fails int `json:"fails"`
	} `json:"alone"`
	// Best and Worst are the indices of the contrasts with the largest and the smallest gain.
	Best  int `json:"best"`
	Worst int `json:"worst"`
}

// Lack is a kind of result without which a claim cannot be tested.
type Lack string

// The kinds of missing results.
const (
	LacksColumn   Lack = "results on the data set"
	LacksRow      Lack = "a result of the row" // of Finding.Row, or of the rows in Missing
	LacksRange    Lack = "values of the setting within and outside the claimed range"
	LacksSettings Lack = "results at two settings"
	LacksEnds     Lack = "results of the row at both ends of the setting"
)

// test tests a claim on each of its data sets and their stand-ins.
func test(t results.Table, c paper.Claim, testToTrain float64) []Finding {
	var out []Finding
	for _, set := range slices.Sorted(maps.Keys(c.Columns)) {
		f := Finding{
			Claim: c.ID, Quote: c.Quote, Where: c.Where, Note: c.Note, Variant: c.Variant, Kind: c.Kind, Row: c.Row, Setting: c.Setting, From: c.From, To: c.To,
			Column: set, Number: c.Columns[set], Decision: NotTested,
		}
		at := len(out)
		out = append(out, f)
		out[at].Lacks = LacksColumn
		for j, col := range t.Columns {
			if col.Published || col.ID != set && col.StandsFor != set {
				continue
			}
			g := f
			g.Decision = Undecided
			e := evaluator{t, c, j, testToTrain, &g}
			if e.decide(); g.Lacks != "" {
				g.Decision = NotTested
			}
			adjust(g.Contrasts)
			if g.Column = col.ID; col.IsPapers() {
				out[at] = g
			} else {
				g.StandsFor = set
				out = append(out, g)
			}
		}
	}
	return out
}

// evaluator tests one claim on one column and fills in the finding.
type evaluator struct {
	t           results.Table
	c           paper.Claim
	column      int
	testToTrain float64
	*Finding
}

func (e *evaluator) decide() {
	switch {
	case e.c.Readings:
		e.testVariants()
	case e.Kind == paper.Minimum:
		e.testMinimum()
	case e.Kind == paper.Flat:
		e.testFlat()
	case e.Kind == paper.Slower:
		e.testSlower()
	default:
		e.testAgainstOthers()
	}
}

// testAgainstOthers compares the row with every other one. One refutation makes the claim fail; it
// holds only if all contrasts support it.
func (e *evaluator) testAgainstOthers() {
	row, ok := e.okRow(e.c.Row)
	if !ok {
		e.Lacks = LacksRow
		return
	}
	for _, id := range comparedRows(e.c)[1:] {
		other, ok := e.okRow(id)
		if !ok {
			e.Missing = append(e.Missing, id)
			continue
		}
		e.Contrasts = append(e.Contrasts, e.contrast(row, other))
	}
	e.decideContrasts(e.Kind, e.Number)
}

// decideContrasts decides the claim by its contrasts; without any it is not tested.
func (e *evaluator) decideContrasts(kind paper.Kind, number float64) {
	if len(e.Contrasts) == 0 {
		e.Lacks = LacksRow
		return
	}
	decideFamily(e.Contrasts, kind, number)
	e.combine()
}

// combine decides the claim by the most adverse contrast.
func (e *evaluator) combine() {
	if len(e.Contrasts) > 0 {
		most := 0
		for i := range e.Contrasts {
			if moreAdverse(e.Contrasts[i], e.Contrasts[most]) > 0 {
				most = i
			}
		}
		e.Decisive, e.Decision = &most, e.Contrasts[most].Decision
	}
	if len(e.Missing) > 0 && e.Decision == Holds {
		e.Decision = Undecided
	}
}

// moreAdverse orders contrasts by how much they speak against a claim: by decision, then by gain.
func moreAdverse(a, b Contrast) int {
	rank := func(c Contrast) int { return slices.Index([]Decision{Holds, Undecided, Fails}, c.Decision) }
	return cmp.Or(rank(a)-rank(b), cmp.Compare(b.Gain, a.Gain))
}

// testMinimum compares the best setting within the claimed range with the best outside.
func (e *evaluator) testMinimum() {
	var inside, outside *results.Row
	for _, r := range e.t.Rows() {
		v, swept := r.Setting.Number(e.Setting)
		if !swept || r.Base != e.c.Row {
			continue
		}
		if r.Cells[e.column].State != results.OK {
			e.Lacks, e.Missing = LacksRow, []string{r.ID}
			return
		}
		best := &outside
		if v >= e.From-compare.Rounding && v <= e.To+compare.Rounding {
			best = &inside
		}
		if *best == nil || e.better(r, **best) {
			*best = &r
		}
	}
	if inside == nil || outside == nil {
		e.Lacks = LacksRange
		return
	}
	e.decideSingle(e.contrast(*inside, *outside), paper.Best, 0)
}

// decideSingle decides a claim by a single contrast.
func (e *evaluator) decideSingle(c Contrast, kind paper.Kind, number float64) {
	c.Decision = c.judge(kind, number)
	e.Contrasts = []Contrast{c}
	e.combine()
}

// testFlat compares the best setting of the sweep with the worst. The compared values also select
// the two, which overstates their difference: Holds is conservative.
func (e *evaluator) testFlat() {
	var best, worst *results.Row
	for _, r := range e.t.Rows() {
		if len(r.Setting) == 0 || r.Base != e.c.Row {
			continue
		}
		if r.Cells[e.column].State != results.OK {
			e.Missing = append(e.Missing, r.ID)
			continue
		}
		if best == nil || e.better(r, *best) {
			best = &r
		}
		if worst == nil || e.better(*worst, r) {
			worst = &r
		}
	}
	if best == nil || best.ID == worst.ID {
		e.Lacks = LacksSettings
		return
	}
	e.decideSingle(e.contrast(*best, *worst), paper.Similar, e.Number)
}

// contrast is the contrast of two rows.
func (e *evaluator) contrast(a, b results.Row) Contrast {
	x, y := a.Cells[e.column], b.Cells[e.column]
	return newContrast(e.side(a), e.side(b), compare.Pair(x, y, e.t.Metric), x.RequestedSeeds, e.testToTrain)
}

func (e *evaluator) side(r results.Row) Side {
	return Side{Row: r.ID, Setting: r.Setting, TunedOnTest: r.Cells[e.column].TunedOnTest}
}

// testSlower compares the losses of the row and of the others between the largest and the smallest
// value of the setting.
func (e *evaluator) testSlower() {
	e.From, e.To = math.Inf(1), math.Inf(-1)
	for _, r := range e.t.Rows() {
		if v, ok := r.Setting.Number(e.Setting); ok && r.Base == e.c.Row {
			e.From, e.To = min(e.From, v), max(e.To, v)
		}
	}
	if !(e.From < e.To) {
		e.Lacks, e.From, e.To = LacksSettings, 0, 0
		return
	}
	losses := func(id string) (compare.Pairs, Side, bool) {
		full, ok := e.okRowAt(id, e.To)
		few, too := e.okRowAt(id, e.From)
		if !ok || !too {
			return compare.Pairs{}, Side{}, false
		}
		tuned := full.Cells[e.column].TunedOnTest || few.Cells[e.column].TunedOnTest
		return compare.Pair(full.Cells[e.column], few.Cells[e.column], e.t.Metric), Side{Row: id, TunedOnTest: tuned}, true
	}
	own, row, ok := losses(e.c.Row)
	if !ok {
		e.Lacks = LacksEnds
		return
	}
	full, _ := e.okRowAt(e.c.Row, e.To)
	requested := full.Cells[e.column].RequestedSeeds
	for _, id := range e.c.Over {
		theirs, over, ok := losses(id)
		if !ok {
			e.Missing = append(e.Missing, id)
			continue
		}
		var less compare.Pairs
		for i, seed := range own.Seeds {
			if j := slices.Index(theirs.Seeds, seed); j >= 0 {
				less.Add(seed, theirs.X[j]-theirs.Y[j], own.X[i]-own.Y[i])
			}
		}
		e.Contrasts = append(e.Contrasts, newContrast(row, over, less, requested, e.testToTrain))
	}
	e.decideContrasts(paper.Best, 0)
}

// testVariants tests the claim at every setting of the row's sweep. The claim holds or fails if it
// does so at all of them. It is undecided if a setting has no result, or a row of the claim has none for it.
func (e *evaluator) testVariants() {
	v := Variants{}
	var p []float64      // one per setting with a contrast
	var without []string // rows that have no result for some setting
settings:
	for _, row := range e.t.Rows() {
		state := row.Cells[e.column].State
		if len(row.Setting) == 0 || row.Base != e.c.Row || state == results.Excluded {
			continue
		}
		if v.All++; state != results.OK {
			v.Missing++
			continue
		}
		var family []Contrast
		for _, id := range e.c.Over {
			other, ok := e.counterpart(row, id)
			if !ok {
				if v.Missing++; !slices.Contains(without, id) {
					without = append(without, id)
				}
				continue settings
			}
			family = append(family, e.contrast(row, other))
		}
		decideFamily(family, e.Kind, e.Number)
		e.Contrasts = append(e.Contrasts, slices.MaxFunc(family, moreAdverse))
		p = append(p, familyP(family, e.Kind, e.Number))
	}
	v.Alone.Holds, v.Alone.Fails = countDecisions(e.Contrasts)
	adjusted, err := stats.BenjaminiHochberg(p)
	for i := range e.Contrasts {
		if c := &e.Contrasts[i]; err != nil || adjusted[i] >= compare.Level {
			c.Decision = Undecided
		}
	}
	v.Holds, v.Fails = countDecisions(e.Contrasts)
	if len(e.Contrasts) == 0 {
		e.Lacks, e.Missing = LacksRow, without
		return
	}
	switch v.All {
	case v.Holds:
		e.Decision = Holds
	case v.Fails:
		e.Decision = Fails
	}
	for i, c := range e.Contrasts {
		if c.Gain > e.Contrasts[v.Best].Gain {
			v.Best = i
		}
		if c.Gain < e.Contrasts[v.Worst].Gain {
			v.Worst = i
		}
	}
	e.Variants = &v
}

// countDecisions counts decisions.
func countDecisions(list []Contrast) (holds, fails int) {
	for _, c := range list {
		switch c.Decision {
		case Holds:
			holds++
		case Fails:
			fails++
		}
	}
	return holds, fails
}

// counterpart returns the row of this id with an OK cell. If that row is swept too, it returns the
// one whose setting is part of the setting of row.
func (e *evaluator) counterpart(row results.Row, id string) (results.Row, bool) {
	if r, ok := e.okRow(id); ok {
		return r, true
	}
	for _, r := range e.t.Rows() {
		if r.Base == id && len(r.Setting) > 0 && r.Setting.Within(row.Setting) {
			return r, r.Cells[e.column].State == results.OK
		}
	}
	return results.Row{}, false
}

// okRow returns the row with this id, if its cell is OK.
func (e *evaluator) okRow(id string) (results.Row, bool) {
	r, ok := rowOf(e.t, id)
	return r, ok && r.Cells[e.column].State == results.OK
}

// okRowAt returns the row of a sweep at one value of the claim's setting, if its cell is OK.
func (e *evaluator) okRowAt(id string, value float64) (results.Row, bool) {
	for _, r := range e.t.Rows() {
		if v, ok := r.Setting.Number(e.Setting); ok && v == value && r.Base == id {
			return r, r.Cells[e.column].State == results.OK
		}
	}
	return results.Row{}, false
}

func (e *evaluator) better(a, b results.Row) bool {
	return e.t.Metric.Better(a.Cells[e.column].Mean, b.Cells[e.column].Mean)
}
