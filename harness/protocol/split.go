package protocol

import (
	"math"
	"math/rand/v2"
	"slices"
)

// DrawTraining draws round-half-up(train x size) samples of each class, at least one, as training
// samples (stream "split").
func DrawTraining(labels []int, train float64, seed uint64) []bool {
	return draw(labels, train, Stream(seed, "split"))
}

// DrawLabelled draws round-half-up(rate x size) training samples of each class, at least one, that keep
// their label (stream "labels"). labels are those of the training samples. A higher rate draws the
// same samples and more.
func DrawLabelled(labels []int, rate float64, seed uint64) []bool {
	return draw(labels, rate, Stream(seed, "labels"))
}

func draw(labels []int, part float64, r *rand.Rand) []bool {
	drawn := make([]bool, len(labels))
	for _, members := range shuffled(labels, r) {
		for _, j := range members[:share(part, len(members))] {
			drawn[j] = true
		}
	}
	return drawn
}

// HoldOut holds out round-half-up(held x size) labelled training samples of each class for tuning, at
// most all but one (stream "validation"). labels are those of the labelled training samples; fit and
// val are indices in labels, ascending. With few labels per class val can be empty.
func HoldOut(labels []int, held float64, seed uint64) (fit, val []int) {
	for _, members := range shuffled(labels, Stream(seed, "validation")) {
		n := min(roundHalfUp(held, len(members)), len(members)-1)
		val = append(val, members[:n]...)
		fit = append(fit, members[n:]...)
	}
	slices.Sort(fit)
	slices.Sort(val)
	return fit, val
}

// byClass returns the indices of each class in labels, classes and indices ascending, without empty
// classes.
func byClass(labels []int) [][]int {
	at := map[int]int{}
	var classes []int
	for _, y := range labels {
		if _, ok := at[y]; !ok {
			at[y] = 0
			classes = append(classes, y)
		}
	}
	slices.Sort(classes)
	for c, y := range classes {
		at[y] = c
	}
	members := make([][]int, len(classes))
	for j, y := range labels {
		members[at[y]] = append(members[at[y]], j)
	}
	return members
}

// shuffled is byClass with the indices of each class in an order drawn from r.
func shuffled(labels []int, r *rand.Rand) [][]int {
	classes := byClass(labels)
	for _, members := range classes {
		r.Shuffle(len(members), func(i, j int) { members[i], members[j] = members[j], members[i] })
	}
	return classes
}

// share is p times n samples, rounded half up, at least one and at most n.
func share(p float64, n int) int { return min(max(roundHalfUp(p, n), 1), n) }

// roundHalfUp rounds p*n half up. p is a decimal such as 0.35 whose binary value may be smaller; the
// 1e-9 makes up for that.
func roundHalfUp(p float64, n int) int {
	return int(math.Floor(float64(p*float64(n)) + 0.5 + 1e-9))
}
