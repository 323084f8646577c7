package golden

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"
	"ssdl/methods"
	"ssdl/methods/catalog"
	"ssdl/methods/pretext"
)

func init() { handle("DHSL", goldenDHSL) }

func goldenDHSL(t *testing.T, raw []byte) {
	var c struct {
		pretextCase
		Beta, Step   *float64
		Outer, Inner int
		H0           pretextCOO
		THUA         []float64   `json:"thu_A"`
		THUFill      *float64    `json:"thu_fill"`
		THUF         pretextRows `json:"thu_F"`
		THUH         pretextCOO  `json:"thu_H"`
		F            pretextRows
		H            pretextCOO
		HSum         *float64 `json:"H_sum"`
		HFro         *float64 `json:"H_fro"`
		HNonzero     *int     `json:"H_nnz"`
		Loss         *pretextLoss
	}
	pretextParse(t, raw, &c)
	p := c.problem(t)
	c.hypergraph(t, p, c.H0)
	settings := c.Beta != nil && c.Step != nil && c.Outer > 0 && c.Inner > 0
	if !c.filled(t) || !has(t, "beta, step, outer and inner", settings) {
		return
	}

	// The files look at all pairs of samples and take every step whole.
	values := catalog.Values{
		"k": c.K, "lambda": *c.Lambda, "fill": *c.Fill, "beta": *c.Beta, "step": *c.Step, "outer": c.Outer, "inner": c.Inner,
		"mask": max(len(c.Labels)-1, c.K), "anchor": "equal", "backtrack": false,
	}
	learn := func() (pretext.Structure, *mat.Dense) {
		m := build[pretext.DHSL](t, "dhsl", values)
		s, err := m.Learn(t.Context(), p, methods.OneHot(p.Labels, p.Classes, m.Fill))
		if err != nil {
			t.Fatal(err)
		}
		return s, mat.DenseCopyOf(pretextDense(s.H).T())
	}
	s, H := learn()
	pretextNear(t, "F", s.F, c.F.dense(), pretextTight)
	pretextNear(t, "H", H, c.H.dense(), pretextTight)
	sum, squares, nonzero := 0.0, 0.0, 0
	for _, v := range s.H.Val {
		sum, squares = sum+v, squares+v*v
		if v != 0 {
			nonzero++
		}
	}
	if c.HSum != nil {
		pretextClose(t, "sum of H", sum, *c.HSum, pretextTight)
	}
	if c.HFro != nil {
		pretextClose(t, "norm of H", math.Sqrt(squares), *c.HFro, pretextTight)
	}
	if c.HNonzero != nil && nonzero != *c.HNonzero {
		t.Errorf("H has %d non-zeros, want %d", nonzero, *c.HNonzero)
	}
	c.Loss.check(t, s.F, c.hidden(), pretextTight)

	if c.THUF == nil && c.THUH.Shape[0] == 0 {
		return
	}
	values["anchor"], values["fill"] = "thu", 1/float64(c.C)
	if c.THUFill != nil {
		values["fill"] = *c.THUFill
	}
	for j, a := range c.THUA {
		if want := map[bool]float64{true: 1e-4, false: 1}[c.LabelledMask[j] != 0]; a != want {
			t.Fatalf("A of sample %d is %g, want %g", j, a, want)
		}
	}
	s, H = learn()
	// The weights of 1e-4 make the system 1e4 times worse conditioned.
	pretextNear(t, "F of THU-HyperG", s.F, c.THUF.dense(), 1e3*pretextTight)
	pretextNear(t, "H of THU-HyperG", H, c.THUH.dense(), 1e3*pretextTight)
}
