package golden

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"
	"ssdl/methods"
	"ssdl/methods/catalog"
	"ssdl/methods/pretext"
)

func init() { handle("HL-W", goldenHLW) }

// hlwHypergraph is the one with the incidences H and the weights 1.
func hlwHypergraph(H *mat.Dense) *pretext.Hypergraph {
	vertices, edges := H.Dims()
	h := &pretext.Hypergraph{H: pretextCSR(H), Dv: make([]float64, vertices), De: make([]float64, edges)}
	for v := range vertices {
		for e := range edges {
			h.Dv[v] += H.At(v, e)
			h.De[e] += H.At(v, e)
		}
	}
	B := mat.NewDense(vertices, edges, nil)
	for v := range vertices {
		for e := range edges {
			B.Set(v, e, H.At(v, e)/math.Sqrt(h.Dv[v]*h.De[e]))
		}
	}
	h.B, h.BT = pretextCSR(B), pretextCSR(mat.DenseCopyOf(B.T()))
	return h
}

func goldenHLW(t *testing.T, raw []byte) {
	var c struct {
		pretextCase
		Mu        *float64
		Iters     int
		H         pretextCOO
		CFirst    []float64 `json:"c_first"`
		WFirst    []float64 `json:"w_first"`
		W, Dv     []float64
		F         pretextRows
		Objective []float64
		Loss      *pretextLoss
		RankH     int `json:"rank_H"`
		THU       *struct {
			H2 pretextCOO
			C  []float64
		} `json:"thu_form"`
	}
	pretextParse(t, raw, &c)
	p := c.problem(t)
	h := c.hypergraph(t, p, c.H)
	if c.RankH > 0 {
		var svd mat.SVD
		if !svd.Factorize(pretextDense(h.H), mat.SVDNone) {
			t.Fatal("no singular values of H")
		}
		if rank := svd.Rank(1e-12); rank != c.RankH {
			t.Errorf("H has the rank %d, want %d", rank, c.RankH)
		}
	}
	if !c.filled(t) {
		return
	}
	O := methods.OneHot(p.Labels, p.Classes, *c.Fill)
	F, err := pretext.HL{}.Laplacian(h).Solve(t.Context(), "hl", O, *c.Lambda)
	if err != nil {
		t.Fatal(err)
	}
	pretextVector(t, "c of the first round", h.Shares(F.F), c.CFirst, pretextTight)
	if c.THU != nil && has(t, "H2", c.THU.H2.dense() != nil) {
		hlwTHU(t, hlwHypergraph(c.THU.H2.dense()), O, *c.Lambda, c.THU.C)
	}
	if !has(t, "mu", c.Mu != nil) {
		return
	}
	values := catalog.Values{"k": c.K, "bandwidth": "unit", "lambda": *c.Lambda, "fill": *c.Fill, "mu": *c.Mu, "step": "frozen", "rounds": 1}
	l, err := build[pretext.HLW](t, "hlw", values).Learn(t.Context(), h, O)
	if err != nil {
		t.Fatal(err)
	}
	pretextVector(t, "w of the first round", l.W, c.WFirst, pretextTight)
	if !has(t, "iters", c.Iters > 0) {
		return
	}
	values["rounds"] = c.Iters
	if l, err = build[pretext.HLW](t, "hlw", values).Learn(t.Context(), h, O); err != nil {
		t.Fatal(err)
	}
	pretextVector(t, "w", l.W, c.W, pretextTight)
	pretextVector(t, "Dv", l.H.Dv, c.Dv, pretextTight)
	pretextNear(t, "F", l.F, c.F.dense(), pretextTight)
	// The file has those that the rounds start with.
	pretextVector(t, "objective", l.Objective[:min(len(c.Objective), len(l.Objective))], c.Objective, pretextTight)
	c.Loss.check(t, l.F, c.hidden(), pretextTight)
}

// hlwTHU checks c on a hypergraph with more hyperedges than vertices. The step that the
// file takes from there, with H w = d_v for a constraint, is not offered (see HLW).
func hlwTHU(t *testing.T, h *pretext.Hypergraph, O *mat.Dense, lambda float64, want []float64) {
	F, err := pretext.HL{}.Laplacian(h).Solve(t.Context(), "hl", O, lambda)
	if err != nil {
		t.Fatal(err)
	}
	pretextVector(t, "c on two hypergraphs", h.Shares(F.F), want, pretextTight)
}
