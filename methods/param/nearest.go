package param

import "strings"

// Nearest returns the word closest to name, or "" when none is close enough to suggest.
func Nearest(name string, words []string) string {
	best, bestDist := "", 1+len(name)/3
	for _, w := range words {
		if d := editDistance(strings.ToLower(name), strings.ToLower(w)); d <= bestDist && (best == "" || d < bestDist) {
			best, bestDist = w, d
		}
	}
	return best
}

func editDistance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		prev := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := prev
			if a[i] != b[j] {
				cost++
			}
			prev = row[j+1]
			row[j+1] = min(cost, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
