//go:build !race

// The race detector makes the arithmetic of these runs a hundred times slower.

package pretext

import (
	"encoding/binary"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"testing"
	"time"

	"gonum.org/v1/gonum/mat"
	"ssdl/methods"
	"ssdl/methods/linalg"
)

// realProblem is a split of a data set of $SSDL_DATA: 70 % of each class for training,
// 40 % of these labelled.
type realProblem struct {
	methods.Problem
	truth      []int      // of the training columns
	hidden     []int      // truth where the label is hidden, else Unlabeled
	test       *mat.Dense // dim x M
	testLabels []int
}

func loadReal(tb testing.TB, name string, seed uint64) realProblem {
	tb.Helper()
	root := os.Getenv("SSDL_DATA")
	if root == "" {
		tb.Skip("set SSDL_DATA to the folder of the data sets to run this on " + name)
	}
	samples, dim, features := readNPY(tb, filepath.Join(root, name, "features.npy"))
	_, _, values := readNPY(tb, filepath.Join(root, name, "labels.npy"))
	classes := 0
	for _, v := range values {
		classes = max(classes, int(v)+1)
	}
	r := rand.New(rand.NewPCG(seed, 1))
	var train, test []int
	p := realProblem{Problem: methods.Problem{Classes: classes, Rand: r}}
	for c := range classes {
		var members []int
		for j := range samples {
			if int(values[j]) == c {
				members = append(members, j)
			}
		}
		r.Shuffle(len(members), func(a, b int) { members[a], members[b] = members[b], members[a] })
		cut := int(math.Floor(0.7*float64(len(members)) + 0.5))
		known := int(math.Floor(0.4*float64(cut) + 0.5))
		for i, j := range members[:cut] {
			train, p.truth = append(train, j), append(p.truth, c)
			if i < known {
				p.Labels, p.hidden = append(p.Labels, c), append(p.hidden, methods.Unlabeled)
			} else {
				p.Labels, p.hidden = append(p.Labels, methods.Unlabeled), append(p.hidden, c)
			}
		}
		for _, j := range members[cut:] {
			test, p.testLabels = append(test, j), append(p.testLabels, c)
		}
	}
	columns := func(idx []int) *mat.Dense {
		X := mat.NewDense(dim, len(idx), nil)
		for k, j := range idx {
			for f := range dim {
				X.Set(f, k, features[j*dim+f])
			}
		}
		linalg.NormalizeColumns(X)
		return X
	}
	p.X, p.test = columns(train), columns(test)
	return p
}

// readNPY reads a one- or two-dimensional array of float16 or int32 in C order.
func readNPY(tb testing.TB, path string) (rows, cols int, values []float64) {
	tb.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		tb.Skip(err)
	}
	end := 10 + int(binary.LittleEndian.Uint16(raw[8:]))
	m := regexp.MustCompile(`'descr': '<(f2|i4)'.*'shape': \((\d+),\s*(\d*)\)`).FindSubmatch(raw[10:end])
	if m == nil {
		tb.Fatalf("%s: header %q", path, raw[10:end])
	}
	rows, _ = strconv.Atoi(string(m[2]))
	if cols, err = strconv.Atoi(string(m[3])); err != nil {
		cols = 1
	}
	values = make([]float64, rows*cols)
	for i := range values {
		if string(m[1]) == "i4" {
			values[i] = float64(int32(binary.LittleEndian.Uint32(raw[end+4*i:])))
			continue
		}
		h := binary.LittleEndian.Uint16(raw[end+2*i:])
		e, f := int(h>>10&31), float64(h&1023)
		if e == 0 {
			values[i] = math.Ldexp(f, -24)
		} else {
			values[i] = math.Ldexp(1024+f, e-25)
		}
		if h>>15 == 1 {
			values[i] = -values[i]
		}
	}
	return rows, cols, values
}

// On real features every pretext labels about 92 % of the hidden labels right at
// lambda = 0.1, and pAHL's loss lies below HL's, as that of the shifted control does.
func TestSports8(t *testing.T) {
	p := loadReal(t, "sports8", 1000)
	hl := HL{K: 10, Bandwidth: "unit", Lambda: 0.1, Fill: 0.5}
	control := hl
	control.Shift = 0.1
	pahl := PAHL{
		K: 10, P: 2.2, Lambda: 0.1, Fill: 0.5, M: 100, T: 30, Step: "luo", Beta: 0.01,
		Gradient: "exact", Retraction: "qr", Operator: "edge",
	}
	loss := map[string]float64{}
	for name, m := range map[string]methods.Pretext{
		"gl": GL{K: 10, Graph: "knn", Lambda: 0.1, Fill: 0.5}, "hl": hl, "control": control, "pahl": pahl,
	} {
		F, err := m.PseudoLabels(t.Context(), p.Problem)
		if err != nil {
			t.Fatal(err)
		}
		scores, err := F.Score(t.Context(), p.test)
		if err != nil {
			t.Fatal(err)
		}
		loss[name] = BCE(scores, p.testLabels)
		seen, unseen := Accuracy(F.F, p.hidden), Accuracy(scores, p.testLabels)
		t.Logf("%-8s accuracy %.4f on hidden labels, %.4f on the test part; BCE %.4f", name, seen, unseen, loss[name])
		if seen < 0.9 || unseen < 0.9 {
			t.Errorf("%s: accuracy %.4f on hidden labels, %.4f on the test part", name, seen, unseen)
		}
	}
	if loss["pahl"] > loss["hl"]-0.1 || loss["control"] > loss["hl"]-0.1 {
		t.Errorf("BCE is %v: that of pahl and control should be far below hl's", loss)
	}
}

// BenchmarkPAHL reports the seconds that each part of a run takes.
func BenchmarkPAHL(b *testing.B) {
	for _, name := range []string{"sports8", "stanford40"} {
		b.Run(name, func(b *testing.B) {
			p := loadReal(b, name, 1000)
			m := PAHL{
				K: 10, P: 2.2, Lambda: 0.1, Fill: 0.5, M: 200, T: 30, Step: "luo", Beta: 0.01,
				Gradient: "exact", Retraction: "qr", Operator: "edge",
			}
			seconds := map[string]float64{}
			for b.Loop() {
				last := time.Now()
				lap := func(part string, err error) {
					if err != nil {
						b.Fatal(err)
					}
					seconds[part] += time.Since(last).Seconds()
					last = time.Now()
				}
				h, err := NewHypergraph(b.Context(), p.X, m.K, "unit")
				lap("hypergraph", err)
				start, err := Eigenpairs(b.Context(), h.Psi, m.M)
				lap("lanczos", err)
				e, err := m.Descend(b.Context(), h.Psi, start)
				lap("descent", err)
				_, err = m.Laplacian(h, start, e).Solve(b.Context(), "pahl", initialLabels(p.Problem, m.Fill), m.Lambda)
				lap("cg", err)
			}
			for part, s := range seconds {
				b.ReportMetric(s/float64(b.N), part+"-s")
			}
		})
	}
}
