package dictionary

import (
	"bytes"
	"encoding/binary"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"testing"

	"gonum.org/v1/gonum/mat"

	"ssdl/methods"
	"ssdl/methods/linalg"
)

// sports8 splits the real features: for each class at random 70 % for training, of which
// 40 % keep their label. truth holds all training labels.
func sports8(t testing.TB, seed uint64) (p methods.Problem, truth []int, Xt *mat.Dense, yt []int) {
	t.Helper()
	dir := os.Getenv("SSDL_DATA")
	if dir == "" {
		t.Skip("SSDL_DATA is not set: no real features to test on")
	}
	dir = filepath.Join(dir, "sports8")
	features, n, dim := npy(t, filepath.Join(dir, "features.npy"))
	labels, _, _ := npy(t, filepath.Join(dir, "labels.npy"))
	X := mat.NewDense(dim, n, nil)
	for j := range n {
		for i := range dim {
			h := binary.LittleEndian.Uint16(features[2*(j*dim+i):])
			X.Set(i, j, half(h))
		}
	}
	linalg.NormalizeColumns(X)
	const classes = 8
	r := rand.New(rand.NewPCG(seed, 1))
	members := make([][]int, classes)
	for _, j := range r.Perm(n) {
		c := int(binary.LittleEndian.Uint32(labels[4*j:]))
		members[c] = append(members[c], j)
	}
	var train, test []int
	for c, idx := range members {
		cut := int(math.Round(0.7 * float64(len(idx))))
		keep := int(math.Round(0.4 * float64(cut)))
		for i, j := range idx {
			switch {
			case i >= cut:
				test, yt = append(test, j), append(yt, c)
			case i < keep:
				train, truth, p.Labels = append(train, j), append(truth, c), append(p.Labels, c)
			default:
				train, truth, p.Labels = append(train, j), append(truth, c), append(p.Labels, methods.Unlabeled)
			}
		}
	}
	p.X, p.Classes, p.Rand = methods.Columns(X, train), classes, rand.New(rand.NewPCG(seed, 2))
	return p, truth, methods.Columns(X, test), yt
}

// npy returns the data of a little-endian C-ordered .npy file, its rows and its columns.
func npy(t testing.TB, path string) (data []byte, rows, cols int) {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Skipf("no real features to test on: %v", err)
	}
	end := bytes.IndexByte(raw, '\n') + 1
	shape := regexp.MustCompile(`\((\d+),(?: (\d+))?`).FindSubmatch(raw[:end])
	rows, _ = strconv.Atoi(string(shape[1]))
	cols, _ = strconv.Atoi(string(shape[2]))
	return raw[end:], rows, cols
}

// half converts an IEEE 754 half-precision number that is neither infinite nor NaN.
func half(h uint16) float64 {
	exp, frac := int(h>>10&31), float64(h&1023)
	v := math.Ldexp(frac, -24)
	if exp > 0 {
		v = math.Ldexp(1024+frac, exp-25)
	}
	if h>>15 == 1 {
		v = -v
	}
	return v
}

func accuracy(got, want []int) float64 {
	hits := 0
	for j := range got {
		if got[j] == want[j] {
			hits++
		}
	}
	return float64(hits) / float64(len(want))
}
