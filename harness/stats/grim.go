package stats

import (
	"fmt"
	"math/big"
	"strings"
)

// Grim reports whether printed, a percentage such as "88.4", can be a mean accuracy over splits
// test parts of size samples each: whether some number of correct predictions out of size*splits
// rounds to it. A value halfway between two decimals may round either way. (Brown and Heathers,
// "The GRIM Test", 2017.)
func Grim(printed string, size, splits int) (bool, error) {
	if size < 1 || splits < 1 {
		return false, fmt.Errorf("stats: GRIM check: %d split(s) of %d sample(s)", splits, size)
	}
	whole, fraction, _ := strings.Cut(printed, ".")
	digits := whole + fraction
	value, ok := new(big.Int).SetString(digits, 10)
	if !ok || whole == "" || strings.Trim(digits, "0123456789") != "" || strings.HasSuffix(printed, ".") {
		return false, fmt.Errorf("stats: GRIM check: %q is not a percentage such as 88.4", printed)
	}
	unit := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(len(fraction))), nil) // of the last decimal
	hundred := new(big.Int).Mul(big.NewInt(100), unit)
	if value.Cmp(hundred) > 0 {
		return false, fmt.Errorf("stats: GRIM check: %s%% is more than all", printed)
	}

	// k of n are correct: |100k/n - value/unit| <= 1/2 / unit, times 2 n unit:
	// |2 k hundred - 2 value n| <= n. The k in question is next to value n / hundred.
	n := new(big.Int).Mul(big.NewInt(int64(size)), big.NewInt(int64(splits)))
	target := new(big.Int).Mul(value, n)
	k, rest := new(big.Int).QuoRem(target, hundred, new(big.Int))
	over := new(big.Int).Sub(hundred, rest) // from target up to k+1
	distance := rest
	if over.Cmp(rest) < 0 && k.Cmp(n) < 0 {
		distance = over
	}
	return distance.Lsh(distance, 1).Cmp(n) <= 0, nil
}
