package report

import (
	"fmt"
	"strings"

	"ssdl/experiments"
	"ssdl/harness/results"
	"ssdl/harness/run"
)

// ModifiedText explains the sign ‡.
const ModifiedText = "computed from modified sources, which are in no commit"

// isSign reports whether a mark is a sign with the same meaning everywhere.
func isSign(mark string) bool { return mark == "†" || mark == "‡" }

// signs returns the signs behind the value of a cell.
func signs(c results.Cell) string { return signsOf(c.TunedOnTest, c.Modified) }

func signsOf(tunedOnTest bool, modified int) string {
	s := ""
	if tunedOnTest {
		s += "†"
	}
	if modified > 0 {
		s += "‡"
	}
	return s
}

// otherData says how the data of a column differs from the known data set of its name.
func otherData(c results.Column) string {
	var parts []string
	for _, d := range c.Differences {
		switch d.Property {
		case experiments.PropertyName:
			parts = append(parts, fmt.Sprintf("its meta.json calls it %s", d.Is))
		case experiments.PropertyHash:
			parts = append(parts, fmt.Sprintf("hash %.12s, expected %.12s", d.Is, d.Want))
		default:
			parts = append(parts, fmt.Sprintf("%s %s, expected %s", d.Property, d.Is, d.Want))
		}
	}
	return fmt.Sprintf("%s is not the known data set of this name (%s): not compared with the paper.", c.ID, strings.Join(parts, "; "))
}

// provenanceLines say where the runs of a table come from.
func provenanceLines(p run.Provenance) []string {
	lines := []string{fmt.Sprintf("%d of %s verified again by this program, %s.", p.Repeated, Count(p.Runs, "run", "runs"), Count(p.Differ, "differs", "differ"))}
	add := func(n int, format string, args ...any) {
		if n > 0 {
			are := "are"
			if n == 1 {
				are = "is"
			}
			lines = append(lines, fmt.Sprintf("%d of %s %s ", n, Count(p.Runs, "run", "runs"), are)+fmt.Sprintf(format, args...))
		}
	}
	add(p.Damaged, "not as recorded: `ssdl fsck` lists them.")
	add(p.Unknown, "of a program of unknown commit.")
	for _, f := range p.Imported {
		add(f.Runs, "imported from %s (SHA-256 %.12s, %s).", f.Name, f.SHA256, signatureText(f.Signer))
	}
	return lines
}

// signatureText says who signed a file; signer may be empty.
func signatureText(signer string) string {
	if signer == "" {
		return "not signed"
	}
	return "signed by " + signer
}
