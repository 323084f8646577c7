package represent

import "ssdl/methods"

// What the methods share is named here; the matrices are of the labelled columns alone.
const (
	gramKey  = "gram of labelled columns"
	outerKey = "outer product of labelled columns"

	superposedKey     = "gram of class means and deviations"
	superposedUnitKey = superposedKey + ", unit columns"
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

// Stages lists the keys of what SLRC shares.
func (s SLRC) Stages(_, _ int) []string {
	if s.Unit {
		return []string{methods.LabelledPrefix + superposedUnitKey}
	}
	return []string{methods.LabelledPrefix + superposedKey}
}
