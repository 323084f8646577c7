package param

import (
	"errors"
	"math"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// sample has a parameter of each kind, and a field that is none.
type sample struct {
	Lambda float64 `param:"lambda" default:"2^-4" min:"2^-30" doc:"weight"`
	Share  float64 `param:"share" default:"0.5" min:"0" max:"1" doc:"a part"`
	Shift  float64 `param:"shift" default:"0" doc:"any number"`
	Count  int     `param:"count" default:"3" min:"1" max:"9" doc:"how many"`
	Unit   bool    `param:"unit" default:"true" doc:"scale to norm 1"`
	Rule   string  `param:"rule" default:"plain" choices:"ratio,plain,mean" doc:"which rule"`
	Known  []bool
}

func good() sample { return sample{Lambda: 1, Count: 1, Rule: "plain"} }

func TestOf(t *testing.T) {
	inf := math.Inf(1)
	want := []Param{
		{Name: "lambda", Kind: reflect.Float64, Default: 0x1p-4, Min: 0x1p-30, Max: inf, Doc: "weight"},
		{Name: "share", Kind: reflect.Float64, Default: 0.5, Min: 0, Max: 1, Doc: "a part"},
		{Name: "shift", Kind: reflect.Float64, Default: 0.0, Min: -inf, Max: inf, Doc: "any number"},
		{Name: "count", Kind: reflect.Int, Default: 3, Min: 1, Max: 9, Doc: "how many"},
		{Name: "unit", Kind: reflect.Bool, Default: true, Min: -inf, Max: inf, Doc: "scale to norm 1"},
		{Name: "rule", Kind: reflect.String, Default: "plain", Min: -inf, Max: inf, Choices: []string{"ratio", "plain", "mean"}, Doc: "which rule"},
	}
	if diff := cmp.Diff(want, Of(sample{}), cmpopts.IgnoreUnexported(Param{})); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	for _, m := range []any{nil, 1, &sample{}, func() {}} {
		if got := Of(m); got != nil {
			t.Errorf("%T has the parameters %v", m, got)
		}
	}
}

func TestMistakesInTagsPanic(t *testing.T) {
	for what, m := range map[string]any{
		"a default out of range": struct {
			A int `param:"a" default:"0" min:"1"`
		}{},
		"no default": struct {
			A float64 `param:"a"`
		}{},
		"a bound that is not a number": struct {
			A float64 `param:"a" default:"1" max:"many"`
		}{},
		"a kind that cannot be": struct {
			A []int `param:"a" default:"1"`
		}{},
	} {
		func() {
			defer func() {
				if text, ok := recover().(string); !ok || !strings.Contains(text, "A: tag ") {
					t.Errorf("%s: panic %q, want one that names field and tag", what, text)
				}
			}()
			Of(m)
		}()
	}
}

func TestCheck(t *testing.T) {
	if err := Check("method", good()); err != nil {
		t.Errorf("a good value: %v", err)
	}
	for _, c := range []struct {
		name    string
		edit    func(s *sample)
		param   string
		missing bool
	}{
		{"zero below the bound", func(s *sample) { s.Lambda = 0 }, "lambda", true},
		{"below the bound", func(s *sample) { s.Lambda = 0x1p-31 }, "lambda", false},
		{"NaN", func(s *sample) { s.Lambda = math.NaN() }, "lambda", false},
		{"infinite without bounds", func(s *sample) { s.Shift = math.Inf(-1) }, "shift", false},
		{"above the bound", func(s *sample) { s.Share = 1.5 }, "share", false},
		{"zero count", func(s *sample) { s.Count = 0 }, "count", true},
		{"count above the bound", func(s *sample) { s.Count = 10 }, "count", false},
		{"no choice", func(s *sample) { s.Rule = "" }, "rule", true},
		{"another choice", func(s *sample) { s.Rule = "median" }, "rule", false},
	} {
		s := good()
		c.edit(&s)
		var wrong *Error
		if err := Check("method", s); !errors.As(err, &wrong) {
			t.Errorf("%s: error %v, want one of a parameter", c.name, err)
		} else if wrong.Method != "method" || wrong.Param != c.param || wrong.Missing != c.missing {
			t.Errorf("%s: method %q, parameter %q, missing %t", c.name, wrong.Method, wrong.Param, wrong.Missing)
		}
	}
}

// The words of all errors: of a value that a spec gives, and of a struct's fields.
func TestWords(t *testing.T) {
	var out strings.Builder
	for _, p := range Of(sample{}) {
		for _, v := range []any{"x", "2^x", "1e999", -1, 1.5, 20, true, nil, math.NaN(), "ratoi"} {
			if _, err := p.Check(v); err != nil {
				out.WriteString((&Error{Method: "method", Param: p.Name, Err: err}).Error() + "\n")
			}
		}
	}
	out.WriteString("\n")
	out.WriteString(Check("method", sample{}).Error() + "\n")
	out.WriteString(Check("method", sample{Lambda: -1, Share: 2, Count: 1, Rule: "ratoi"}).Error() + "\n")
	want, err := os.ReadFile("testdata/words.txt")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), out.String()); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestCheckConverts(t *testing.T) {
	for _, c := range []struct {
		param    int
		in, want any
	}{
		{0, 1, 1.0}, {0, "2^-3", 0.125}, {3, 2.0, 2}, {3, "4", 4}, {4, "false", false}, {5, "mean", "mean"},
	} {
		if got, err := Of(sample{})[c.param].Check(c.in); err != nil || got != c.want {
			t.Errorf("%v becomes %T %v (%v), want %T %v", c.in, got, got, err, c.want, c.want)
		}
	}
}

func TestWith(t *testing.T) {
	before := sample{Known: []bool{true}}
	got := With(before, map[string]any{"lambda": 2.0, "share": 0.25, "shift": -1.0, "count": 4, "unit": true, "rule": "ratio"})
	want := sample{Lambda: 2, Share: 0.25, Shift: -1, Count: 4, Unit: true, Rule: "ratio", Known: []bool{true}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if before.Lambda != 0 {
		t.Error("the struct given was changed")
	}
}

func TestParseNumber(t *testing.T) {
	for in, want := range map[string]float64{"2^-14": 0x1p-14, "2^3": 8, "10^-3": 1e-3, "0.25": 0.25, "1e-3": 1e-3} {
		if got, err := ParseNumber(in); err != nil || got != want {
			t.Errorf("%s: %v, %v", in, got, err)
		}
	}
	for _, in := range []string{"", "2^", "^2", "NaN", "Inf", "2^1.5", "two"} {
		if v, err := ParseNumber(in); err == nil {
			t.Errorf("%q was read as %v", in, v)
		}
	}
}
