package dictionary

import (
	"context"
	"fmt"

	"gonum.org/v1/gonum/mat"

	"ssdl/methods"
	"ssdl/methods/linalg"
)

// CDLF is cascaded dictionary learning (Signal Processing, 2020): first class-specific
// dictionaries, then a shared, label embedded dictionary on their codes.
//
// Beyond the names of the stages neither text nor code is public: how they are joined is our
// interpretation. The first stage is CSDL. Every sample, of training and of test, is coded over all
// dictionaries, as CSDL codes a test sample: codes over its own class alone would reveal its label.
// The second stage is LEDL on these codes, scaled to norm 1.
//
// The first stage hardens soft targets F as CSDL does, the second takes them as LEDL does. Both use
// p.Labels as these do.
type CDLF struct {
	Atoms           int     `param:"atoms" default:"0" min:"0" doc:"first stage: atoms of a class; 0 means that first_size says it"`
	FirstSize       float64 `param:"first_size" default:"0.5" min:"1e-6" max:"4" doc:"first stage: atoms of a class as a share of what first_size_of counts"`
	FirstSizeOf     string  `param:"first_size_of" default:"all" choices:"all,labelled,dim" doc:"first stage: the samples of the class, its labelled ones, or an equal part of the features"`
	Alpha           float64 `param:"alpha" default:"2^-6" min:"2^-40" doc:"first stage: weight of the l1 norm of a code"`
	Tau             float64 `param:"tau" default:"2^-6" min:"0" doc:"first stage: weight of the reconstruction by the class alone"`
	FirstIterations int     `param:"first_iterations" default:"30" min:"1" doc:"iterations of the first stage"`
	Mode            string  `param:"mode" default:"paper" choices:"paper,reference" doc:"first stage: exact codes, or coordinate descent stopped as in the authors' code"`
	K               int     `param:"K" default:"0" min:"0" doc:"second stage: atoms; 0 means that size says it"`
	Size            float64 `param:"size" default:"1" min:"1e-6" max:"4" doc:"second stage: atoms as a share of what size_of counts"`
	SizeOf          string  `param:"size_of" default:"labelled" choices:"all,labelled,dim" doc:"second stage: the samples, the labelled ones, or the features"`
	Lambda          float64 `param:"lambda" default:"2^-6" min:"0" doc:"second stage: weight of the label error"`
	Omega           float64 `param:"omega" default:"2^-6" min:"0" doc:"second stage: weight of the label consistency error"`
	Epsilon         float64 `param:"epsilon" default:"2^-12" min:"0" doc:"second stage: weight of the l1 norm of the codes, of test samples as well"`
	Rho             float64 `param:"rho" default:"1" min:"1e-9" doc:"second stage: penalty of the splitting"`
	Iterations      int     `param:"iterations" default:"10" min:"1" doc:"iterations of the second stage, and passes for a test sample"`
}

// OrderDependent names the reason why the order of the samples matters.
func (CDLF) OrderDependent() string { return csdlOrder + ", and " + ledlOrder }

func (m CDLF) firstSize() size { return size{"cdlf", "atoms", m.Atoms, m.FirstSize, m.FirstSizeOf} }

func (m CDLF) size() size { return size{"cdlf", "K", m.K, m.Size, m.SizeOf} }

// stages returns the two methods, but for their numbers of atoms.
func (m CDLF) stages() (CSDL, LEDL) {
	return CSDL{Alpha: m.Alpha, Tau: m.Tau, Iterations: m.FirstIterations, Mode: m.Mode},
		LEDL{
			Lambda: m.Lambda, Omega: m.Omega, Epsilon: m.Epsilon, TestEpsilon: m.Epsilon,
			Rho: m.Rho, Iterations: m.Iterations, TestIterations: m.Iterations,
		}
}

// FitTargets learns both stages from X and F (C x N). It traces "first_objective" and
// "objective", that of the second stage.
func (m CDLF) FitTargets(ctx context.Context, p methods.Problem, F *mat.Dense) (methods.Model, error) {
	q, err := hardened("cdlf", m, p, F)
	if err != nil {
		return nil, err
	}
	atoms, err := m.firstSize().perClass(p, q)
	if err != nil {
		return nil, err
	}
	k, err := m.size().total(p, p)
	if err != nil {
		return nil, err
	}
	first, second := m.stages()
	q.Trace = func(name string, it int, v float64) { p.Trace.Add("first_"+name, it, v) }
	one, err := first.fit(ctx, q, atoms)
	if err != nil {
		return nil, fmt.Errorf("cdlf: first stage: %w", err)
	}
	Z, err := one.UnitCodes(ctx, p.X)
	if err != nil {
		return nil, fmt.Errorf("cdlf: %w", err)
	}
	one.trace = p.Trace // it codes test samples from here on
	two, err := second.fit(ctx, p, Z, F, k)
	if err != nil {
		return nil, fmt.Errorf("cdlf: second stage: %w", err)
	}
	return &CDLFModel{First: one, Second: two}, nil
}

// UnitCodes returns the codes of the columns of X, scaled to norm 1; zero codes stay zero.
func (m *CSDLModel) UnitCodes(ctx context.Context, X *mat.Dense) (*mat.Dense, error) {
	S, err := m.Codes(ctx, X)
	if err == nil {
		linalg.NormalizeColumns(S)
	}
	return S, err
}

// CDLFModel classifies by the second stage on the codes of the first.
type CDLFModel struct {
	First  *CSDLModel
	Second *LEDLModel
}

// Scores returns the scores (C x M) of the columns of X (dim x M).
func (m *CDLFModel) Scores(ctx context.Context, X *mat.Dense) (*mat.Dense, error) {
	Z, err := m.First.UnitCodes(ctx, X)
	if err != nil {
		return nil, fmt.Errorf("cdlf: %w", err)
	}
	return m.Second.Scores(ctx, Z)
}

// Predict returns the class with the largest score among the classes with a labelled sample.
func (m *CDLFModel) Predict(ctx context.Context, X *mat.Dense) ([]int, error) {
	scores, err := m.Scores(ctx, X)
	if err != nil {
		return nil, err
	}
	return largest(scores, m.Second.known), nil
}

// Bytes counts what the first stage leaves, and the second on its codes.
func (m CDLF) Bytes(dim, n, test, classes int) int64 {
	first := m.firstSize().atMost(dim, n, classes)
	_, second := m.stages()
	second.K = m.size().atMost(dim, n, 1)
	return int64(8*(dim*n+first*dim+2*first*first+first*n)) + second.Bytes(first, n, test, classes)
}
