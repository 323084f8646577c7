package metric

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
)

// Mismatch is a recorded value that is out of range, or that its predictions contradict.
type Mismatch struct {
	Name string
	Is   string
	Want string
}

// Verify checks that recorded values are in range and, if o has predictions and true classes, equal
// bit for bit what these imply. It returns the first mismatch by name, or nil. It ignores names of
// no metric.
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

// number formats v in the fewest digits that identify it.
func number(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }
