package represent

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"ssdl/methods"
	"ssdl/methods/linalg"
	"ssdl/methods/sparse"
)

var _ methods.Method = EulerSRC{}

// EulerSRC is sparse representation in Euler space: Liu, Gao, Han, Wang, "Euler Sparse
// Representation for Image Classification", AAAI 2018. Every feature x becomes the complex number
// z = exp(i alpha pi x)/sqrt 2, and
//
//	b = argmin 0.5||z_y - Z b||^2 + lambda sum_j |b_j|,   class = argmin_k ||z_y - Z_k b_k||.
//
// The columns of Z have the squared norm dim/2, so that lambda scales with the number of features:
// for 2048 of them the largest useful value is about 1000.
//
// # Codes
//
//   - complex: the minimum over complex b. A batch of M samples costs some 16 N^2 M operations for
//     each of up to 200 passes of the splitting, and Newton's method for codes of few entries.
//   - real: the minimum over real b, an ordinary Lasso on the 2 dim real features. It is another,
//     smaller model; predictions agreed on 99 % of digits.
//   - irls: the public code of the SSDL authors, Passes reweighted ridge passes from b = 1. Each pass
//     but the first factors a matrix of order 2N for every sample: too slow for thousands of samples.
type EulerSRC struct {
	Alpha  float64 `param:"alpha" default:"1.9" min:"1e-6" max:"4" doc:"angle of the map, in units of pi per feature value"`
	Lambda float64 `param:"lambda" default:"1" min:"2^-30" doc:"weight of the moduli of a code"`
	Codes  string  `param:"codes" default:"complex" choices:"complex,real,irls" doc:"complex codes, real codes, or the authors' reweighted ridge passes"`
	Passes int     `param:"passes" default:"6" min:"1" doc:"passes of irls"`
}

// Fit maps the labelled columns. A zero column is a sample like any other: its map is the constant
// 1/sqrt 2.
func (s EulerSRC) Fit(ctx context.Context, p methods.Problem) (methods.Model, error) {
	if err := p.Check("euler-src", s); err != nil {
		return nil, err
	}
	p = p.Labelled()
	m := &EulerModel{setting: s}
	q := methods.Problem{X: s.dictionary(p.X), Classes: p.Classes, Share: p.Share}
	for range m.parts() {
		q.Labels = append(q.Labels, p.Labels...)
	}
	m.model = model{gallery: newGallery(q), trace: p.Trace, code: m.solve}
	var err error
	m.G, err = methods.Shared(ctx, p, s.gramKey(), func() (*mat.Dense, int64, error) {
		G := linalg.Gram(q.X)
		k, _ := G.Dims()
		return G, 8 * int64(k) * int64(k), nil
	})
	if err != nil {
		return nil, fmt.Errorf("euler-src: %w", err)
	}
	return m, nil
}

// euler returns the mapped columns of X, the real part above the imaginary part (2 dim x N).
func (s EulerSRC) euler(X *mat.Dense) *mat.Dense {
	dim, n := X.Dims()
	Z := mat.NewDense(2*dim, n, nil)
	linalg.Parallel(dim, 64, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			re, im := Z.RawRowView(i), Z.RawRowView(dim+i)
			for j, x := range X.RawRowView(i) {
				sin, cos := math.Sincos(s.Alpha * math.Pi * x)
				re[j], im[j] = cos*math.Sqrt2/2, sin*math.Sqrt2/2
			}
		}
	})
	return Z
}

// dictionary returns the columns that are combined by a code: for complex codes those of Z, then
// those of iZ (2 dim x 2N), for real codes those of Z (2 dim x N).
func (s EulerSRC) dictionary(X *mat.Dense) *mat.Dense {
	Z := s.euler(X)
	if s.Codes == "real" {
		return Z
	}
	rows, n := Z.Dims()
	dim := rows / 2
	both := mat.NewDense(rows, 2*n, nil)
	for i := range dim {
		re, im := Z.RawRowView(i), Z.RawRowView(dim+i)
		top, bottom := both.RawRowView(i), both.RawRowView(dim+i)
		copy(top, re)
		copy(bottom, im)
		for j := range n {
			top[n+j], bottom[n+j] = -im[j], re[j]
		}
	}
	return both
}

// EulerModel classifies by codes in Euler space.
type EulerModel struct {
	model   // its gallery has the mapped columns; for complex codes each of them twice
	setting EulerSRC
	G       *mat.Dense
}

// parts returns the number of real numbers in an entry of a code.
func (m *EulerModel) parts() int {
	if m.setting.Codes == "real" {
		return 1
	}
	return 2
}

// Codes returns the real and the imaginary parts (N x M each) of the codes of the columns of Y
// (dim x M) over the labelled columns in their order; im is nil for real codes. For complex and real
// codes it traces what SRC traces.
func (m *EulerModel) Codes(ctx context.Context, Y *mat.Dense) (re, im *mat.Dense, err error) {
	c, err := m.solve(ctx, Y)
	if err != nil || m.parts() == 1 {
		return c.S, nil, err
	}
	rows, cols := c.S.Dims()
	n := rows / 2
	return mat.DenseCopyOf(c.S.Slice(0, n, 0, cols)), mat.DenseCopyOf(c.S.Slice(n, rows, 0, cols)), nil
}

func (m *EulerModel) solve(ctx context.Context, Y *mat.Dense) (coded, error) {
	rows, _ := m.gallery.X.Dims()
	if err := methods.CheckTest("euler-src", Y, rows/2); err != nil {
		return coded{}, err
	}
	c := coded{}
	c.R, c.yy = m.gallery.correlations(m.setting.euler(Y))
	var report sparse.Report
	var err error
	switch m.setting.Codes {
	case "irls":
		c.S, err = m.reweighted(ctx, c.R)
	case "real":
		c.S, report, err = sparse.Lasso{Lambda: m.setting.Lambda, Gap: srcGap}.Solve(ctx, m.G, c.R, c.yy)
	default:
		c.S, report, err = sparse.ComplexLasso{Lambda: m.setting.Lambda, Gap: srcGap}.Solve(ctx, m.G, c.R, c.yy)
	}
	if err != nil {
		return coded{}, fmt.Errorf("euler-src: %w", err)
	}
	if m.setting.Codes != "irls" {
		m.trace.Add("test_gap", 0, report.WorstGap)
		m.trace.Add("test_unconverged", 0, float64(report.Unconverged))
	}
	return c, nil
}

// reweighted makes the authors' passes from b = 1:
//
//	w = |b|,  b = w (Z^H Z diag(w) + lambda I)^-1 Z^H z_y
//
// in the symmetric form b = w^1/2 (w^1/2 K w^1/2 + lambda I)^-1 w^1/2 c. In the first pass all
// samples share one factor.
func (m *EulerModel) reweighted(ctx context.Context, R *mat.Dense) (*mat.Dense, error) {
	k, cols := R.Dims()
	S := new(mat.Dense)
	var chol mat.Cholesky
	singular := fmt.Errorf("%w: lambda = %g is lost in the rounding of the Gram matrix; raise it", methods.ErrInput, m.setting.Lambda)
	if !chol.Factorize(shifted(m.G, m.setting.Lambda)) {
		return nil, singular
	}
	if err := chol.SolveTo(S, R); err != nil {
		return nil, fmt.Errorf("%w (%w)", singular, err)
	}
	errs := make([]error, cols)
	n := k / 2
	linalg.Parallel(cols, 1, func(j, _ int) {
		root := make([]float64, k)
		for range m.setting.Passes - 1 {
			if ctx.Err() != nil {
				return
			}
			for i := range n {
				w := math.Sqrt(math.Hypot(S.At(i, j), S.At(n+i, j)))
				root[i], root[n+i] = w, w
			}
			A := mat.NewSymDense(k, nil)
			b := mat.NewVecDense(k, nil)
			for p := range k {
				row := m.G.RawRowView(p)
				for q := p; q < k; q++ {
					A.SetSym(p, q, root[p]*row[q]*root[q])
				}
				A.SetSym(p, p, A.At(p, p)+m.setting.Lambda)
				b.SetVec(p, root[p]*R.At(p, j))
			}
			var own mat.Cholesky
			if !own.Factorize(A) {
				errs[j] = singular
				return
			}
			if err := own.SolveVecTo(b, b); err != nil {
				errs[j] = fmt.Errorf("%w (%w)", singular, err)
				return
			}
			for p := range k {
				S.Set(p, j, root[p]*b.AtVec(p))
			}
		}
	})
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	for _, err := range errs {
		if err != nil {
			return nil, err
		}
	}
	return S, nil
}

func (s EulerSRC) gramKey() string {
	return fmt.Sprintf("gram in euler space alpha=%g real=%t", s.Alpha, s.Codes == "real")
}

// Stages lists the keys of what Euler-SRC shares.
func (s EulerSRC) Stages(_, _ int) []string { return []string{methods.LabelledPrefix + s.gramKey()} }

// Bytes counts the mapped columns, the Gram matrix with its inverse and its factor, and the codes
// with the workspace of a panel.
func (s EulerSRC) Bytes(dim, n, test, _ int) int64 {
	k := 2 * n
	if s.Codes == "real" {
		k = n
	}
	return int64(8 * (2*dim*k + 4*k*k + 3*k*test))
}
