package command

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/mat"

	"ssdl/harness/job"
	"ssdl/methods"
)

// Finding is the outcome of a rule in a trial.
type Finding struct {
	Rule string `json:"rule"`
	OK   bool   `json:"ok"`
	Text string `json:"text"`
}

// Trial tries a program on small data.
type Trial struct {
	Runner  Runner
	Command job.Command
	Params  map[string]any
	// Targets says that the program makes pseudo labels.
	Targets bool
}

// The small data: classes that lie far apart.
const (
	trialDim     = 12
	trialClasses = 3
	trialTrain   = 15 // training samples of a class
	trialShown   = 6  // training samples of a class that keep their label
	trialTest    = 8  // test samples of a class

	learned = 0.8 // accuracy that any method that learns reaches
)

// trialData is a problem and its test samples with their classes. truth has the classes of all training
// samples, which the program does not see.
type trialData struct {
	methods.Problem
	truth []int
	test  *mat.Dense
	want  []int
}

// samples draws n unit columns of each class, in random order.
func samples(r *rand.Rand, classes, n int) (X *mat.Dense, of []int) {
	for c := range classes {
		for range n {
			of = append(of, c)
		}
	}
	r.Shuffle(len(of), func(i, j int) { of[i], of[j] = of[j], of[i] })
	X = mat.NewDense(trialDim, len(of), nil)
	for j, c := range of {
		v := mat.NewVecDense(trialDim, nil)
		for i := range trialDim {
			v.SetVec(i, 0.3*r.Float64())
			if i%classes == c {
				v.SetVec(i, 1+r.Float64())
			}
		}
		v.ScaleVec(1/mat.Norm(v, 2), v)
		X.SetCol(j, v.RawVector().Data)
	}
	return X, of
}

// newTrialData draws small data, with shown labelled training samples and test test samples of each class.
// With unlabelled the last class has no label.
func newTrialData(classes, shown, test int, unlabelled bool) trialData {
	r := rand.New(rand.NewPCG(1, uint64(classes)))
	d := trialData{Problem: methods.Problem{Classes: classes}}
	d.X, d.truth = samples(r, classes, trialTrain)
	d.test, d.want = samples(r, classes, test)
	count := make([]int, classes)
	for _, c := range d.truth {
		if count[c]++; count[c] > shown || unlabelled && c == classes-1 {
			c = methods.Unlabeled
		}
		d.Labels = append(d.Labels, c)
	}
	return d
}

// Check tries a program against the rules of the protocol, one after the other. It stops if the first task
// fails, since the others would too. The error is that of ctx.
func (t Trial) Check(ctx context.Context) ([]Finding, error) {
	var list []Finding
	say := func(rule string, ok bool, format string, args ...any) {
		list = append(list, Finding{rule, ok, fmt.Sprintf(format, args...)})
	}
	full := newTrialData(trialClasses, trialShown, trialTest, false)
	first, record, err := t.try(ctx, full)
	if ctx.Err() != nil && !errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return list, ctx.Err()
	}
	confined := record.Confined
	if confined == "" {
		confined = t.Runner.confinement()
	}
	say("confined", confined != Unconfined, "%s", map[Confined]string{
		Unconfined:      "no: this system cannot confine programs, and tables will say so",
		Files:           "it can read only the system and its files; this kernel cannot forbid connections",
		FilesAndNetwork: "it can read only the system and its files, and cannot open TCP connections",
	}[confined])
	if err != nil {
		say("task", false, "%v", why(err))
		return list, nil
	}
	say("task", true, "it writes the expected files")
	want := full.want
	if t.Targets {
		want = full.truth
	}
	share := right(first, want)
	learns := fmt.Sprintf("%.0f %% of %d samples are right; the classes lie far apart", 100*share, len(want))
	if share < learned {
		learns += ". Are rows and columns in their order?"
	}
	say("learns", share >= learned, "%s", learns)
	again, _, err := t.try(ctx, full)
	switch {
	case err != nil:
		say("deterministic", false, "the same task again: %v", why(err))
	case slices.Equal(first, again):
		say("deterministic", true, "the same result twice")
	default:
		say("deterministic", false, "another result for the same task: draw from the seed of the task alone")
	}
	for _, rule := range []struct {
		name, text string
		data       trialData
	}{
		{"all labels", "every label is shown", newTrialData(trialClasses, trialTrain, trialTest, false)},
		{"one label", "one labelled sample for each class", newTrialData(trialClasses, 1, trialTest, false)},
		{"empty class", "a class without a labelled sample", newTrialData(trialClasses, trialShown, trialTest, true)},
		{"two classes", "two classes, a single test sample of each", newTrialData(2, trialShown, 1, false)},
	} {
		if _, _, err := t.try(ctx, rule.data); err != nil {
			say(rule.name, false, "%s: %v", rule.text, why(err))
			continue
		}
		say(rule.name, true, "%s", rule.text)
	}
	return list, nil
}

// why is err as a finding says it.
func why(err error) error {
	if errors.Is(err, context.DeadlineExceeded) {
		return errors.New("the trial reached its time limit (--timeout)")
	}
	return err
}

// try runs the program on small data, and returns the classes that it predicts. For targets, a class is that of
// the largest value.
func (t Trial) try(ctx context.Context, d trialData) (classes []int, record Record, err error) {
	if t.Targets {
		p := &Pretext{Runner: t.Runner, Command: t.Command, Params: t.Params, Seed: 1000}
		pseudo, err := p.PseudoLabels(ctx, d.Problem)
		if err != nil {
			return nil, p.Record, err
		}
		return methods.Harden(pseudo.F), p.Record, nil
	}
	m := &Method{Runner: t.Runner, Command: t.Command, Params: t.Params, Seed: 1000}
	model, err := m.Fit(ctx, d.Problem)
	if err != nil {
		return nil, m.Record, err
	}
	classes, err = model.Predict(ctx, d.test)
	return classes, m.Record, err
}

// right is the share of classes that equal want.
func right(is, want []int) float64 {
	n := 0
	for i := range want {
		if is[i] == want[i] {
			n++
		}
	}
	return float64(n) / float64(len(want))
}
