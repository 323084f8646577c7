package spec

import (
	"math"
	"strconv"
)

// Notation says how values of a parameter are written side by side: all as powers of two, or none. The zero
// Notation writes values as FormatValue does.
type Notation struct{ powers, decimal bool }

// decimalFrom is the smallest power of two that is easy to read as a decimal number.
const decimalFrom = 0.125

// NotationOf is the notation of values that are shown in one list or on one axis.
func NotationOf(values []any) Notation {
	least := math.Inf(1)
	for _, v := range values {
		x, ok := v.(float64)
		if !ok || x != 0 && !isPower(x) {
			return Notation{decimal: true}
		}
		if x != 0 {
			least = min(least, x)
		}
	}
	return Notation{powers: least < decimalFrom, decimal: true}
}

// Format formats a value.
func (n Notation) Format(v any) string {
	x, ok := v.(float64)
	switch {
	case ok && n.powers && isPower(x):
		_, exp := math.Frexp(x)
		return "2^" + strconv.Itoa(exp-1)
	case ok && n.decimal && x >= decimalFrom:
		return strconv.FormatFloat(x, 'g', -1, 64)
	}
	return FormatValue(v)
}

func isPower(x float64) bool {
	frac, _ := math.Frexp(x)
	return frac == 0.5
}
