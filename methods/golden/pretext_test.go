package golden

import (
	"encoding/json"
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"
	"ssdl/methods"
	"ssdl/methods/catalog"
	"ssdl/methods/linalg"
	"ssdl/methods/pretext"
)

func init() {
	handle("GL (Zhou 2003), full rbf graph", goldenGLFull)
	handle("GL on symmetrised kNN heat-kernel graph", goldenGLNeighbours)
	handle("HL (Zhou 2007)", goldenHL)
	handle("graph p-Laplacian Rayleigh quotient", goldenPLaplacian)
	handle("pAHL, edge-dual sandwich", goldenPAHL)
	handle("pAHL operator variants", goldenPAHLOperators)
}

// Tolerances: what follows from H, and what five steps of descent leave of that. The
// last is for eigenvectors that the test computes: Lambda depends on the basis where
// eigenvalues nearly agree.
const (
	pretextTight      = 1e-12
	pretextDescended  = 1e-9
	pretextRecomputed = 1e-6
)

// pretextRows is a matrix as a list of rows; large files have some of them by entries.
type pretextRows [][]float64

func (m *pretextRows) UnmarshalJSON(raw []byte) error {
	if raw[0] != '{' {
		return json.Unmarshal(raw, (*[][]float64)(m))
	}
	var entries pretextCOO
	if err := json.Unmarshal(raw, &entries); err != nil {
		return err
	}
	d := entries.dense()
	if d == nil {
		return nil
	}
	for i := range entries.Shape[0] {
		*m = append(*m, d.RawRowView(i))
	}
	return nil
}

// dense is nil where the file has no such matrix.
func (m pretextRows) dense() *mat.Dense {
	if len(m) == 0 {
		return nil
	}
	d := mat.NewDense(len(m), len(m[0]), nil)
	for i, row := range m {
		d.SetRow(i, row)
	}
	return d
}

// pretextCOO is a sparse matrix by entries.
type pretextCOO struct {
	Shape    [2]int
	Row, Col []int
	Val      []float64
}

// dense is nil where the file has no such matrix.
func (m pretextCOO) dense() *mat.Dense {
	if m.Shape[0] == 0 || len(m.Val) == 0 || len(m.Row) != len(m.Val) || len(m.Col) != len(m.Val) {
		return nil
	}
	d := mat.NewDense(m.Shape[0], m.Shape[1], nil)
	for e, v := range m.Val {
		d.Set(m.Row[e], m.Col[e], v)
	}
	return d
}

func (m pretextCOO) csr() *pretext.CSR { return pretextCSR(m.dense()) }

func pretextCSR(d *mat.Dense) *pretext.CSR {
	rows, cols := d.Dims()
	a := &pretext.CSR{Rows: rows, Cols: cols, Ptr: make([]int, rows+1)}
	for i := range rows {
		for j := range cols {
			if v := d.At(i, j); v != 0 {
				a.Col, a.Val = append(a.Col, int32(j)), append(a.Val, v)
			}
		}
		a.Ptr[i+1] = len(a.Col)
	}
	return a
}

func pretextDense(a *pretext.CSR) *mat.Dense {
	d := mat.NewDense(a.Rows, a.Cols, nil)
	for i := range a.Rows {
		for e := a.Ptr[i]; e < a.Ptr[i+1]; e++ {
			d.Set(i, int(a.Col[e]), a.Val[e])
		}
	}
	return d
}

// pretextCase is what the files of the pretexts have in common.
type pretextCase struct {
	X            pretextRows
	Labels       []int
	LabelledMask []int `json:"labelled_mask"`
	C, K         int
	Lambda, Fill *float64
	Sigma2       *float64
}

// problem is the problem of the file; without labels it serves for what needs X only.
func (c *pretextCase) problem(t *testing.T) methods.Problem {
	t.Helper()
	need(t, "X", len(c.X) > 0)
	c.C = max(c.C, dictClassCount(c.Labels))
	p := methods.Problem{X: mat.DenseCopyOf(c.X.dense().T()), Labels: make([]int, len(c.X)), Classes: c.C}
	linalg.NormalizeColumns(p.X)
	for j, y := range c.Labels {
		if p.Labels[j] = y; c.LabelledMask != nil && c.LabelledMask[j] == 0 {
			p.Labels[j] = methods.Unlabeled
		}
	}
	return p
}

// hypergraph is that of the file, and compares H.
func (c *pretextCase) hypergraph(t *testing.T, p methods.Problem, H pretextCOO) *pretext.Hypergraph {
	t.Helper()
	need(t, "k", c.K > 0)
	if c.Sigma2 != nil && *c.Sigma2 != 1 {
		t.Skipf("the file has sigma2 = %g; the methods have 1", *c.Sigma2)
	}
	h, err := pretext.NewHypergraph(t.Context(), p.X, c.K, "unit")
	if err != nil {
		t.Fatal(err)
	}
	pretextNear(t, "H", pretextDense(h.H), H.dense(), pretextTight)
	return h
}

// solved reports whether the file has what F needs beside the graph.
func (c *pretextCase) solved(t *testing.T) bool {
	t.Helper()
	return has(t, "labels, labelled_mask and lambda", c.Labels != nil && c.LabelledMask != nil && c.Lambda != nil)
}

// filled is solved for files that have one F, with the fill they say.
func (c *pretextCase) filled(t *testing.T) bool {
	t.Helper()
	return c.solved(t) && has(t, "fill", c.Fill != nil)
}

// labels returns F: that of m, or, where a class has no labelled sample and m therefore a
// row of zeros, that of the same graph for initial labels with the fill in that row, as the
// files have it.
func (c *pretextCase) labels(t *testing.T, p methods.Problem, m methods.Pretext, l pretext.Laplacian, fill float64) *mat.Dense {
	t.Helper()
	for class := range p.Classes {
		if !slices.Contains(p.Labels, class) {
			s, err := l.Solve(t.Context(), "golden", methods.OneHot(p.Labels, p.Classes, fill), *c.Lambda)
			if err != nil {
				t.Fatal(err)
			}
			return s.F
		}
	}
	F, err := m.PseudoLabels(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	return F.F
}

// hidden returns the true labels of the unlabelled samples.
func (c pretextCase) hidden() []int {
	out := make([]int, len(c.Labels))
	for j, y := range c.Labels {
		if out[j] = y; c.LabelledMask[j] != 0 {
			out[j] = methods.Unlabeled
		}
	}
	return out
}

// pretextLoss holds the measures that a file has of an F.
type pretextLoss struct {
	Set       string
	Acc, BCE  *float64
	CERownorm *float64 `json:"ce_rownorm"`
	CESoftmax *float64 `json:"ce_softmax"`
	// What the files clip at is not for the methods to choose.
	EpsRownorm *float64 `json:"eps_rownorm"`
	EpsBCE     *float64 `json:"eps_bce"`
}

func (l *pretextLoss) check(t *testing.T, F *mat.Dense, labels []int, tol float64) {
	t.Helper()
	if l == nil {
		t.Log("losses: the file has none")
		return
	}
	if l.Set != "" && l.Set != "unlabelled samples" {
		t.Logf("the losses of the set %q are not compared", l.Set)
		return
	}
	compare := func(what string, loss func(*mat.Dense, []int) float64, want *float64) {
		t.Helper()
		if want != nil {
			// Logarithms of small entries of F have fewer digits than F.
			pretextClose(t, what, loss(F, labels), *want, 100*tol)
		}
	}
	compare("accuracy", pretext.Accuracy, l.Acc)
	compare("CESoftmax", pretext.CESoftmax, l.CESoftmax)
	if l.EpsBCE == nil || *l.EpsBCE == 1e-6 {
		compare("BCE", pretext.BCE, l.BCE)
	}
	if l.EpsRownorm == nil || *l.EpsRownorm == 1e-12 {
		compare("CERow", pretext.CERow, l.CERownorm)
	}
}

func pretextParse(t *testing.T, raw []byte, into any) {
	t.Helper()
	if err := json.Unmarshal(raw, into); err != nil {
		t.Fatal(err)
	}
}

func pretextClose(t *testing.T, what string, got, want, tol float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tol*max(1, math.Abs(want))) {
		t.Errorf("%s is %v, want %v (off by %.1e)", what, got, want, math.Abs(got-want))
	}
}

func pretextNear(t *testing.T, what string, got mat.Matrix, want *mat.Dense, tol float64) {
	t.Helper()
	if want == nil { // small files leave some out
		t.Logf("%s: the file has none", what)
		return
	}
	r, c := want.Dims()
	if gr, gc := got.Dims(); gr != r || gc != c {
		t.Fatalf("%s is %d x %d, want %d x %d", what, gr, gc, r, c)
	}
	worst := 0.0
	for i := range r {
		for j := range c {
			if d := math.Abs(got.At(i, j) - want.At(i, j)); !(d <= worst) {
				worst = d
			}
		}
	}
	if !(worst <= tol*max(1, mat.Max(want))) {
		t.Errorf("%s is off by %.1e, want %.0e at most", what, worst, tol)
	}
}

func pretextVector(t *testing.T, what string, got, want []float64, tol float64) {
	t.Helper()
	if len(want) == 0 {
		t.Logf("%s: the file has none", what)
		return
	}
	pretextNear(t, what, mat.NewDense(1, len(got), got), mat.NewDense(1, len(want), want), tol)
}

// pretextLaplacian applies l to the identity.
func pretextLaplacian(l pretext.Laplacian) *mat.Dense {
	one, out := mat.NewDense(l.N, l.N, nil), mat.NewDense(l.N, l.N, nil)
	for i := range l.N {
		one.Set(i, i, 1)
	}
	l.Apply(out, one)
	return out
}

func goldenGLFull(t *testing.T, raw []byte) {
	var c struct {
		pretextCase
		Gamma, Alpha       *float64
		LabelDistributions pretextRows `json:"label_distributions"`
		S                  pretextRows
		Degree             []float64
		FFill0             pretextRows  `json:"F_fill0"`
		FFill05            pretextRows  `json:"F_fill05"`
		Loss               *pretextLoss `json:"loss_fill05"`
	}
	pretextParse(t, raw, &c)
	p := c.problem(t)
	need(t, "gamma", c.Gamma != nil)
	values := catalog.Values{"k": max(c.K, 1), "graph": "rbf", "sigma": math.Sqrt(1 / (2 * *c.Gamma)), "fill": 0}
	l, err := build[pretext.GL](t, "gl", values).Laplacian(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	S := pretextLaplacian(l)
	S.Scale(-1, S)
	for i := range l.N {
		S.Set(i, i, S.At(i, i)+1)
	}
	pretextNear(t, "S", S, c.S.dense(), pretextTight)
	if has(t, "degree", c.Degree != nil) {
		var x mat.Dense
		x.Mul(p.X.T(), p.X)
		degree := make([]float64, l.N)
		for i := range degree {
			for j := range degree {
				if i != j {
					degree[i] += math.Exp(-*c.Gamma * (x.At(i, i) + x.At(j, j) - 2*x.At(i, j)))
				}
			}
		}
		pretextVector(t, "degree", degree, c.Degree, pretextTight)
		// S_ij^2 d_i d_j = A_ij^2: the method's degrees are these up to a factor, fixed by the kernel.
		for i := range l.N {
			j := (i + 1) % l.N
			A := math.Exp(-*c.Gamma * (x.At(i, i) + x.At(j, j) - 2*x.At(i, j)))
			pretextClose(t, "A", S.At(i, j)*math.Sqrt(degree[i]*degree[j]), A, pretextTight)
		}
	}

	pretextAlpha(t, &c.pretextCase, c.Alpha)
	if !c.solved(t) {
		return
	}
	values["lambda"] = *c.Lambda
	F := c.labels(t, p, build[pretext.GL](t, "gl", values), l, 0)
	pretextNear(t, "F without fill", F, c.FFill0.dense(), pretextTight)
	distributions := mat.DenseCopyOf(F)
	for j := range l.N {
		sum := mat.Sum(distributions.ColView(j))
		for i := range c.C {
			distributions.Set(i, j, distributions.At(i, j)/sum)
		}
	}
	pretextNear(t, "label distributions", distributions, c.LabelDistributions.dense(), pretextTight)

	values["fill"] = 0.5
	F = c.labels(t, p, build[pretext.GL](t, "gl", values), l, 0.5)
	pretextNear(t, "F", F, c.FFill05.dense(), pretextTight)
	c.Loss.check(t, F, c.hidden(), pretextTight)
}

// pretextAlpha compares alpha = 1/(1+lambda), or has lambda follow from it.
func pretextAlpha(t *testing.T, c *pretextCase, alpha *float64) {
	t.Helper()
	switch {
	case alpha == nil:
	case c.Lambda != nil:
		pretextClose(t, "alpha", 1/(1+*c.Lambda), *alpha, pretextTight)
	default:
		lambda := 1 / *alpha - 1
		c.Lambda = &lambda
	}
}

func goldenGLNeighbours(t *testing.T, raw []byte) {
	var c struct {
		pretextCase
		Alpha   *float64
		A       pretextCOO
		FFill05 pretextRows  `json:"F_fill05"`
		Loss    *pretextLoss `json:"loss_fill05"`
	}
	pretextParse(t, raw, &c)
	p := c.problem(t)
	need(t, "k", c.K > 0)
	sigmas := []float64{0} // the mean d^2 to the neighbours
	if c.Sigma2 != nil {
		sigmas = append(sigmas, math.Sqrt(*c.Sigma2))
	}
	pretextAlpha(t, &c.pretextCase, c.Alpha)
	solved := c.solved(t)
	for _, sigma := range sigmas {
		A, err := pretext.HeatGraph(t.Context(), p.X, c.K, sigma)
		if err != nil {
			t.Fatal(err)
		}
		pretextNear(t, "A", pretextDense(A), c.A.dense(), pretextTight)
		if !solved {
			continue
		}
		m := build[pretext.GL](t, "gl", catalog.Values{"k": c.K, "graph": "knn", "sigma": sigma, "lambda": *c.Lambda, "fill": 0.5})
		l, err := m.Laplacian(t.Context(), p)
		if err != nil {
			t.Fatal(err)
		}
		F := c.labels(t, p, m, l, m.Fill)
		pretextNear(t, "F", F, c.FFill05.dense(), pretextTight)
		c.Loss.check(t, F, c.hidden(), pretextTight)
	}
}

func goldenHL(t *testing.T, raw []byte) {
	var c struct {
		pretextCase
		H      pretextCOO
		Dv, De []float64
		Theta  pretextRows
		F      pretextRows
		FTHU   pretextRows `json:"F_thu"`
		Loss   *pretextLoss
		HMean  pretextCOO `json:"H_thu_mean_bandwidth"`
	}
	pretextParse(t, raw, &c)
	p := c.problem(t)
	h := c.hypergraph(t, p, c.H)
	pretextVector(t, "Dv", h.Dv, c.Dv, pretextTight)
	pretextVector(t, "De", h.De, c.De, pretextTight)
	theta := pretextDense(h.Theta())
	pretextNear(t, "Theta", theta, c.Theta.dense(), pretextTight)
	delta := pretextLaplacian(pretext.HL{}.Laplacian(h))
	delta.Add(delta, theta)
	one := mat.NewDiagDense(len(h.Dv), nil)
	for i := range h.Dv {
		one.SetDiag(i, 1)
	}
	pretextNear(t, "Delta + Theta", delta, mat.DenseCopyOf(one), pretextTight)

	mean, err := pretext.NewHypergraph(t.Context(), p.X, c.K, "mean")
	if err != nil {
		t.Fatal(err)
	}
	pretextNear(t, "H with the mean bandwidth", pretextDense(mean.H), c.HMean.dense(), pretextTight)

	if !c.filled(t) {
		return
	}
	lambda := *c.Lambda
	m := build[pretext.HL](t, "hl", catalog.Values{"k": c.K, "bandwidth": "unit", "lambda": lambda, "fill": *c.Fill})
	F := c.labels(t, p, m, m.Laplacian(h), m.Fill)
	pretextNear(t, "F", F, c.F.dense(), pretextTight)
	var scaled mat.Dense
	scaled.Scale((1+lambda)*(1+lambda)/(lambda*lambda), F)
	pretextNear(t, "F of THU-HyperG", &scaled, c.FTHU.dense(), pretextTight)
	c.Loss.check(t, F, c.hidden(), pretextTight)
}
