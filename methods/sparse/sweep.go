package sparse

import (
	"gonum.org/v1/gonum/mat"

	"ssdl/methods/dense"
)

// Sweep is dense.Sweep.
func Sweep(S, G, R *mat.Dense, alpha float64) { dense.Sweep(S, G, R, alpha) }
