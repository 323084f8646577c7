package verify

import (
	"encoding/xml"
	"fmt"
	"io"
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

// JUnit writes results as JUnit XML: a suite per table, a test case per cell and per claim.
// What is off or fails is a failure, a cell without a successful run an error; what cannot
// be judged (missing, stand-in, undecided) is skipped, with the reason. The numbers chosen
// on the test part are a property of the suite.
func JUnit(w io.Writer, results ...Result) error {
	all := junitSuites{Name: "ssdl verify"}
	for _, r := range results {
		r = r.cleaned()
		s := junitSuite{Name: r.Table, Properties: []junitProperty{{"numbers chosen on the test part", r.Summary.Daggers}}}
		for _, c := range r.Cells {
			s.add(r.Table+"."+c.Column, c.Row, outcomeOf(c), r.words(c))
		}
		for _, f := range r.Claims {
			o := map[Decision]outcome{Holds: passed, Fails: failed}[f.Decision]
			if f.StandIn {
				o = skipped
			}
			s.add(r.Table+".claims."+f.Column, f.Claim, o, f.words())
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

// outcome is how continuous integration counts a verdict.
type outcome int

const (
	skipped outcome = iota // cannot be judged
	passed
	failed
	broken // no successful run
)

func outcomeOf(c Cell) outcome {
	return map[Verdict]outcome{Match: passed, Close: passed, Off: failed, Failed: broken}[c.Verdict]
}

func (s *junitSuite) add(class, name string, o outcome, message string) {
	c := junitCase{Class: class, Name: name}
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

// words is the cell as in "off: ours 61.2 [60.1, 62.3] of 8 seeds, published 66.0,
// difference -4.8".
func (r Result) words(c Cell) string {
	s := string(c.Verdict) + ": "
	if o := c.Ours; o != nil {
		s += fmt.Sprintf("ours %.*f", r.decimals, o.Mean)
		if o.Dagger {
			s += "†"
		}
		if o.Interval != nil {
			s += fmt.Sprintf(" [%.*f, %.*f]", r.decimals, o.Interval.Low, r.decimals, o.Interval.High)
		}
		s += fmt.Sprintf(" of %d/%d seeds, ", o.N, o.Declared)
	}
	s += fmt.Sprintf("published %.*f", r.decimals, c.Published)
	if c.StandsFor != "" {
		s += " for " + c.StandsFor
	}
	if c.Difference != nil {
		s += fmt.Sprintf(", difference %+.*f", r.decimals, *c.Difference)
	}
	if c.Detail != "" {
		s += "; " + c.Detail
	}
	return s
}

func (f Finding) words() string {
	s := fmt.Sprintf("%s: %q (%s): %s", f.Decision, f.Quote, f.Where, f.Why)
	if f.StandIn {
		s = "stand-in, " + s
	}
	return s
}
