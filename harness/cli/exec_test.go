package cli

import "testing"

// A parameter on the command line is what it is in a spec.
func TestParameterValues(t *testing.T) {
	for text, want := range map[string]any{
		"0.5": 0.5, "2^-4": 0.0625, "1": 1.0, "0": 0.0, "true": true, "True": true, "FALSE": false,
		"t": "t", "T": "T", "f": "f", "F": "F", "tRUE": "tRUE", "yes": "yes", "": "",
	} {
		if got := value(text); got != want {
			t.Errorf("%q is %T %v, want %T %v", text, got, got, want, want)
		}
	}
}
