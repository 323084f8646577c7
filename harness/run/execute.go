package run

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"

	"gonum.org/v1/gonum/mat"

	"ssdl/harness/data"
	"ssdl/harness/spec"
	"ssdl/harness/store"
	"ssdl/methods"
	"ssdl/methods/catalog"
	"ssdl/methods/pretext"
)

// ValidationShare is the part of the labelled training samples that tuning holds out.
const ValidationShare = 0.2

// Unconverged is the trace and the metric that counts test codes whose duality gap is
// above the tolerance.
const Unconverged = "test_unconverged"

// PanicError is a panic of a method, caught: the run fails, the others go on.
type PanicError struct{ Value, Stack string }

func (e *PanicError) Error() string { return "panic: " + e.Value + "\n" + e.Stack }

// outcome is what a finished job leaves behind.
type outcome struct {
	Metrics     map[string]float64
	Series      []store.Point
	Predictions []int
	Truth       []int
}

// trace keeps a traced value; a later value of the same name and iteration replaces it.
func (o *outcome) trace(name string, it int, value float64) {
	for i := range o.Series {
		if o.Series[i].Name == name && o.Series[i].Iteration == it {
			o.Series[i].Value = value
			return
		}
	}
	o.Series = append(o.Series, store.Point{Name: name, Iteration: it, Value: value})
}

// view is a job's part of the data: what is trained on and what is scored.
type view struct {
	scope  string // names data, split and subset for the stage cache; see scopeOf
	train  []int  // sample indices
	labels []int  // of train; Unlabeled where hidden
	eval   []int  // sample indices
}

// scopeOf names what a job sees of the data. Which samples tuning holds out is drawn by the seed, and
// seeds can share a split: there it is the seed that tells their columns apart.
func scopeOf(set *data.Set, split *data.Split, job spec.Job) string {
	s := set.Hash + "/" + split.Hash + "/" + job.Eval
	if job.Eval == spec.EvalVal {
		s += "/" + strconv.FormatUint(job.Seed, 10)
	}
	return s
}

// look makes the view of a job. Tuning jobs hold out a part of the labelled training
// samples: those leave the training set altogether, so that no method has seen them.
func look(set *data.Set, split *data.Split, job spec.Job) view {
	v := view{train: split.Train, eval: split.Test, scope: scopeOf(set, split, job)}
	v.labels = make([]int, len(v.train))
	var labelled, of []int // positions in train, and their labels
	for i, j := range v.train {
		v.labels[i] = methods.Unlabeled
		if split.Labelled[i] {
			v.labels[i] = set.Labels[j]
			labelled, of = append(labelled, i), append(of, set.Labels[j])
		}
	}
	if job.Eval != spec.EvalVal {
		return v
	}
	_, val := data.Validation(of, ValidationShare, job.Seed)
	held := make(map[int]bool, len(val))
	eval := make([]int, 0, len(val))
	for _, k := range val {
		held[labelled[k]] = true
		eval = append(eval, v.train[labelled[k]])
	}
	var train, labels []int
	for i, j := range v.train {
		if !held[i] {
			train, labels = append(train, j), append(labels, v.labels[i])
		}
	}
	v.train, v.labels, v.eval = train, labels, eval
	return v
}

// pick returns the labels of the samples idx.
func pick(labels, idx []int) []int {
	out := make([]int, len(idx))
	for i, j := range idx {
		out[i] = labels[j]
	}
	return out
}

// execute runs one job to its metrics.
func execute(ctx context.Context, stages *Stages, set *data.Set, split *data.Split, job spec.Job) (*outcome, error) {
	v := look(set, split, job)
	if len(v.eval) == 0 {
		return nil, errors.New("there is no sample to score: the held-out part is empty; use more labels or another split")
	}
	out := &outcome{Metrics: map[string]float64{}, Truth: pick(set.Labels, v.eval)}
	p := methods.Problem{
		Classes: len(set.Classes),
		Rand:    data.Stream(job.Seed, "method"),
		Share:   stages.For(v.scope),
		Trace:   out.trace,
	}
	if job.Method == "" && job.Score == spec.ScoreTransductive {
		return out, transductive(ctx, out, p, set, v, job)
	}
	p.X, p.Labels = methods.Columns(set.X, v.train), v.labels
	if job.Method == "" {
		return out, pretextLoss(ctx, out, p, set, v, job)
	}
	model, err := fit(ctx, out, p, set, v, job)
	if err != nil {
		return nil, err
	}
	out.Predictions, err = model.Predict(ctx, methods.Columns(set.X, v.eval))
	if err != nil {
		return nil, err
	}
	out.accuracies(out.Predictions, out.Truth, p.Classes)
	for _, pt := range out.Series {
		if pt.Name == Unconverged { // a report must be able to say so
			out.Metrics[Unconverged] = pt.Value
		}
	}
	return out, nil
}

// fit trains the method of a job: a plain method, or a learner behind a pretext.
func fit(ctx context.Context, out *outcome, p methods.Problem, set *data.Set, v view, job spec.Job) (methods.Model, error) {
	entry, err := catalog.Lookup(job.Method)
	if err != nil {
		return nil, err
	}
	if job.Pretext == "" {
		m, err := entry.Method(job.Params)
		if err != nil {
			return nil, err
		}
		return m.Fit(ctx, p)
	}
	learner, err := entry.Learner(job.Params)
	if err != nil {
		return nil, err
	}
	pseudo, err := pseudoLabels(ctx, p, job)
	if err != nil {
		return nil, err
	}
	truth := pick(set.Labels, v.train)
	if hidden := hiddenColumns(p.Labels); len(hidden) > 0 {
		F := methods.Columns(pseudo.F, hidden)
		out.Metrics["pseudo_accuracy"] = pretext.Accuracy(F, pick(truth, hidden))
		out.Metrics["pseudo_bce"] = pretext.BCE(F, pick(truth, hidden))
	}
	return learner.FitTargets(ctx, p, pseudo.F)
}

func hiddenColumns(labels []int) []int {
	var out []int
	for j, y := range labels {
		if y == methods.Unlabeled {
			out = append(out, j)
		}
	}
	return out
}

// madePseudo is the stage that runs with the same pretext share: the labels and what
// their making traced.
type madePseudo struct {
	methods.Pseudo
	series []store.Point
}

// pseudoLabels computes F, or takes it from the stage cache, and traces it either way.
func pseudoLabels(ctx context.Context, p methods.Problem, job spec.Job) (methods.Pseudo, error) {
	entry, err := catalog.Lookup(job.Pretext)
	if err != nil {
		return methods.Pseudo{}, err
	}
	maker, err := entry.Pretext(job.PretextParams)
	if err != nil {
		return methods.Pseudo{}, err
	}
	key, err := pseudoKey(job)
	if err != nil {
		return methods.Pseudo{}, err
	}
	made, err := methods.Shared(ctx, p, key, func() (madePseudo, int64, error) {
		var m madePseudo
		q := p
		q.Rand = data.Stream(job.Seed, "pretext")
		q.Trace = func(name string, it int, value float64) {
			m.series = append(m.series, store.Point{Name: "pretext." + name, Iteration: it, Value: value})
		}
		var err error
		if m.Pseudo, err = maker.PseudoLabels(ctx, q); err != nil {
			return m, 0, err
		}
		c, n := m.F.Dims()
		r, k := p.X.Dims()
		return m, int64(8 * (c*n + r*k)), nil // Score keeps the training columns
	})
	for _, pt := range made.series {
		p.Trace.Add(pt.Name, pt.Iteration, pt.Value)
	}
	return made.Pseudo, err
}

// pretextLoss scores a pretext by itself: F on the hidden training columns, and its
// extension to the test columns (score: oos).
func pretextLoss(ctx context.Context, out *outcome, p methods.Problem, set *data.Set, v view, job spec.Job) error {
	pseudo, err := pseudoLabels(ctx, p, job)
	if err != nil {
		return err
	}
	if hidden := hiddenColumns(p.Labels); len(hidden) > 0 {
		out.losses("unlabelled_", methods.Columns(pseudo.F, hidden), pick(pick(set.Labels, v.train), hidden))
	}
	scores, err := pseudo.Score(ctx, methods.Columns(set.X, v.eval))
	if err != nil {
		return err
	}
	return out.scores(scores, set, v)
}

// transductivePrefix marks stages of training and test columns together.
const transductivePrefix = "transductive/"

// transductive scores a pretext on a graph over training and test columns together;
// the test labels stay hidden (score: transductive).
func transductive(ctx context.Context, out *outcome, p methods.Problem, set *data.Set, v view, job spec.Job) error {
	p.X = methods.Columns(set.X, append(append([]int{}, v.train...), v.eval...))
	p.Labels = append([]int{}, v.labels...)
	for range v.eval {
		p.Labels = append(p.Labels, methods.Unlabeled)
	}
	share := p.Share
	p.Share = func(ctx context.Context, key string, build func() (any, int64, error)) (any, error) {
		return share(ctx, transductivePrefix+key, build)
	}
	pseudo, err := pseudoLabels(ctx, p, job)
	if err != nil {
		return err
	}
	test := make([]int, len(v.eval))
	for i := range test {
		test[i] = len(v.train) + i
	}
	if hidden := hiddenColumns(v.labels); len(hidden) > 0 {
		out.losses("unlabelled_", methods.Columns(pseudo.F, hidden), pick(pick(set.Labels, v.train), hidden))
	}
	return out.scores(methods.Columns(pseudo.F, test), set, v)
}

// scores records the losses of the scored columns and keeps the argmax as predictions.
func (o *outcome) scores(scores *mat.Dense, set *data.Set, v view) error {
	truth := pick(set.Labels, v.eval)
	o.losses("", scores, truth)
	o.Predictions = methods.Harden(scores)
	return nil
}

func (o *outcome) losses(prefix string, scores *mat.Dense, truth []int) {
	o.Metrics[prefix+"bce"] = pretext.BCE(scores, truth)
	o.Metrics[prefix+"ce_row"] = pretext.CERow(scores, truth)
	o.Metrics[prefix+"ce_softmax"] = pretext.CESoftmax(scores, truth)
	o.Metrics[prefix+"accuracy"] = pretext.Accuracy(scores, truth)
}

// accuracies records the recognition rate and the mean of the per-class rates.
func (o *outcome) accuracies(predicted, truth []int, classes int) {
	right, hits, count := 0, make([]int, classes), make([]int, classes)
	for i, y := range truth {
		count[y]++
		if predicted[i] == y {
			right++
			hits[y]++
		}
	}
	sum, present := 0.0, 0
	for c := range classes {
		if count[c] > 0 {
			sum += float64(hits[c]) / float64(count[c])
			present++
		}
	}
	o.Metrics["accuracy"] = float64(right) / float64(len(truth))
	o.Metrics["balanced_accuracy"] = sum / float64(present)
}

// finite names the first metric or traced value that is no number: such a run has failed.
func (o *outcome) finite() error {
	for _, name := range slices.Sorted(maps.Keys(o.Metrics)) {
		if v := o.Metrics[name]; math.IsNaN(v) || math.IsInf(v, 0) {
			return fmt.Errorf("the metric %s is %v", name, v)
		}
	}
	for _, pt := range o.Series {
		if math.IsNaN(pt.Value) || math.IsInf(pt.Value, 0) {
			return fmt.Errorf("the traced %s is %v at iteration %d", pt.Name, pt.Value, pt.Iteration)
		}
	}
	return nil
}

// describe names a job in an error as a reader would look for it.
func describe(job spec.Job) string {
	s := fmt.Sprintf("%s on %s, seed %d", job.Name(), job.Dataset, job.Seed)
	if job.Eval == spec.EvalVal {
		s += " (tuning)"
	}
	return s
}

// guard runs f and turns a panic into an error.
func guard(f func() (*outcome, error)) (out *outcome, err error) {
	v, _, err := guarded(func() (any, int64, error) {
		o, err := f()
		return o, 0, err
	})
	if err != nil {
		return nil, err
	}
	return v.(*outcome), nil
}
