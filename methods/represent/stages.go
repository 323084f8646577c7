package represent

import "ssdl/methods"

// The keys of what the methods share; the matrices are those of the labelled columns.
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

// Stages lists the keys of what CRC shares: that of the smaller matrix.
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
