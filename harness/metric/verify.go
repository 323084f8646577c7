package metric

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
)

// Mismatch is a recorded value that cannot be right, or is not what it was computed from.
type Mismatch struct {
	Name string
	Is   string
	Want string
}

// Verify looks at recorded values: whether they are in their range and, where o has predictions and true
// classes, whether they are in every bit what these imply. It returns nil, or the first by name that is not.
// Names that are no metric are left alone.
func Verify(values map[string]float64, o Outcome) *Mismatch {
	for _, name := range slices.Sorted(maps.Keys(values)) {
		m, ok := Lookup(name)
		if !ok {
			continue
		}
		is := values[name]
		if !(is >= m.Min && is <= m.Max) {
			return &Mismatch{name, number(is), fmt.Sprintf("%s to %s", number(m.Min), number(m.Max))}
		}
		if m.From != Predictions || len(o.Truth) == 0 || len(o.Predicted) == 0 {
			continue
		}
		if want := m.Of(o); is != want {
			return &Mismatch{name, number(is), number(want) + " by its predictions"}
		}
	}
	return nil
}

// number is v in the fewest digits that tell it from all others.
func number(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }
