package report

import (
	"fmt"
	"strings"

	"ssdl/experiments/paper"
	"ssdl/harness/results"
	"ssdl/harness/verdict"
)

// FigurePage is a Markdown page with the figures of a table (PNG files beside it), what the paper says
// about them, and the verdicts.
func FigurePage(t results.Table, figures []Figure, v verdict.Verdicts) (string, error) {
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n\n", markdown(t.Caption))
	if t.Synthetic() {
		b.WriteString("Pictures marked synthetic show generated data, not features of images.\n\n")
	}
	for _, f := range figures {
		fmt.Fprintf(&b, "![%s](%s.png)\n\n", markdown(f.Title), f.Name)
		if names := f.TunedOnTest(); len(names) > 0 {
			fmt.Fprintf(&b, "<sup>†</sup> %s: %s\n\n", markdown(strings.Join(names, ", ")), TunedOnTestText)
		}
	}
	var says strings.Builder
	for _, c := range paper.Claims() {
		line := fmt.Sprintf("- \"%s\" (%s)\n", c.Quote, c.Where)
		if c.Table == t.ID && !strings.Contains(says.String(), line) { // one sentence may make several claims
			says.WriteString(line)
		}
	}
	if says.Len() == 0 {
		return b.String(), nil
	}
	fmt.Fprintf(&b, "The paper says:\n\n%s\n", says.String())
	err := OfVerdicts(v).Write(&b, "md")
	return b.String(), err
}
