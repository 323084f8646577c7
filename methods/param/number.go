package param

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// ParseNumber reads a decimal number or a power such as 2^-14 (base and exponent whole).
func ParseNumber(s string) (float64, error) {
	if base, exp, ok := strings.Cut(s, "^"); ok {
		b, err1 := strconv.Atoi(strings.TrimSpace(base))
		e, err2 := strconv.Atoi(strings.TrimSpace(exp))
		if err1 != nil || err2 != nil || b == 0 {
			return 0, fmt.Errorf("%q is not a power: write e.g. 2^-14", s)
		}
		if b == 2 {
			return math.Ldexp(1, e), nil
		}
		return math.Pow(float64(b), float64(e)), nil
	}
	v, err := strconv.ParseFloat(strings.TrimSpace(s), 64)
	if err != nil || strings.ContainsAny(s, "_xX") || // Go's digit groups and hexadecimal numbers
		math.IsNaN(v) || math.IsInf(v, 0) {
		return 0, fmt.Errorf("%q is not a number", s)
	}
	return v, nil
}

// FormatNumber is the inverse of ParseNumber: it writes powers of two below 1/4 as such.
func FormatNumber(x float64) string {
	if frac, exp := math.Frexp(x); frac == 0.5 && exp < -1 {
		return "2^" + strconv.Itoa(exp-1)
	}
	return strconv.FormatFloat(x, 'g', -1, 64)
}
