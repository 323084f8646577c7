package stats

import (
	"encoding/json"
	"math"
	"os"
	"strings"
	"sync"
	"testing"
)

// reference holds the values from SciPy; scripts/stats/reference.py, which made them, describes them.
type reference struct {
	Summary []struct {
		X                   []float64
		Mean, SD, Low, High float64
	}
	TQuantile []struct {
		DF int
		Q  float64
	} `json:"t_quantile"`
	CorrectedT []struct {
		X, Y              []float64
		Ratio, Mean, T, P float64
		Low, High         float64
	} `json:"corrected_t"`
	Wilcoxon []struct {
		Name    string
		D       []float64
		N       int
		Plus, P float64
		Exact   bool
	}
	Holm []struct {
		P, Adjusted []float64
	}
	Correlations []struct {
		Name     string
		X, Y     []float64
		Spearman float64
	}
	Friedman []struct {
		Name                    string
		X                       [][]float64
		Ranks                   []float64
		Chi, P, F, PF, Critical float64
		Nemenyi                 []float64 // of the first method against each other one
	}
	RangeQuantile []struct {
		K int
		Q float64
	} `json:"range_quantile"`
	Grim []struct {
		Name                    string
		Column                  []string
		Splits, Sizes, Smallest int
	}
}

var scipy = sync.OnceValues(func() (reference, error) {
	var r reference
	raw, err := os.ReadFile("testdata/reference.json")
	if err == nil {
		err = json.Unmarshal(raw, &r)
	}
	return r, err
})

func load(t *testing.T) reference {
	t.Helper()
	r, err := scipy()
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// Eight paired accuracies. Their differences are multiples of 0.001 that tie up to rounding.
var (
	x = []float64{.912, .918, .903, .927, .909, .915, .921, .906}
	y = []float64{.897, .921, .891, .912, .912, .900, .903, .897}
)

// near checks that got equals want in the first ten digits.
func near(t *testing.T, what string, got, want float64) {
	t.Helper()
	within(t, what, got, want, 1e-10)
}

func within(t *testing.T, what string, got, want, relative float64) {
	t.Helper()
	if !(math.Abs(got-want) <= relative*math.Abs(want)) {
		t.Errorf("%s is %.16g, want %.16g", what, got, want)
	}
}

func wantError(t *testing.T, err error, part string) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), part) {
		t.Errorf("error is %v, want one that says %q", err, part)
	}
}
