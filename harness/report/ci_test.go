package report

import (
	"bytes"
	"encoding/xml"
	"io"
	"strings"
	"testing"

	"ssdl/harness/verdict"
)

// hostileVerdicts has text that means something in XML and workflow commands.
func hostileVerdicts(t *testing.T) verdict.Verdicts {
	r := judged(t)
	bad := "</testcase>]]>\x00\x1b[2J & \"x\" 100%\r\n::error title=a,b::c"
	r.Table = "=table, one: 5%"
	r.Cells[0].Column, r.Cells[0].NoData, r.Cells[0].Verdict = bad, bad, verdict.Differs
	r.Claims[0].Missing, r.Claims[0].Decision = []string{bad}, verdict.Fails
	return r
}

func TestJUnit(t *testing.T) {
	type outcome struct {
		Message string `xml:"message,attr"`
	}
	type suite struct {
		Name       string `xml:"name,attr"`
		Tests      int    `xml:"tests,attr"`
		Failures   int    `xml:"failures,attr"`
		Errors     int    `xml:"errors,attr"`
		Skipped    int    `xml:"skipped,attr"`
		Properties []struct {
			Name  string `xml:"name,attr"`
			Value int    `xml:"value,attr"`
		} `xml:"properties>property"`
		Cases []struct {
			Class   string   `xml:"classname,attr"`
			Name    string   `xml:"name,attr"`
			Failure *outcome `xml:"failure"`
			Error   *outcome `xml:"error"`
			Skipped *outcome `xml:"skipped"`
		} `xml:"testcase"`
	}
	read := func(list ...verdict.Verdicts) []suite {
		var b bytes.Buffer
		if err := JUnit(&b, list...); err != nil {
			t.Fatal(err)
		}
		if strings.ContainsAny(b.String(), "\x00\x1b") {
			t.Error("the file has control characters")
		}
		var all struct {
			Tests  int     `xml:"tests,attr"`
			Suites []suite `xml:"testsuite"`
		}
		dec := xml.NewDecoder(&b)
		if err := dec.Decode(&all); err != nil {
			t.Fatal(err)
		}
		if _, err := dec.Token(); err != io.EOF && err != nil {
			t.Errorf("after the last element: %v", err)
		}
		n := 0
		for _, s := range all.Suites {
			n += s.Tests
		}
		if n != all.Tests {
			t.Errorf("%d tests in all, %d in the suites", all.Tests, n)
		}
		return all.Suites
	}

	r := judged(t)
	s := read(r)[0]
	count := map[string]int{}
	for _, c := range s.Cases {
		var o *outcome
		kind := "passed"
		switch {
		case c.Failure != nil:
			kind, o = "failure", c.Failure
		case c.Error != nil:
			kind, o = "error", c.Error
		case c.Skipped != nil:
			kind, o = "skipped", c.Skipped
		}
		count[kind]++
		if o != nil && o.Message == "" {
			t.Errorf("%s %s gives no reason", c.Class, c.Name)
		}
		switch c.Class + " " + c.Name {
		case "table1.stanford40 lcksvd":
			if want := "published 67.7, ours 75.0† [74.0, 76.1] over 3/8 seeds, difference +7.3: differs"; kind != "failure" || o.Message != want {
				t.Errorf("%s: %q, want %q", kind, o.Message, want)
			}
		case "table1.stanford40 fddl":
			if want := "published 73.3: failed; error: singular | matrix."; kind != "error" || o.Message != want {
				t.Errorf("%s: %q, want %q", kind, o.Message, want)
			}
		case "table1.stanford40 src", "table1.stanford40 ssdl":
			if kind != "passed" {
				t.Errorf("%s: %+v", c.Name, o)
			}
		case "table1.sports8 src", "table1.stanford40 ledl", "table1.stanford40 crc", "table1.stanford40 nrc", "table1.claims.sports8 ssdl-best":
			if kind != "skipped" {
				t.Errorf("%s is %s", c.Name, kind)
			}
		}
	}
	sum := r.Summary
	if count["failure"] != sum.Differs+sum.Fails || count["error"] != sum.Failed || count["passed"] != sum.Match+sum.Holds ||
		s.Tests != len(r.Cells)+len(r.Claims) || s.Failures != count["failure"] || s.Errors != count["error"] || s.Skipped != count["skipped"] {
		t.Errorf("cases %v, suite %+v, summary %+v", count, s, sum)
	}
	if len(s.Properties) != 1 || s.Properties[0].Value != 1 {
		t.Errorf("properties %+v, want one cell tuned on the test part", s.Properties)
	}

	if got := read(hostileVerdicts(t), r); len(got) != 2 || !strings.Contains(got[0].Cases[0].Failure.Message, "</testcase>]]> & \"x\" 100% ::error") {
		t.Errorf("hostile text: %+v", got[0].Cases[0])
	}
}

func TestAnnotate(t *testing.T) {
	var b bytes.Buffer
	if err := Annotate(&b, judged(t)); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"::error title=table1%2C stanford40%2C LC-KSVD::published 67.7, ours 75.0†",
		"::error title=table1%2C stanford40%2C FDDL::published 73.3: failed; error: singular | matrix.\n",
		"::warning title=table1%2C stanford40%2C CRC::published 70.1, ours 71.5",
		"::warning title=table1%2C stanford40%2C LEDL::published 72.9, ours 73.0 over 1/8 seeds, difference +0.1: undecided\n",
		"::warning title=table1::published cells without a value of ours: 18 of 24\n",
		"::warning title=table1%2C stanford40%2C ssdl-best::undecided: ",
		"::notice title=table1::cells: 2 match, 1 differ, 2 undecided",
		"1 cell was tuned on the test part (†)\n",
		"at least 1.1%25 and 0.7%25 on the Stanford40",
	} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q in\n%s", want, b.String())
		}
	}

	if strings.Contains(b.String(), "uiuc-se%2C ssdl-best") || strings.Contains(b.String(), "sports8") {
		t.Errorf("a claim without results or a stand-in has an annotation of its own:\n%s", b.String())
	}

	b.Reset()
	if err := Annotate(&b, hostileVerdicts(t)); err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(b.String()) {
		level, _, ok := strings.Cut(strings.TrimPrefix(line, "::"), " title=%3Dtable"[:7])
		if !strings.HasPrefix(line, "::") || !ok || level != "error" && level != "warning" && level != "notice" {
			t.Errorf("line %q", line)
		}
		if title, _, _ := strings.Cut(line[2:], "::"); strings.ContainsAny(title, ":,") {
			t.Errorf("the title of %q ends early", line)
		}
	}
	if strings.Contains(b.String(), "100% ") {
		t.Errorf("a bare %% in\n%s", b.String())
	}
}
