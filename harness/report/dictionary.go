package report

import (
	"fmt"
	"slices"

	"ssdl/harness/results"
)

// AtomsText is text such as "24, 30 in the first stage"; empty without a dictionary.
func AtomsText(d results.Dictionary) string {
	switch {
	case d.Atoms == 0:
		return ""
	case d.FirstAtoms > 0:
		return fmt.Sprintf("%d, %d in the first stage", d.Atoms, d.FirstAtoms)
	}
	return fmt.Sprint(d.Atoms)
}

// DegenerateText says how many of the runs have a degenerate dictionary.
func DegenerateText(degenerate, runs int) string {
	which := "this run"
	if runs > 1 {
		which = fmt.Sprintf("%d of %d runs", degenerate, runs)
	}
	return "Degenerate dictionary in " + which + ": codes have nearly as many entries as there are features, and reproduce any sample. Use more l1 weight or fewer atoms."
}

// DictionariesText describes the numbers of atoms of some runs, and says whether dictionaries are
// degenerate.
func DictionariesText(runs []results.Run) string {
	var texts []string
	finished, degenerate := 0, 0
	for _, r := range runs {
		if r.UID != "" {
			finished++
		}
		if r.Degenerate {
			degenerate++
		}
		if text := AtomsText(r.Dictionary); text != "" && !slices.Contains(texts, text) {
			texts = append(texts, text)
		}
	}
	text := Listed(texts, "or")
	if degenerate > 0 {
		text += ". " + DegenerateText(degenerate, finished)
	}
	return text
}
