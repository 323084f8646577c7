// Package pretext makes soft pseudo labels F (C x N) of a partly labelled problem by
// regularisation on a graph of its samples:
//
//	F = O (I + Delta/lambda)^-1, the minimiser of tr(F Delta F^T) + lambda |F-O|_F^2
//
// Delta is the Laplacian of a graph in GL and of a hypergraph in HL; HLW also learns the weights of
// the hyperedges, DHSL the incidences, and PAHL has the p-Laplacian attention of the paper
// (Eqs. 1-11). The fill of the unlabelled columns of O adds the same to all rows of F, so it never
// changes which class wins.
//
// No N x N matrix is formed, except for GL's full graph: neighbours come from blocked products,
// eigenvectors from Lanczos' iteration and F from conjugate gradients on the sparse operator. All
// sums have a fixed order, for every number of goroutines.
package pretext
