package main

import (
	"strings"
	"testing"
)

func TestSkippedTestsAreCountedAndNamed(t *testing.T) {
	in := `{"Action":"output","Package":"p","Test":"TestB","Output":"=== RUN   TestB\n"}
{"Action":"output","Package":"p","Test":"TestB","Output":"    b_test.go:12: needs SSDL_DATA\n"}
{"Action":"output","Package":"p","Test":"TestB","Output":"--- SKIP: TestB (0.00s)\n"}
{"Action":"skip","Package":"p","Test":"TestB"}
{"Action":"output","Package":"p","Test":"TestA/part","Output":"    a_test.go:7: needs SSDL_DATA\n"}
{"Action":"skip","Package":"p","Test":"TestA/part"}
{"Action":"output","Package":"p","Test":"TestC","Output":"--- SKIP: TestC (0.00s)\n"}
{"Action":"skip","Package":"p","Test":"TestC"}
{"Action":"output","Package":"p","Test":"TestGood","Output":"good\n"}
{"Action":"pass","Package":"p","Test":"TestGood"}
{"Action":"output","Package":"p","Test":"TestBad","Output":"bad\n"}
{"Action":"fail","Package":"p","Test":"TestBad"}
{"Action":"output","Package":"p","Output":"FAIL\n"}
{"Action":"output","Package":"p","Output":"FAIL\tp\t0.1s\n"}
{"Action":"fail","Package":"p"}
{"ImportPath":"q","Action":"build-output","Output":"q.go:1:1: no\n"}
{"Action":"output","Package":"r","Output":"PASS\n"}
{"Action":"output","Package":"r","Output":"ok  \tr\t0.1s\n"}
go: a word of its own
`
	var out strings.Builder
	skipped, err := relay(strings.NewReader(in), &out)
	if err != nil {
		t.Fatal(err)
	}
	summarise(&out, skipped)
	want := "bad\nFAIL\nFAIL\tp\t0.1s\nq.go:1:1: no\nok  \tr\t0.1s\ngo: a word of its own\n" +
		"tests skipped: 3\n  needs SSDL_DATA\n    p TestA/part\n    p TestB\n  no reason given\n    p TestC\n"
	if out.String() != want {
		t.Errorf("it prints\n%swant\n%s", &out, want)
	}
	out.Reset()
	if summarise(&out, nil); out.String() != "no test was skipped\n" {
		t.Errorf("%q", &out)
	}
}
