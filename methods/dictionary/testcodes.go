package dictionary

import (
	"context"

	"gonum.org/v1/gonum/mat"

	"ssdl/methods"
	"ssdl/methods/sparse"
)

// interpolates is the share of the features that a mean code must have as entries for its dictionary
// to be degenerate: see traceSupport.
const interpolates = 0.9

// exactCodes solves the Lasso for test samples of dim features, given G, R and the squared norms as
// sparse.Lasso takes them. It traces the worst relative duality gap as "test_gap", the number of
// codes above the solver's tolerance as "test_unconverged", and the facts of traceSupport.
func exactCodes(ctx context.Context, G, R *mat.Dense, squares []float64, lambda float64, dim int, trace methods.Trace) (*mat.Dense, error) {
	S, report, err := sparse.Lasso{Lambda: lambda}.Solve(ctx, G, R, squares)
	if err != nil {
		return nil, err
	}
	trace.Add("test_gap", 0, report.WorstGap)
	trace.Add("test_unconverged", 0, float64(report.Unconverged))
	traceSupport(trace, S, dim)
	return S, nil
}

// traceSupport traces the mean number of nonzero entries of the codes S (K x M) of samples of dim
// features as "test_support", and "degenerate" as 1 or 0. It is 1 if there are more atoms than
// features and the codes have at least nine tenths as many entries as features. Such a code
// reproduces its sample, whatever the weight of the l1 norm is: that weight is too small. Codes that
// saw a target and codes that did not then have little in common. More weight, or fewer atoms, ends
// it.
func traceSupport(trace methods.Trace, S *mat.Dense, dim int) {
	k, n := S.Dims()
	entries := 0
	for i := range k {
		for _, v := range S.RawRowView(i) {
			if v != 0 {
				entries++
			}
		}
	}
	support, degenerate := float64(entries)/float64(n), 0.0
	if k > dim && support >= interpolates*float64(dim) {
		degenerate = 1
	}
	trace.Add("test_support", 0, support)
	trace.Add("degenerate", 0, degenerate)
}
