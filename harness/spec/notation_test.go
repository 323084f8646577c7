package spec_test

import (
	"strings"
	"testing"

	"ssdl/harness/spec"
)

// A list never has 2^-3 beside 0.25.
func TestNotation(t *testing.T) {
	for _, c := range []struct {
		values []any
		want   string
	}{
		{[]any{0x1p-12, 0x1p-3, 0.25, 0.5, 1.0, 4.0}, "2^-12 2^-3 2^-2 2^-1 2^0 2^2"},
		{[]any{0.0, 0x1p-4, 1.0}, "0 2^-4 2^0"},
		{[]any{0.0, 0.125, 0.5}, "0 0.125 0.5"},
		{[]any{0.1, 0.125, 0.25}, "0.1 0.125 0.25"},
		{[]any{0x1p-14, 0.1}, "2^-14 0.1"},
		{[]any{1.0, 2.0, 8.0}, "1 2 8"},
		{[]any{1, 2, 16}, "1 2 16"},
		{[]any{true, "unit"}, "true unit"},
	} {
		n := spec.NotationOf(c.values)
		var got []string
		for _, v := range c.values {
			got = append(got, n.Format(v))
		}
		if s := strings.Join(got, " "); s != c.want {
			t.Errorf("%v is written %s, want %s", c.values, s, c.want)
		}
	}
}
