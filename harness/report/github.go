package report

import (
	"fmt"
	"io"
	"strings"

	"ssdl/harness/sanitize"
	"ssdl/harness/verdict"
)

// Annotate writes verdicts as workflow commands of GitHub Actions: an error for what differs, fails or has
// no successful run; a warning for what is undecided or has one seed; one warning per table for missing
// cells; and a notice with the counts. Matches, claims that hold or lack results, and stand-ins are only
// counted.
func Annotate(w io.Writer, list ...verdict.Verdicts) error {
	var b strings.Builder
	for _, r := range list {
		for _, c := range r.Cells {
			switch c.Verdict {
			case verdict.Differs, verdict.Failed:
				command(&b, "error", r.Table+", "+c.Column+", "+c.Title, cellText(r, c))
			case verdict.Open:
				command(&b, "warning", r.Table+", "+c.Column+", "+c.Title, cellText(r, c))
			}
		}
		if n := r.Summary.Missing; n > 0 {
			command(&b, "warning", r.Table, fmt.Sprintf("published cells without a value of ours: %d of %d", n, len(r.Cells)-r.Summary.StandIn))
		}
		for _, f := range r.Claims {
			title := r.Table + ", " + f.Column + ", " + f.Claim
			switch {
			case f.StandsFor != "" || f.Variant:
			case f.Decision == verdict.Fails:
				command(&b, "error", title, findingLine(r, f))
			case f.Decision == verdict.Undecided:
				command(&b, "warning", title, findingLine(r, f))
			}
		}
		command(&b, "notice", r.Table, SummaryText(r.Summary))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// Only these characters have a meaning in a workflow command: a colon or comma ends a property, a line end
// ends the command.
var (
	commandData     = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A")
	commandProperty = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C")
)

func command(b *strings.Builder, level, title, message string) {
	fmt.Fprintf(b, "::%s title=%s::%s\n", level, commandProperty.Replace(sanitize.Line(title)), commandData.Replace(sanitize.Line(message)))
}
