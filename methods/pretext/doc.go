// Package pretext makes soft pseudo labels F (C x N) of a partly labelled problem by
// regularisation on a graph of its samples:
//
//	F = O (I + Delta/lambda)^-1, the minimiser of tr(F Delta F^T) + lambda |F-O|_F^2
//
// GL takes the Laplacian of a graph for Delta, HL that of a hypergraph, and PAHL the
// p-Laplacian attention of the paper (Eqs. 1-11). The fill of the unlabelled columns of O
// adds the same to all rows of F, so it never changes which class wins.
//
// Nothing of the size N x N is formed (except GL's full graph on request): neighbours come
// from blocked products, eigenvectors from Lanczos' iteration and F from conjugate
// gradients on the sparse operator. All sums have a fixed order, whatever the number of
// goroutines.
package pretext
