package data

import "context"

// Norms returns the l2 norm of each stored sample of the set at path before normalisation, in the
// order of the file; 0 for a zero sample. It checks no values: call Load first.
func Norms(ctx context.Context, path string) ([]float64, error) {
	c, err := open(path, false)
	if err != nil {
		return nil, err
	}
	norms, row := make([]float64, c.features.rows), make([]float64, c.features.cols)
	for i := range norms {
		if i%blockSize == 0 {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
		}
		c.features.row(i, row)
		norms[i] = norm(row)
	}
	return norms, nil
}
