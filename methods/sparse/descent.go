package sparse

import (
	"cmp"
	"context"
	"math"
	"slices"
)

// breakpoint is the step t along a direction at which entry i of the code becomes zero.
type breakpoint struct {
	t float64
	i int
}

// descend is an active set method that cannot cycle: feature-sign search (Lee, Battle, Raina, Ng,
// "Efficient Sparse Coding Algorithms", NIPS 2007) with many entries added at once and an exact
// line search. Every step lowers the objective:
//
//	d solves (G + ridge)_TT d_T = g_T - lambda theta_T on the support T,
//	s moves along d to the minimum on that line, over changes of sign, or
//	to s + d with the entries whose sign turned set to zero, whichever is lower.
//
// The ridge makes this the proximal point method: the limit does not depend on the ridge, and
// dependent columns do no harm. Along a direction that A maps to zero the step is long and ends
// where an entry becomes zero. It returns the duality gap.
func (c *patternCoder) descend(ctx context.Context, yy float64) float64 {
	return c.search(ctx, yy, len(c.s), len(c.s))
}

// In the search for sparse codes at most growStep entries enter at a time. It gives up when more than
// one in growShare of the K entries is in the support: from there on the splitting is cheaper. On
// ResNet features that is between 23 and 51 entries of 448, and between 93 and 163 of 2669.
const growStep, growShare = 4, 20

// grow is descend for codes of few entries, from zero. It returns NaN if the code has many entries.
func (c *patternCoder) grow(ctx context.Context, yy float64) float64 {
	clear(c.start)
	return c.search(ctx, yy, growStep, len(c.s)/growShare)
}

// search is the active set of descend: at most most entries enter in one step, and at most
// bound are in the support.
func (c *patternCoder) search(ctx context.Context, yy float64, most, bound int) float64 {
	k := len(c.s)
	copy(c.s, c.start)
	for i, v := range c.s {
		c.theta[i] = sign(v)
	}
	c.correlate()
	// At most limit entries enter, and only at a minimum over the support, so no pattern comes
	// back. The entry that violates optimality most gets the right sign if it enters alone; other
	// entries may push it to the wrong sign.
	limit, still := most, 0
	for range 4*k + 100 {
		if ctx.Err() != nil {
			break
		}
		added, worst := 0, c.imbalance()
		if worst <= max(c.rounding(), 1e-6*c.lambda) {
			added = c.enter(limit)
			if added == 0 && (worst <= c.rounding() || still > 3) {
				break
			}
		}
		c.factorize()
		if len(c.support) > bound {
			return math.NaN()
		}
		c.imbalance()
		c.solve()
		clear(c.gd)
		c.addRows(1, c.d, c.gd)
		changed, lower := c.move()
		switch {
		case lower:
			limit = min(2*limit, most)
		case changed:
			limit = max(1, min(limit, added)/2)
		default: // only rounding is left
			return c.gap(yy)
		}
		still++
		if changed || added > 0 {
			still = 0
		}
		c.correlate() // a long step leaves no correct digit in an updated g
	}
	return c.gap(yy)
}

// keep leaves the code as it is and returns its duality gap.
func (c *patternCoder) keep(_ context.Context, yy float64) float64 {
	copy(c.s, c.start)
	return c.gap(yy)
}

// gap returns the duality gap of the code s.
func (c *patternCoder) gap(yy float64) float64 {
	c.correlate()
	return dualityGap(c.s, c.g, c.r, c.lambda, yy)
}

// imbalance sets e = g - lambda theta on the support, which is 0 at a minimum, and returns its largest
// entry.
func (c *patternCoder) imbalance() float64 {
	worst := 0.0
	for i, t := range c.theta {
		c.e[i] = 0
		if t != 0 {
			c.e[i] = c.g[i] - c.lambda*t
			worst = max(worst, math.Abs(c.e[i]))
		}
	}
	return worst
}

// enter adds the entries with |g_i| > lambda to the pattern, the largest limit of them, and
// returns how many.
func (c *patternCoder) enter(limit int) int {
	slack := c.rounding()
	c.breaks = c.breaks[:0]
	for i, t := range c.theta {
		if t == 0 && c.mayEnter(i, slack) {
			c.breaks = append(c.breaks, breakpoint{-math.Abs(c.g[i]), i})
		}
	}
	if len(c.breaks) > limit {
		c.sortBreaks()
		c.breaks = c.breaks[:limit]
	}
	for _, b := range c.breaks {
		c.theta[b.i] = sign(c.g[b.i])
	}
	return len(c.breaks)
}

func (c *patternCoder) sortBreaks() {
	slices.SortFunc(c.breaks, func(a, b breakpoint) int {
		return cmp.Or(cmp.Compare(a.t, b.t), cmp.Compare(a.i, b.i))
	})
}

// move goes along d, given gd = G d, and reports whether the pattern changed and whether the objective
// fell. If it cannot fall, move drops the new entries that d pushes to the wrong sign.
func (c *patternCoder) move() (changed, lower bool) {
	s, d := c.s, c.d
	// The objective along s + t d falls by -slope t - 0.5 curve t^2 until the first break.
	slope, curve := 0.0, 0.0
	turned := false
	c.breaks = c.breaks[:0]
	for _, i := range c.support {
		slope -= c.g[i] * d[i]
		curve += d[i] * c.gd[i]
		if s[i] == 0 {
			slope += c.lambda * math.Abs(d[i])
			turned = turned || d[i]*c.theta[i] <= 0
			continue
		}
		slope += c.lambda * c.theta[i] * d[i]
		if t := -s[i] / d[i]; t > 0 && t <= 1 {
			turned = true
			c.breaks = append(c.breaks, breakpoint{t, i})
		}
	}
	if !turned {
		for _, i := range c.support {
			s[i] += d[i]
		}
		return false, true
	}
	t, change, stop := c.lineSearch(slope, curve)
	cutChange := c.cut()
	switch {
	case cutChange < 0 && cutChange <= change:
		for _, i := range c.support {
			s[i] += c.p[i]
			c.theta[i] = sign(s[i])
		}
		return true, true
	case change < 0:
		for _, i := range c.support {
			s[i] = math.FMA(t, d[i], s[i])
			if i == stop {
				s[i] = 0
			}
			c.theta[i] = sign(s[i])
		}
		return true, true
	}
	for _, i := range c.support {
		if s[i] == 0 && d[i]*c.theta[i] <= 0 {
			c.theta[i], changed = 0, true
		}
	}
	return changed, false
}

// cut sets p to d with the entries that change their sign stopped at zero, and returns the
// change of the objective from s to s + p.
func (c *patternCoder) cut() float64 {
	clear(c.p)
	for _, i := range c.support {
		c.p[i] = c.d[i]
		if (c.s[i]+c.d[i])*c.theta[i] <= 0 {
			c.p[i] = -c.s[i]
		}
	}
	clear(c.gd)
	c.addRows(1, c.p, c.gd)
	change := 0.0
	for _, i := range c.support {
		p := c.p[i]
		change += p*(0.5*c.gd[i]-c.g[i]) + c.lambda*(math.Abs(c.s[i]+p)-math.Abs(c.s[i]))
	}
	return change
}

// lineSearch minimises over t >= 0 the objective along s + t d, which is convex and
// quadratic between the breaks; slope and curve are its derivatives at 0. It returns t, the
// change of the objective, and the entry that is zero there, or -1.
func (c *patternCoder) lineSearch(slope, curve float64) (t, change float64, stop int) {
	if slope >= 0 {
		return 0, 0, -1
	}
	c.sortBreaks()
	for _, b := range c.breaks {
		dt := b.t - t
		if slope+curve*dt >= 0 {
			break
		}
		change += dt * (slope + 0.5*curve*dt)
		t = b.t
		slope += curve*dt + 2*c.lambda*math.Abs(c.d[b.i])
		if slope >= 0 {
			return t, change, b.i
		}
	}
	// After the last break up to 1 the objective is curved: d leads to the minimum of the
	// quadratic, at t = 1.
	dt := 1 - t
	if curve > 0 {
		dt = -slope / curve
	}
	return t + dt, change + dt*(slope+0.5*curve*dt), -1
}
