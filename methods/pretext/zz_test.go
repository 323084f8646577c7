package pretext

import (
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	"ssdl/methods"
)

func TestZZ(t *testing.T) {
	for _, name := range strings.Fields(os.Getenv("ZZ")) {
		p := loadReal(t, name, 1000)
		verbose := true
		ev := func(label string, m methods.Pretext) {
			start := time.Now()
			p.Trace = func(name string, it int, v float64) {
				if verbose {
					t.Logf("      %s[%d]=%.8g", name, it, v)
				}
			}
			F, err := m.PseudoLabels(t.Context(), p.Problem)
			if err != nil {
				t.Fatal(err)
			}
			el := time.Since(start)
			s, err := F.Score(t.Context(), p.test)
			if err != nil {
				t.Fatal(err)
			}
			runtime.GC()
			t.Logf("%s %-28s unl %.4f test %.4f bce %.4f row %.4f soft %.4f  fit %v score %v", name, label, Accuracy(F.F, p.hidden), Accuracy(s, p.testLabels), BCE(s, p.testLabels), CERow(s, p.testLabels), CESoftmax(s, p.testLabels), el, time.Since(start)-el)
		}
		d := DHSL{K: 10, Lambda: .1, Fill: .5, Beta: .5, Step: .3, Backtrack: true, Outer: 3, Inner: 2, Mask: 30, Anchor: "equal"}
		ev("dhsl", d)
		verbose = false
		ev("gl", GL{K: 10, Graph: "knn", Lambda: 0.1, Fill: 0.5})
		ev("hl", HL{K: 10, Bandwidth: "unit", Lambda: .1, Fill: .5})
		ev("hlw", HLW{K: 10, Bandwidth: "unit", Lambda: .1, Fill: .5, Mu: 1, Rounds: 5, Step: "frozen"})
		ev("hlw exact", HLW{K: 10, Bandwidth: "unit", Lambda: .1, Fill: .5, Mu: 1, Rounds: 5, Step: "exact"})
		ev("pahl", PAHL{
			K: 10, P: 2.2, Lambda: 0.1, Fill: 0.5, M: 200, T: 30, Step: "luo", Beta: 0.01,
			Gradient: "exact", Retraction: "qr", Operator: "edge",
		})
		if os.Getenv("ZZG") != "" {
			for _, b := range []float64{.1, .5, .9} {
				for _, st := range []float64{.1, .3, 1, 3} {
					for _, back := range []bool{true, false} {
						d := d
						d.Beta, d.Step, d.Backtrack = b, st, back
						t.Log(b, st, back)
						ev("dhsl", d)
					}
				}
			}
			d := d
			d.Outer, d.Inner = 10, 3
			ev("dhsl 10x3", d)
			d.Step = 1
			ev("dhsl 10x3 step 1", d)
			d.Outer, d.Inner, d.Step, d.Anchor = 3, 2, .3, "thu"
			ev("dhsl thu", d)
			d.Anchor = "equal"
			d.Mask = 100
			ev("dhsl mask 100", d)
			d.Mask = 10
			ev("dhsl mask 10", d)
		}
	}
}
