package protocol

import (
	"slices"

	"ssdl/methods"
)

// HeldOut is the share of the labelled training samples that tuning holds out.
const HeldOut = 0.2

// View is the data of a trial: the samples to train on and to score, each in an order drawn by the seed.
// Files list samples by class, so a method must not see their order.
type View struct {
	Train  []int // sample indices
	Labels []int // of Train; methods.Unlabeled where hidden
	Eval   []int // sample indices
	// ascending lists the indices in Eval by ascending sample: the order of recorded predictions.
	ascending []int
}

// View returns the data of a trial. With tunes it scores held-out labelled training samples, which it
// removes from the training set, so that no method has seen them.
func (in Input) View(seed uint64, tunes bool) View {
	v := in.unordered(seed, tunes)
	r := Stream(seed, "order")
	r.Shuffle(len(v.Train), func(i, j int) {
		v.Train[i], v.Train[j] = v.Train[j], v.Train[i]
		v.Labels[i], v.Labels[j] = v.Labels[j], v.Labels[i]
	})
	r.Shuffle(len(v.Eval), func(i, j int) { v.Eval[i], v.Eval[j] = v.Eval[j], v.Eval[i] })
	v.ascending = make([]int, len(v.Eval))
	for i := range v.ascending {
		v.ascending[i] = i
	}
	slices.SortFunc(v.ascending, func(a, b int) int { return v.Eval[a] - v.Eval[b] })
	return v
}

// unordered is View without the shuffling.
func (in Input) unordered(seed uint64, tunes bool) View {
	v := View{Train: slices.Clone(in.Train), Eval: slices.Clone(in.Test)}
	v.Labels = make([]int, len(v.Train))
	var labelled, of []int // positions in Train, and their labels
	for i, j := range v.Train {
		v.Labels[i] = methods.Unlabeled
		if in.Labelled[i] {
			v.Labels[i] = in.Labels[j]
			labelled, of = append(labelled, i), append(of, in.Labels[j])
		}
	}
	if !tunes {
		return v
	}
	_, val := HoldOut(of, HeldOut, seed)
	held := make(map[int]bool, len(val))
	eval := make([]int, 0, len(val))
	for _, k := range val {
		held[labelled[k]] = true
		eval = append(eval, v.Train[labelled[k]])
	}
	var train, labels []int
	for i, j := range v.Train {
		if !held[i] {
			train, labels = append(train, j), append(labels, v.Labels[i])
		}
	}
	v.Train, v.Labels, v.Eval = train, labels, eval
	return v
}

// Hidden lists the indices in Train of the samples whose label is hidden.
func (v View) Hidden() []int {
	var out []int
	for i, y := range v.Labels {
		if y == methods.Unlabeled {
			out = append(out, i)
		}
	}
	return out
}

// pick returns the labels of the samples idx.
func pick(labels, idx []int) []int {
	out := make([]int, len(idx))
	for i, j := range idx {
		out[i] = labels[j]
	}
	return out
}
