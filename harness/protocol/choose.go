package protocol

import "math"

// Choose returns the mean score of each candidate and the index of the best one, the first on ties.
// A candidate with a NaN score (its run failed) has the mean NaN and is not chosen; chosen is -1 if
// all have.
func Choose(scores [][]float64, higherIsBetter bool) (means []float64, chosen int) {
	means, chosen = make([]float64, len(scores)), -1
	best := math.Inf(-1)
	for i, s := range scores {
		sum := 0.0
		for _, v := range s {
			sum += v
		}
		means[i] = sum / float64(len(s))
		rank := means[i]
		if !higherIsBetter {
			rank = -rank
		}
		if rank > best {
			best, chosen = rank, i
		}
	}
	return means, chosen
}
