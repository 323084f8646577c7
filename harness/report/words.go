package report

import (
	"fmt"
	"strings"

	"ssdl/harness/provenance"
	"ssdl/harness/results"
	"ssdl/harness/run"
	"ssdl/harness/spec"
)

// TunedOnTestText explains the sign †.
const TunedOnTestText = "tuned on the test part (select: test), which flatters the method"

// stateText stands in a cell without a value.
func stateText(s results.State) string {
	switch s {
	case results.Failed:
		return "ERR"
	case results.Timeout:
		return "T/O"
	case results.OutOfMemory:
		return "OOM"
	case results.Excluded, results.NotPrinted:
		return "--"
	}
	return string(s)
}

// shownValue is the mean of an OK cell as shown, and its standard deviation if it has one.
func shownValue(m results.Metric, c results.Cell) (mean, sd string) {
	mean = unsignedZero(fmt.Sprintf("%.*f", m.Decimals, c.Mean))
	if c.N > 1 {
		sd = fmt.Sprintf("%.*f", m.Decimals, c.SD)
	}
	return mean, sd
}

// Signed formats a difference with its sign; one that is rounded to 0 has none.
func Signed(v float64, digits int) string { return unsignedZero(fmt.Sprintf("%+.*f", digits, v)) }

// unsignedZero removes the sign of a number that is shown as 0: "-0.0" says nothing about the value.
func unsignedZero(s string) string {
	if zero := strings.TrimLeft(s, "+-"); strings.Trim(zero, "0.") == "" {
		return zero
	}
	return s
}

// withDeviation joins the results of shownValue.
func withDeviation(mean, sd string) string {
	if sd == "" {
		return mean
	}
	return mean + " ± " + sd
}

// Remarks qualifies a cell: why it has no value, or what limits its value. May be empty.
func Remarks(r results.Remarks, state results.State) string {
	var parts []string
	add := func(is bool, format string, args ...any) {
		if is {
			parts = append(parts, sentence(fmt.Sprintf(format, args...)))
		}
	}
	add(r.NoData != "", "%s", r.NoData)
	add(r.Excluded != "", "excluded: %s", r.Excluded)
	if r.Fault != nil {
		add(true, "%s; `ssdl fsck` lists all faults, `ssdl run` computes it again", r.Fault.Error())
	}
	for _, x := range r.Inconsistencies {
		add(true, "%s", inconsistency(x))
	}
	if r.Failure != nil {
		add(true, "%s", failure(*r.Failure))
	}
	add(r.Unconverged > 0, "Test codes stopped before convergence (up to %g in a run).", r.Unconverged)
	add(r.Unconfined > 0, "The program was not confined (%d runs): it could read files that it was not given.", r.Unconfined)
	add(len(r.TunedOn) == 1, "Tuned on seed %s alone: the tuning is unfinished on the others.", spec.FormatSeeds(r.TunedOn))
	add(len(r.TunedOn) > 1, "Tuned on seeds %s alone: the tuning is unfinished on the others.", spec.FormatSeeds(r.TunedOn))
	n := r.FailedCandidates
	add(n > 0 && state == results.Failed, "%s", allFailed(n))
	add(n > 0 && state != results.Failed, "Candidates that failed in tuning: %d.", n)
	return strings.Join(parts, " ")
}

// allFailed says that tuning has no candidate to choose.
func allFailed(candidates int) string {
	return fmt.Sprintf("every candidate had a run that failed in tuning (%d)", candidates)
}

// failure is text such as "timeout, 2 attempts: did not finish within 1s".
func failure(f results.Failure) string {
	s := string(f.Status)
	if f.Attempts > 1 {
		s += fmt.Sprintf(", %d attempts", f.Attempts)
	}
	return strings.TrimPrefix(s+": "+f.Message, ": ")
}

// inconsistency says how runs differ and what to do.
func inconsistency(x run.Inconsistency) string {
	at := func(seed uint64, tuning bool) string {
		if tuning {
			return fmt.Sprintf("seed %d of the tuning", seed)
		}
		return fmt.Sprintf("seed %d", seed)
	}
	s := fmt.Sprintf("Inconsistent %s: %s (%s), %s (%s).", x.Kind, x.Is, at(x.Seed, x.Tuning), x.Want, at(x.WantSeed, x.WantTuning))
	switch x.Kind {
	case provenance.MethodCode, provenance.PretextCode, provenance.ProtocolCode:
		return s + " Run the cell again with --rerun stale."
	}
	return s + " Run the cell again with one program on one kind of machine, into another results folder."
}

// ProtocolText describes seeds and splits in one line.
func ProtocolText(p *results.Protocol) string {
	seeds := spec.FormatSeeds(p.Seeds)
	share, which := fmt.Sprintf("%g %%", 100*p.Labels), ""
	if len(p.LabelRates) > 0 {
		share, which = "as many", " as the row says"
	}
	switch {
	case p.Split == "class":
		return fmt.Sprintf("Seeds %s; %g %% of each class for training, %s of these labelled%s.", seeds, 100*p.Train, share, which)
	case p.Split == "official":
		return fmt.Sprintf("Seeds %s; official split, %s of the training samples of each class labelled%s.", seeds, share, which)
	case p.PerSeed:
		return fmt.Sprintf("Seeds %s; each has its own split, %s.", seeds, p.File)
	case len(p.Seeds) > 1:
		return fmt.Sprintf("Seeds %s; one split for all, %s: the standard deviation is over the random numbers of the methods.", seeds, p.File)
	}
	return fmt.Sprintf("Seed %s; split %s.", seeds, p.File)
}

// dataVersions identifies the data of the columns in one line; may be empty.
func dataVersions(list []results.DataVersion, title func(string) string) string {
	if len(list) == 0 {
		return ""
	}
	var parts []string
	for _, d := range list {
		s := fmt.Sprintf("%s %.12s", title(d.Column), d.Hash)
		if d.Train > 0 {
			s += fmt.Sprintf(" with %d training samples (%d labelled) and %d test samples", d.Train, d.Labelled, d.Test)
		}
		if d.Unused > 0 {
			s += fmt.Sprintf(", %d samples in no part", d.Unused)
		}
		parts = append(parts, s)
	}
	return "Data (first digits of `ssdl data hash`): " + strings.Join(parts, "; ") + "."
}

// howChosen says how parameters were chosen.
func howChosen(selection string) string {
	switch selection {
	case spec.SelectVal:
		return "Tuned: best mean score on a held-out 20 % of the labelled training samples"
	case spec.SelectTest:
		return "Tuned on the test part (†)"
	case spec.SelectPaper:
		return "The paper's values where it prints them"
	}
	return "Fixed by the spec"
}

// Count is a number with its noun in singular or plural.
func Count(n int, one, several string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, several)
}

// jobCounts is text such as "12 not run, 40 cached".
func jobCounts(counts []results.Count) string {
	var parts []string
	for _, c := range counts {
		parts = append(parts, fmt.Sprintf("%d %s", c.Jobs, c.State))
	}
	if len(parts) == 0 {
		return "no jobs"
	}
	return strings.Join(parts, ", ")
}
