package report

import (
	"encoding/xml"
	"fmt"
	"io"

	"ssdl/harness/sanitize"
	"ssdl/harness/verdict"
)

type junitSuites struct {
	XMLName  xml.Name     `xml:"testsuites"`
	Name     string       `xml:"name,attr"`
	Tests    int          `xml:"tests,attr"`
	Failures int          `xml:"failures,attr"`
	Errors   int          `xml:"errors,attr"`
	Skipped  int          `xml:"skipped,attr"`
	Suites   []junitSuite `xml:"testsuite"`
}

type junitSuite struct {
	Name       string          `xml:"name,attr"`
	Tests      int             `xml:"tests,attr"`
	Failures   int             `xml:"failures,attr"`
	Errors     int             `xml:"errors,attr"`
	Skipped    int             `xml:"skipped,attr"`
	Properties []junitProperty `xml:"properties>property"`
	Cases      []junitCase     `xml:"testcase"`
}

type junitProperty struct {
	Name  string `xml:"name,attr"`
	Value int    `xml:"value,attr"`
}

type junitCase struct {
	Class   string        `xml:"classname,attr"`
	Name    string        `xml:"name,attr"`
	Failure *junitOutcome `xml:"failure"`
	Error   *junitOutcome `xml:"error"`
	Skipped *junitOutcome `xml:"skipped"`
}

type junitOutcome struct {
	Message string `xml:"message,attr"`
	Type    string `xml:"type,attr,omitempty"`
}

// JUnit writes verdicts as JUnit XML: a suite per table, a test case per cell and per claim. What differs
// or fails is a failure. A cell without a successful run is an error. What cannot be judged (missing,
// stand-in, undecided) is skipped, with the reason. A property of the suite counts the cells tuned on the
// test part.
func JUnit(w io.Writer, list ...verdict.Verdicts) error {
	all := junitSuites{Name: "ssdl verify"}
	for _, r := range list {
		s := junitSuite{Name: sanitize.Line(r.Table), Properties: []junitProperty{{"cells tuned on the test part", r.Summary.TunedOnTest}}}
		for _, c := range r.Cells {
			s.add(r.Table+"."+c.Column, c.Row, outcomeOf(c), cellText(r, c))
		}
		for _, f := range r.Claims {
			o := map[verdict.Decision]outcome{verdict.Holds: passed, verdict.Fails: failed}[f.Decision]
			if f.StandsFor != "" || f.Variant {
				o = skipped
			}
			s.add(r.Table+".claims."+f.Column, f.Claim, o, findingLine(r, f))
		}
		all.Tests, all.Failures, all.Errors, all.Skipped = all.Tests+s.Tests, all.Failures+s.Failures, all.Errors+s.Errors, all.Skipped+s.Skipped
		all.Suites = append(all.Suites, s)
	}
	if _, err := io.WriteString(w, xml.Header); err != nil {
		return err
	}
	enc := xml.NewEncoder(w)
	enc.Indent("", "  ")
	if err := enc.Encode(all); err != nil {
		return err
	}
	_, err := io.WriteString(w, "\n")
	return err
}

// outcome is the result of a test case.
type outcome int

const (
	skipped outcome = iota // cannot be judged
	passed
	failed
	broken // no successful run
)

func outcomeOf(c verdict.Cell) outcome {
	return map[verdict.Verdict]outcome{verdict.Match: passed, verdict.Differs: failed, verdict.Failed: broken}[c.Verdict]
}

func (s *junitSuite) add(class, name string, o outcome, message string) {
	c := junitCase{Class: sanitize.Line(class), Name: sanitize.Line(name)}
	s.Tests++
	switch o {
	case failed:
		s.Failures++
		c.Failure = &junitOutcome{Message: message, Type: "mismatch"}
	case broken:
		s.Errors++
		c.Error = &junitOutcome{Message: message, Type: "no result"}
	case skipped:
		s.Skipped++
		c.Skipped = &junitOutcome{Message: message}
	}
	s.Cases = append(s.Cases, c)
}

// cellText is text such as "published 66.0, ours 61.2 [60.1, 62.3] over 8/8 seeds, difference -4.8:
// differs".
func cellText(v verdict.Verdicts, c verdict.Cell) string {
	digits := v.Metric.Decimals
	s := fmt.Sprintf("published %.*f", digits, c.Published)
	if c.StandsFor != "" {
		s += " for " + c.StandsFor
	}
	if o := c.Ours; o != nil {
		s += fmt.Sprintf(", ours %.*f", digits, o.Mean) + signsOf(o.TunedOnTest, o.Modified)
		if o.Interval != nil {
			s += " " + intervalText(o.Interval, digits)
		}
		s += fmt.Sprintf(" over %d/%d seeds", o.N, o.RequestedSeeds)
	}
	if c.Difference != nil {
		s += ", difference " + Signed(*c.Difference, digits)
	}
	s += ": " + string(c.Verdict)
	if why := cellRemarks(c); why != "" {
		s += "; " + why
	}
	return sanitize.Line(s)
}

// findingLine is a claim with its decision and reason.
func findingLine(v verdict.Verdicts, f verdict.Finding) string {
	s := fmt.Sprintf("%s: %q (%s): %s", f.Decision, f.Quote, f.Where, FindingText(v.Metric, f))
	if f.StandsFor != "" {
		s = "stand-in, " + s
	}
	return sanitize.Line(s)
}
