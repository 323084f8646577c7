package catalog_test

import (
	"maps"
	"strings"
	"testing"

	"ssdl/methods/catalog"
)

func TestEveryEntryBuilds(t *testing.T) {
	seen := map[string]bool{}
	for _, e := range catalog.All() {
		if seen[e.Name] {
			t.Errorf("%s stands twice in the catalog", e.Name)
		}
		seen[e.Name] = true
		if e.Title == "" || e.Year == 0 || e.Version < 1 {
			t.Errorf("%s lacks a title, year or version", e.Name)
		}
		for _, p := range e.Params() {
			if p.Doc == "" {
				t.Errorf("%s.%s has no doc", e.Name, p.Name)
			}
		}
		var err error
		if e.IsPretext() {
			_, err = e.Pretext(nil)
		} else {
			_, err = e.Method(nil)
		}
		if err != nil {
			t.Errorf("%s: %v", e.Name, err)
		}
	}
}

func TestCompleteMakesEqualWhatMeansTheSame(t *testing.T) {
	crc, err := catalog.Lookup("crc")
	if err != nil {
		t.Fatal(err)
	}
	a, err := crc.Complete(nil)
	if err != nil {
		t.Fatal(err)
	}
	b, err := crc.Complete(catalog.Values{"lambda": "2^-4", "rule": "ratio"})
	if err != nil {
		t.Fatal(err)
	}
	if !maps.Equal(a, b) {
		t.Fatalf("%v and %v", a, b)
	}
	c, err := crc.Complete(catalog.Values{"lambda": 1})
	if err != nil {
		t.Fatal(err)
	}
	if c["lambda"] != 1.0 {
		t.Fatalf("lambda is %T %v", c["lambda"], c["lambda"])
	}
}

func TestBadParametersAreNamed(t *testing.T) {
	for _, tc := range []struct {
		method string
		given  catalog.Values
		want   []string
	}{
		{"crc", catalog.Values{"lamda": 1.0, "rule": "ratoi"}, []string{`did you mean "lambda"`, `did you mean "ratio"`}},
		{"crc", catalog.Values{"lambda": -1.0}, []string{"out of range"}},
		{"crc", catalog.Values{"lambda": "2^x"}, []string{"power"}},
		{"crc", catalog.Values{"lambda": true}, []string{"not a number"}},
		{"ssdl", catalog.Values{"iterations": 1.5}, []string{"not a whole number"}},
	} {
		e, err := catalog.Lookup(tc.method)
		if err != nil {
			t.Fatal(err)
		}
		_, err = e.Complete(tc.given)
		if err == nil {
			t.Errorf("%s %v was accepted", tc.method, tc.given)
			continue
		}
		for _, w := range append(tc.want, tc.method) {
			if !strings.Contains(err.Error(), w) {
				t.Errorf("%s %v: %q does not say %q", tc.method, tc.given, err, w)
			}
		}
	}
	if _, err := catalog.Lookup("ssld"); err == nil || !strings.Contains(err.Error(), `"ssdl"`) {
		t.Errorf("lookup of ssld: %v", err)
	}
}
