package represent

import "ssdl/methods"

// What the methods share is named here; both matrices are of the labelled columns alone.
const (
	gramKey  = "gram of labelled columns"
	outerKey = "outer product of labelled columns"
)

// Stages lists the keys of what SRC shares.
func (SRC) Stages(_, _ int) []string { return []string{methods.LabelledPrefix + gramKey} }

// Stages lists the keys of what NRC shares.
func (NRC) Stages(_, _ int) []string { return []string{methods.LabelledPrefix + gramKey} }

// Stages lists the keys of what CRC shares: the smaller of the two matrices.
func (CRC) Stages(dim, n int) []string {
	if n > dim {
		return []string{methods.LabelledPrefix + outerKey}
	}
	return []string{methods.LabelledPrefix + gramKey}
}
