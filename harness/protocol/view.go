package protocol

import "ssdl/methods"

// HeldOut is the share of the labelled training samples that tuning holds out.
const HeldOut = 0.2

// View is a trial's part of the data: what is trained on and what is scored.
type View struct {
	Train  []int // sample indices
	Labels []int // of Train; methods.Unlabeled where hidden
	Eval   []int // sample indices
}

// View says what a trial sees. One that tunes holds out a part of the labelled training
// samples: those leave the training set altogether, so that no method has seen them.
func (in Input) View(seed uint64, tunes bool) View {
	v := View{Train: in.Train, Eval: in.Test}
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

// Hidden lists the columns whose label is hidden.
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
