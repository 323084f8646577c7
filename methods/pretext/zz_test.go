package pretext

import (
	"slices"
	"testing"
	"time"

	"ssdl/methods"
)

func TestZZ(t *testing.T) {
	for _, name := range []string{"sports8"} {
		p := loadReal(t, name, 1000)
		ev := func(label string, m methods.Pretext) {
			start := time.Now()
			p.Trace = func(name string, it int, v float64) {
				if name != "cg_iterations" && name != "mean_unlabelled" {
					t.Logf("      %s[%d]=%.8g", name, it, v)
				}
			}
			F, err := m.PseudoLabels(t.Context(), p.Problem)
			if err != nil {
				t.Fatal(err)
			}
			s, err := F.Score(t.Context(), p.test)
			if err != nil {
				t.Fatal(err)
			}
			t.Logf("%-28s unl %.4f test %.4f bce %.4f row %.4f soft %.4f  %v", label, Accuracy(F.F, p.hidden), Accuracy(s, p.testLabels), BCE(s, p.testLabels), CERow(s, p.testLabels), CESoftmax(s, p.testLabels), time.Since(start))
		}
		_ = slices.Max[[]int]
		ev("hl", HL{K: 10, Bandwidth: "unit", Lambda: .1, Fill: .5})
		for _, fill := range []float64{.5, 0} {
			for _, mu := range []float64{.01, .1, 1, 10} {
				for _, stop := range []string{"frozen", "exact"} {
					t.Log(fill, mu, stop)
					ev("hlw", HLW{K: 10, Bandwidth: "unit", Lambda: .1, Fill: fill, Mu: mu, Rounds: 10, Step: stop})
				}
			}
		}
	}
}
