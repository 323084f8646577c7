// Package protocol is the code that decides the result of a job: how samples are split, which of them a
// method sees, how pseudo labels are made and extended, and which candidate tuning chooses. It reads no file,
// keeps no record and names no method. Every run records its fingerprint.
package protocol

import (
	"context"
	"errors"
	"fmt"

	"gonum.org/v1/gonum/mat"

	"ssdl/methods"
)

// Input is a data set and its split.
type Input struct {
	// X is dim x samples, every column of unit l2 norm; Labels are 0..Classes-1.
	X       *mat.Dense
	Labels  []int
	Classes int
	// Train and Test are sample indices. Labelled marks the samples of Train that keep their label.
	Train, Test []int
	Labelled    []bool
}

// Trial is the computation of a job: a method, a learner after a pretext, or a pretext alone.
type Trial struct {
	Method  methods.Method  // nil after a pretext, or without a method
	Learner methods.Learner // nil unless there are a pretext and a method
	Pretext methods.Pretext // nil for a method alone
	Seed    uint64
	// Tunes scores the held-out training samples in place of the test part.
	Tunes bool
	// Transductive scores a pretext alone on a graph of training and test samples together.
	Transductive bool
	// PseudoKey names the pretext, its parameters and the seed: trials of one key share their
	// pseudo labels. Share caches the stages of trials on the same samples; it may be nil.
	PseudoKey string
	Share     methods.Share
}

// Outcome is the output of a trial, which metrics measure.
type Outcome struct {
	// Truth and Predicted are the classes of the scored samples, in ascending order of the samples.
	Truth, Predicted []int
	// Scores is C x M, the soft labels of the scored samples in the same order; nil unless a pretext runs alone.
	Scores *mat.Dense
	// HiddenF is C x n, the pseudo labels of the training samples whose label is hidden, and HiddenTruth
	// has their classes; nil without a pretext.
	HiddenF     *mat.Dense
	HiddenTruth []int
	// Trace has the traced values, the latest of each name and iteration.
	Trace []Point
}

// Point is a traced value.
type Point struct {
	Name      string
	Iteration int
	Value     float64
}

// Add adds a traced value, in place of an earlier one of the same name and iteration.
func (o *Outcome) Add(name string, it int, value float64) {
	for i := range o.Trace {
		if o.Trace[i].Name == name && o.Trace[i].Iteration == it {
			o.Trace[i].Value = value
			return
		}
	}
	o.Trace = append(o.Trace, Point{name, it, value})
}

// TransductivePrefix marks shared stages of training and test samples together.
const TransductivePrefix = "transductive/"

// Execute runs a trial. No method gets the labels of the scored samples.
func Execute(ctx context.Context, in Input, t Trial) (*Outcome, error) {
	v := in.View(t.Seed, t.Tunes)
	if len(v.Eval) == 0 {
		return nil, errors.New("no sample to score: the held-out part is empty. Use more labels or another split")
	}
	out := &Outcome{Truth: pick(pick(in.Labels, v.Eval), v.ascending)}
	p := methods.Problem{Classes: in.Classes, Rand: Stream(t.Seed, "method"), Share: t.Share, Trace: out.Add}
	if t.Method == nil && t.Learner == nil {
		return out, t.scorePretext(ctx, out, p, in, v)
	}
	p.X, p.Labels = methods.Columns(in.X, v.Train), v.Labels
	model, err := t.fit(ctx, out, p, in, v)
	if err != nil {
		return nil, err
	}
	predicted, err := model.Predict(ctx, methods.Columns(in.X, v.Eval))
	if err != nil {
		return nil, err
	}
	if len(predicted) != len(v.Eval) {
		return nil, fmt.Errorf("the method predicts %d classes for %d samples", len(predicted), len(v.Eval))
	}
	out.Predicted = pick(predicted, v.ascending)
	return out, nil
}

// fit trains a method, or a learner on the targets of a pretext.
func (t Trial) fit(ctx context.Context, out *Outcome, p methods.Problem, in Input, v View) (methods.Model, error) {
	if t.Pretext == nil {
		return t.Method.Fit(ctx, p)
	}
	pseudo, err := t.pseudoLabels(ctx, p)
	if err != nil {
		return nil, err
	}
	out.hidden(pseudo.F, in, v)
	return t.Learner.FitTargets(ctx, p, pseudo.F)
}

func (o *Outcome) hidden(F *mat.Dense, in Input, v View) {
	if at := v.Hidden(); len(at) > 0 {
		o.HiddenF, o.HiddenTruth = methods.Columns(F, at), pick(pick(in.Labels, v.Train), at)
	}
}

// scorePretext scores a pretext alone, and predicts the class of the largest score.
func (t Trial) scorePretext(ctx context.Context, out *Outcome, p methods.Problem, in Input, v View) error {
	score := t.unseen
	if t.Transductive {
		score = t.transductive
	}
	scores, err := score(ctx, out, p, in, v)
	if err != nil {
		return err
	}
	out.Scores = methods.Columns(scores, v.ascending)
	out.Predicted = methods.Harden(out.Scores)
	return nil
}

// unseen extends pseudo labels of the training samples to the scored ones (score: oos).
func (t Trial) unseen(ctx context.Context, out *Outcome, p methods.Problem, in Input, v View) (*mat.Dense, error) {
	p.X, p.Labels = methods.Columns(in.X, v.Train), v.Labels
	pseudo, err := t.pseudoLabels(ctx, p)
	if err != nil {
		return nil, err
	}
	out.hidden(pseudo.F, in, v)
	return pseudo.Score(ctx, methods.Columns(in.X, v.Eval))
}

// transductive makes pseudo labels of training and scored samples on one graph, with the labels of the
// scored ones hidden (score: transductive).
func (t Trial) transductive(ctx context.Context, out *Outcome, p methods.Problem, in Input, v View) (*mat.Dense, error) {
	p.X = methods.Columns(in.X, append(append([]int{}, v.Train...), v.Eval...))
	p.Labels = append([]int{}, v.Labels...)
	scored := make([]int, len(v.Eval))
	for i := range v.Eval {
		p.Labels = append(p.Labels, methods.Unlabeled)
		scored[i] = len(v.Train) + i
	}
	if share := p.Share; share != nil {
		p.Share = func(ctx context.Context, key string, build func() (any, int64, error)) (any, error) {
			return share(ctx, TransductivePrefix+key, build)
		}
	}
	pseudo, err := t.pseudoLabels(ctx, p)
	if err != nil {
		return nil, err
	}
	out.hidden(pseudo.F, in, v)
	return methods.Columns(pseudo.F, scored), nil
}

// madePseudo is the stage that trials with the same pretext share: the pseudo labels, and the trace of
// making them.
type madePseudo struct {
	methods.Pseudo
	trace []Point
}

// pseudoLabels computes the pseudo labels, or uses those of another trial, and adds their trace.
func (t Trial) pseudoLabels(ctx context.Context, p methods.Problem) (methods.Pseudo, error) {
	made, err := methods.Shared(ctx, p, t.PseudoKey, func() (madePseudo, int64, error) {
		var m madePseudo
		q := p
		q.Rand = Stream(t.Seed, "pretext")
		q.Trace = func(name string, it int, value float64) {
			m.trace = append(m.trace, Point{"pretext." + name, it, value})
		}
		var err error
		if m.Pseudo, err = t.Pretext.PseudoLabels(ctx, q); err != nil {
			return m, 0, err
		}
		c, n := m.F.Dims()
		r, k := p.X.Dims()
		return m, int64(8 * (c*n + r*k)), nil // Score keeps the training columns
	})
	for _, pt := range made.trace {
		p.Trace.Add(pt.Name, pt.Iteration, pt.Value)
	}
	return made.Pseudo, err
}
