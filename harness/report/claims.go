package report

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"ssdl/harness/results"
	"ssdl/harness/verdict"
)

// OfClaims is the document of the cost of the paper's claims: the command, measured time, memory and disk,
// and the verdict. A note names the claims without results. selection is the flags that chose the seeds and the data,
// which the commands repeat.
func OfClaims(list []verdict.Account, selection ...string) Document {
	g := Grid{
		Heading: "Claims of the paper, with what it takes to judge them",
		Head:    []string{"Claim", "Data", "Command", "Runs", "Time", "Memory", "Disk", "Verdict"}, Align: "lllrrrrl",
	}
	judgedClaims(&g, list, specOf, func(a verdict.Account) []string {
		c := a.Cost
		return []string{a.Claim, claimData(a.Finding), Command(runCommand(a, selection)...), strconv.Itoa(c.Runs), timeText(c.Wall), peakText(c.Peak), bytesText(c.Disk), verdictText(a.Finding)}
	})
	if len(g.Groups) > 0 {
		g.note(
			"Time: sum over the runs that judge the claim, tuning included. Claims share runs, so a second one costs less. Memory: the peak of the program during a run. Disk: the records of the runs.",
			"With verify in place of run, the command gives the verdict and its reason.",
		)
	}
	d := Document{Grids: []Grid{g}, Head: claimHead, Value: list}
	for _, a := range list {
		d.Lines = append(d.Lines, claimLine(a, selection))
	}
	return d
}

// OfFindings is the document of claims in brief: the verdict on each, and the difference that decides it.
// Of a claim about readings it gives how many support it and how many contradict it. Claims that hold come first, of
// each verdict those about variants last. selection is as in OfClaims.
func OfFindings(list []verdict.Account, selection ...string) Document {
	d := OfClaims(list, selection...)
	order := []verdict.Decision{verdict.Holds, verdict.Fails, verdict.Undecided}
	rank := func(a verdict.Account) int {
		r := 2 * slices.Index(order, a.Decision)
		if a.Variant {
			r++
		}
		return r
	}
	list = slices.SortedStableFunc(slices.Values(list), func(a, b verdict.Account) int { return rank(a) - rank(b) })
	g := Grid{Heading: tallyText(list), Head: []string{"Verdict", "Data", "Claim", "Because"}, Align: "llll"}
	judgedClaims(&g, list, func(a verdict.Account) string { return string(a.Decision) }, func(a verdict.Account) []string {
		return []string{verdictText(a.Finding), claimData(a.Finding), a.Claim, findingInBrief(a.Metric, a.Finding)}
	})
	if slices.ContainsFunc(list, func(a verdict.Account) bool { return strings.Contains(findingInBrief(a.Metric, a.Finding), "†") }) {
		g.Notes = append(g.Notes, tunedNote)
	}
	if slices.ContainsFunc(list, func(a verdict.Account) bool { return a.Lacks == "" && a.Variants != nil }) {
		g.note("Variants are counted after Benjamini and Hochberg's correction for their number; verify also gives the counts before it, and the best and the worst variant.")
	}
	var quotes []string
	claims := map[string][]string{} // by quote
	for _, a := range list {
		if a.Lacks != "" {
			continue
		}
		if claims[a.Quote] == nil {
			quotes = append(quotes, a.Quote)
		}
		if claim := fmt.Sprintf("%s (%s)", a.Claim, a.Where); !slices.Contains(claims[a.Quote], claim) {
			claims[a.Quote] = append(claims[a.Quote], claim)
		}
	}
	for _, q := range quotes {
		g.note(fmt.Sprintf("%q: %s.", q, strings.Join(claims[q], "; ")))
	}
	d.Grids = []Grid{g}
	return d
}

// tallyText counts the claims about the paper's rows by verdict, such as "on stand-ins 2 hold, 9 fail, 5 are
// undecided". It is empty if none is tested.
func tallyText(list []verdict.Account) string {
	var findings []verdict.Finding
	for _, a := range list {
		findings = append(findings, a.Finding)
	}
	own, standIns := verdict.TallyOf(findings)
	var parts []string
	for _, p := range []struct {
		data string
		verdict.Tally
	}{{"the paper's data", own}, {"stand-ins", standIns}} {
		if p.Tested() > 0 {
			parts = append(parts, fmt.Sprintf("on %s %d hold, %d fail, %d are undecided", p.data, p.Holds, p.Fails, p.Undecided))
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return "Claims about the paper's own rows: " + strings.Join(parts, "; ")
}

func specOf(a verdict.Account) string { return a.Spec }

// judgedClaims adds a row for each tested claim to a grid, in groups, and names the others in a note.
func judgedClaims(g *Grid, list []verdict.Account, groupOf func(verdict.Account) string, row func(verdict.Account) []string) {
	group := ""
	for _, a := range list {
		if a.Lacks != "" {
			continue
		}
		if len(g.Groups) == 0 || groupOf(a) != group {
			g.Groups = append(g.Groups, nil)
			group = groupOf(a)
		}
		g.add(items(row(a)...)...)
	}
	if text := notTested(list); text != "" {
		g.note("Not tested: " + text + ".")
	}
}

// notTested names the claims without results, by data set. It only counts them if no claim on the data set has
// results.
func notTested(list []verdict.Account) string {
	var columns []string
	claims, judged := map[string][]string{}, map[string]bool{}
	for _, a := range list {
		if results.ColumnOf(a.Column).Synthetic { // claims on generated data need not be run
			continue
		}
		if !slices.Contains(columns, a.Column) {
			columns = append(columns, a.Column)
		}
		if a.Lacks == "" {
			judged[a.Column] = true
		} else {
			claims[a.Column] = append(claims[a.Column], a.Claim)
		}
	}
	var parts []string
	for _, c := range columns {
		switch {
		case len(claims[c]) == 0:
		case judged[c]:
			parts = append(parts, "on "+c+" "+strings.Join(claims[c], ", "))
		case len(claims[c]) == 1:
			parts = append(parts, c+" (1 claim)")
		default:
			parts = append(parts, fmt.Sprintf("%s (%d claims)", c, len(claims[c])))
		}
	}
	return strings.Join(parts, "; ")
}

// claimData names the data set of a finding, and marks stand-ins and rows that are not in the paper.
func claimData(f verdict.Finding) string {
	data := f.Column
	switch {
	case f.StandsFor != "" && results.ColumnOf(f.Column).Synthetic:
		data += " (synthetic)"
	case f.StandsFor != "":
		data += " (stand-in)"
	}
	if f.Variant {
		data += " (variant)"
	}
	return data
}

// verdictText is the decision on a claim with its remark.
func verdictText(f verdict.Finding) string {
	if remark := DecisionRemark(f); remark != "" {
		return string(f.Decision) + " (" + remark + ")"
	}
	return string(f.Decision)
}

// DecisionRemark says what must be known with a decision: that results are missing, or that the row is better than
// claimed. It is empty for most.
func DecisionRemark(f verdict.Finding) string {
	switch {
	case f.Incomplete():
		return "incomplete"
	case f.Better():
		return "better"
	}
	return ""
}

// runCommand is the command that computes the runs of a claim.
func runCommand(a verdict.Account, selection []string) []string {
	words := []string{"ssdl", "run", a.Spec, "-d", a.Column}
	if a.Rows != nil {
		words = append(words, "-m", strings.Join(a.Rows, ","))
	}
	return append(words, selection...)
}

// timeText is text such as "41 s", "12 min" or "3 h 5 min".
func timeText(seconds float64) string {
	minutes := int(seconds/60 + 0.5)
	switch {
	case seconds < 59.5:
		return fmt.Sprintf("%.0f s", seconds)
	case minutes < 60:
		return fmt.Sprintf("%d min", minutes)
	}
	return fmt.Sprintf("%d h %d min", minutes/60, minutes%60)
}

// peakText is bytesText, or empty if the system does not report the memory of a process.
func peakText(peak int64) string {
	if peak == 0 {
		return ""
	}
	return bytesText(peak)
}

// bytesText is a size in kB, MB or GB, with at most three digits before the point.
func bytesText(n int64) string {
	switch {
	case n < 1_000_000:
		return fmt.Sprintf("%.0f kB", float64(n)/1e3)
	case n < 1_000_000_000:
		return fmt.Sprintf("%.1f MB", float64(n)/1e6)
	}
	return fmt.Sprintf("%.1f GB", float64(n)/1e9)
}

var claimHead = []string{
	"spec", "claim", "column", "stands_for", "variant", "command", "runs", "wall_seconds", "cpu_seconds", "peak_bytes", "disk_bytes", "verdict", "remarks",
}

func claimLine(a verdict.Account, selection []string) []string {
	return []string{
		a.Spec, a.Claim, a.Column, a.StandsFor, strconv.FormatBool(a.Variant), Command(runCommand(a, selection)...), strconv.Itoa(a.Cost.Runs),
		number(&a.Cost.Wall), number(&a.Cost.CPU), strconv.FormatInt(a.Cost.Peak, 10), strconv.FormatInt(a.Cost.Disk, 10),
		verdictText(a.Finding), FindingText(a.Metric, a.Finding),
	}
}
