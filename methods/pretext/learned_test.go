//go:build !race

// The race detector makes the arithmetic of these runs a hundred times slower.

package pretext

import (
	"testing"

	"ssdl/methods"
)

// On real features the learned hypergraphs label as well as HL, within a point, and their
// loss hardly differs. A frozen step of HL-W raises the objective at once, whatever mu is;
// an exact one lowers it.
func TestLearnedHypergraphsOnSports8(t *testing.T) {
	p := loadReal(t, "sports8", 1000)
	hlw := HLW{K: 10, Bandwidth: "unit", Lambda: 0.1, Fill: 0.5, Mu: 1, Rounds: 5, Step: "frozen"}
	exact := hlw
	exact.Step = "exact"
	dhsl := DHSL{K: 10, Lambda: 0.1, Fill: 0.5, Beta: 0.5, Step: 0.3, Backtrack: true, Outer: 3, Inner: 2, Mask: 30, Anchor: "equal"}
	loss, right := map[string]float64{}, map[string]float64{}
	for _, m := range []struct {
		name string
		methods.Pretext
	}{
		{"hl", HL{K: 10, Bandwidth: "unit", Lambda: 0.1, Fill: 0.5}},
		{"hlw", hlw},
		{"hlw, exact", exact},
		{"dhsl", dhsl},
	} {
		F, err := m.PseudoLabels(t.Context(), p.Problem)
		if err != nil {
			t.Fatal(err)
		}
		scores, err := F.Score(t.Context(), p.test)
		if err != nil {
			t.Fatal(err)
		}
		loss[m.name], right[m.name] = BCE(scores, p.testLabels), Accuracy(F.F, p.hidden)
		t.Logf("%-10s accuracy %.4f on hidden labels, %.4f on the test part; BCE %.4f, by rows %.4f, by softmax %.4f",
			m.name, right[m.name], Accuracy(scores, p.testLabels), loss[m.name], CERow(scores, p.testLabels), CESoftmax(scores, p.testLabels))
		if right[m.name] < right["hl"]-0.01 || loss[m.name] > loss["hl"]+0.02 || loss[m.name] < loss["hl"]-0.02 {
			t.Errorf("%s is not close to hl", m.name)
		}
	}

	h := hypergraph(t, p.X, 10)
	for _, mu := range []float64{0.01, 0.1, 1, 10} {
		for step, rises := range map[string]bool{"frozen": true, "exact": false} {
			m := hlw
			m.Mu, m.Step, m.Rounds = mu, step, 1
			l, err := m.Learn(t.Context(), h, initialLabels(p.Problem, m.Fill))
			if err != nil {
				t.Fatal(err)
			}
			if got := l.Objective[1] > l.Objective[0]; got != rises {
				t.Errorf("mu %g, %s: the objective goes from %g to %g", mu, step, l.Objective[0], l.Objective[1])
			}
		}
	}
}
