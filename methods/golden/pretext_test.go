package golden

import (
	"encoding/json"
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"
	"ssdl/methods"
	"ssdl/methods/dense"
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
// last is for eigenvectors that are computed anew: Lambda depends on the basis where
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
	if m.Shape[0] == 0 {
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
	Lambda, Fill float64
}

func (c pretextCase) problem(trace methods.Trace) methods.Problem {
	p := methods.Problem{X: mat.DenseCopyOf(c.X.dense().T()), Labels: make([]int, len(c.Labels)), Classes: c.C, Trace: trace}
	dense.NormalizeColumns(p.X)
	for j, y := range c.Labels {
		if p.Labels[j] = y; c.LabelledMask[j] == 0 {
			p.Labels[j] = methods.Unlabeled
		}
	}
	return p
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

type pretextLoss struct {
	Acc, BCE   float64
	CERownorm  float64 `json:"ce_rownorm"`
	CESoftmax  float64 `json:"ce_softmax"`
	EpsRownorm float64 `json:"eps_rownorm"`
	EpsBCE     float64 `json:"eps_bce"`
}

func (l pretextLoss) check(t *testing.T, F *mat.Dense, labels []int, tol float64) {
	t.Helper()
	if l.EpsRownorm != 1e-12 || l.EpsBCE != 1e-6 {
		t.Fatalf("the losses are clipped at %g and %g", l.EpsRownorm, l.EpsBCE)
	}
	pretextClose(t, "accuracy", pretext.Accuracy(F, labels), l.Acc, tol)
	pretextClose(t, "BCE", pretext.BCE(F, labels), l.BCE, tol)
	pretextClose(t, "CERow", pretext.CERow(F, labels), l.CERownorm, tol)
	pretextClose(t, "CESoftmax", pretext.CESoftmax(F, labels), l.CESoftmax, tol)
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
		Gamma, Alpha       float64
		LabelDistributions pretextRows `json:"label_distributions"`
		S                  pretextRows
		Degree             []float64
		FFill0             pretextRows `json:"F_fill0"`
		FFill05            pretextRows `json:"F_fill05"`
		Loss               pretextLoss `json:"loss_fill05"`
	}
	pretextParse(t, raw, &c)
	pretextClose(t, "alpha", 1/(1+c.Lambda), c.Alpha, pretextTight)
	m := pretext.GL{K: c.K, Graph: "rbf", Sigma: math.Sqrt(1 / (2 * c.Gamma)), Lambda: c.Lambda}
	p := c.problem(nil)
	l, err := m.Laplacian(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	S := pretextLaplacian(l)
	S.Scale(-1, S)
	for i := range l.N {
		S.Set(i, i, S.At(i, i)+1)
	}
	pretextNear(t, "S", S, c.S.dense(), pretextTight)
	// S_ij^2 d_i d_j = A_ij^2: the degrees follow up to a factor, fixed by the kernel.
	var x mat.Dense
	x.Mul(p.X.T(), p.X)
	for i := range l.N {
		j := (i + 1) % l.N
		A := math.Exp(-c.Gamma * (x.At(i, i) + x.At(j, j) - 2*x.At(i, j)))
		if c.Degree != nil {
			pretextClose(t, "A", S.At(i, j)*math.Sqrt(c.Degree[i]*c.Degree[j]), A, pretextTight)
		}
	}

	F, err := m.PseudoLabels(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	pretextNear(t, "F without fill", F.F, c.FFill0.dense(), pretextTight)
	distributions := mat.DenseCopyOf(F.F)
	for j := range l.N {
		sum := mat.Sum(distributions.ColView(j))
		for i := range c.C {
			distributions.Set(i, j, distributions.At(i, j)/sum)
		}
	}
	pretextNear(t, "label distributions", distributions, c.LabelDistributions.dense(), pretextTight)

	m.Fill = 0.5
	if F, err = m.PseudoLabels(t.Context(), p); err != nil {
		t.Fatal(err)
	}
	pretextNear(t, "F", F.F, c.FFill05.dense(), pretextTight)
	c.Loss.check(t, F.F, c.hidden(), pretextTight)
}

func goldenGLNeighbours(t *testing.T, raw []byte) {
	var c struct {
		pretextCase
		Sigma2  float64
		A       pretextCOO
		FFill05 pretextRows `json:"F_fill05"`
		Loss    pretextLoss `json:"loss_fill05"`
	}
	pretextParse(t, raw, &c)
	p := c.problem(nil)
	for _, sigma := range []float64{0, math.Sqrt(c.Sigma2)} {
		A, err := pretext.HeatGraph(t.Context(), p.X, c.K, sigma)
		if err != nil {
			t.Fatal(err)
		}
		pretextNear(t, "A", pretextDense(A), c.A.dense(), pretextTight)
		F, err := pretext.GL{K: c.K, Graph: "knn", Sigma: sigma, Lambda: c.Lambda, Fill: 0.5}.PseudoLabels(t.Context(), p)
		if err != nil {
			t.Fatal(err)
		}
		pretextNear(t, "F", F.F, c.FFill05.dense(), pretextTight)
		c.Loss.check(t, F.F, c.hidden(), pretextTight)
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
		Loss   pretextLoss
		HMean  pretextCOO `json:"H_thu_mean_bandwidth"`
	}
	pretextParse(t, raw, &c)
	p := c.problem(nil)
	h, err := pretext.NewHypergraph(t.Context(), p.X, c.K, "unit")
	if err != nil {
		t.Fatal(err)
	}
	pretextNear(t, "H", pretextDense(h.H), c.H.dense(), pretextTight)
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

	F, err := pretext.HL{K: c.K, Bandwidth: "unit", Lambda: c.Lambda, Fill: c.Fill}.PseudoLabels(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	pretextNear(t, "F", F.F, c.F.dense(), pretextTight)
	var scaled mat.Dense
	scaled.Scale((1+c.Lambda)*(1+c.Lambda)/(c.Lambda*c.Lambda), F.F)
	pretextNear(t, "F of THU-HyperG", &scaled, c.FTHU.dense(), pretextTight)
	c.Loss.check(t, F.F, c.hidden(), pretextTight)
}
