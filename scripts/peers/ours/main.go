//go:build unix

// Command ours is the Go side of scripts/peers/peers.py. It prepares the problems from real
// features and writes their matrices for Python. Then it runs the parts whose names it reads from
// standard input, and prints one line of JSON for each.
//
// With -scaling it needs no Python: it measures how the cost of each part grows with the number of
// samples.
package main

import (
	"bufio"
	"context"
	"encoding/binary"
	"encoding/json"
	"flag"
	"fmt"
	"log"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"syscall"
	"time"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/blas/gonum"
	"gonum.org/v1/gonum/mat"

	"ssdl/harness/data"
	"ssdl/harness/protocol"
	"ssdl/methods"
	"ssdl/methods/dictionary"
	"ssdl/methods/linalg"
	"ssdl/methods/pretext"
	"ssdl/methods/sparse"
)

const (
	alpha    = 0x1p-12 // the paper's value on UIUC-SE
	gamma    = 0x1p-12
	sparsity = 30
	seed     = 1000
)

func main() {
	log.SetFlags(0)
	log.SetPrefix("ours: ")
	folder := flag.String("data", os.Getenv("SSDL_DATA"), "folder with sports8 and stanford40")
	out := flag.String("out", "", "folder for the matrices")
	scaling := flag.Bool("scaling", false, "print the cost against the number of samples, and end")
	flag.Parse()
	linalg.Register()
	ctx := context.Background()
	var err error
	if *scaling {
		err = scale(ctx, *folder)
	} else {
		err = serve(ctx, *folder, *out)
	}
	if err != nil {
		log.Fatal(err)
	}
}

// measurement is one line of output.
type measurement struct {
	Part string
	CPU  float64 // seconds of CPU time, user and system
	Wall float64 // seconds
	Note string
}

// timed measures f.
func timed(part string, f func() error) (measurement, error) {
	runtime.GC() // do not measure earlier garbage
	before, start := cpu(), time.Now()
	err := f()
	return measurement{Part: part, CPU: cpu() - before, Wall: time.Since(start).Seconds()}, err
}

func cpu() float64 {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		log.Fatal(err)
	}
	seconds := func(t syscall.Timeval) float64 { return float64(t.Sec) + 1e-6*float64(t.Usec) }
	return seconds(u.Utime) + seconds(u.Stime)
}

// problem is a training set with 40 % of its labels, as in the paper.
func problem(ctx context.Context, folder, name string) (methods.Problem, []int, error) {
	set, err := data.Load(ctx, filepath.Join(folder, name), data.Options{})
	if err != nil {
		return methods.Problem{}, nil, err
	}
	split, err := data.MakeSplit(set, data.SplitSpec{}, seed)
	if err != nil {
		return methods.Problem{}, nil, err
	}
	p := methods.Problem{
		X: methods.Columns(set.X, split.Train), Classes: len(set.Classes),
		Labels: make([]int, len(split.Train)), Rand: protocol.Stream(seed, "peers"),
	}
	truth := make([]int, len(split.Train))
	for i, j := range split.Train {
		truth[i], p.Labels[i] = set.Labels[j], methods.Unlabeled
		if split.Labelled[i] {
			p.Labels[i] = set.Labels[j]
		}
	}
	return p, truth, nil
}

// steps returns the state of SSDL on X (dim x N) with the labels as targets, after a few
// iterations from k normal atoms.
func steps(ctx context.Context, X *mat.Dense, F *mat.Dense, k, iterations int) (*dictionary.Steps, error) {
	dim, _ := X.Dims()
	classes, _ := F.Dims()
	D := mat.NewDense(dim, k, nil)
	r := protocol.Stream(seed, "atoms")
	for i := range D.RawMatrix().Data {
		D.RawMatrix().Data[i] = linalg.Gaussian(r)
	}
	linalg.NormalizeColumns(D)
	s := dictionary.NewSteps(X, F, D, mat.NewDense(classes, k, nil), alpha, gamma, false)
	for range iterations {
		if err := s.Iterate(ctx); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// serve runs the parts that Python requests.
func serve(ctx context.Context, folder, out string) error {
	small, _, err := problem(ctx, folder, "sports8")
	if err != nil {
		return err
	}
	large, truth, err := problem(ctx, folder, "stanford40")
	if err != nil {
		return err
	}
	_, n := small.X.Dims()
	k := n / 2
	st, err := steps(ctx, small.X, methods.OneHot(small.Labels, small.Classes, 0), k, 5)
	if err != nil {
		return err
	}
	D := st.D()
	linalg.NormalizeColumns(D)
	// A wide sweep: half as many atoms as training samples of the large set, over an eighth of the
	// samples. The atoms here are samples; their values do not matter to the cost.
	_, wideN := large.X.Dims()
	wideK := wideN / 2
	atoms := mat.DenseCopyOf(large.X.Slice(0, large.X.RawMatrix().Rows, 0, wideK))
	wideG := linalg.Gram(atoms)
	var wideR mat.Dense
	wideR.Mul(atoms.T(), large.X.Slice(0, atoms.RawMatrix().Rows, wideN-wideN/8, wideN))
	G := linalg.Gram(D)
	var R mat.Dense
	R.Mul(D.T(), small.X)
	info := map[string]any{
		"go": runtime.Version(), "blas": linalg.BLAS(), "alpha": alpha, "gamma": gamma, "sparsity": sparsity,
		"classes": large.Classes, "labels": large.Labels, "truth": truth,
	}
	for name, m := range map[string]*mat.Dense{
		"X": small.X, "D": D, "G": G, "R": &R, "wideG": wideG, "wideR": &wideR, "large": large.X,
	} {
		rows, cols := m.Dims()
		info[name] = []int{rows, cols}
		if err := write(filepath.Join(out, name+".f64"), m); err != nil {
			return err
		}
	}
	enc := json.NewEncoder(os.Stdout)
	if err := enc.Encode(info); err != nil {
		return err
	}

	parts := map[string]func() (string, error){
		"lasso": func() (string, error) {
			var r mat.Dense
			r.Mul(D.T(), small.X)
			S, report, err := sparse.Lasso{Lambda: alpha}.Solve(ctx, linalg.Gram(D), &r, linalg.ColumnSquares(small.X))
			if err != nil {
				return "", err
			}
			return fmt.Sprintf("%.0f non-zeros a code", report.Support), write(filepath.Join(out, "codes.f64"), S)
		},
		"omp": func() (string, error) {
			var r mat.Dense
			r.Mul(D.T(), small.X)
			S, err := sparse.OMP(ctx, linalg.Gram(D), &r, sparsity)
			if err != nil {
				return "", err
			}
			return "", write(filepath.Join(out, "omp.f64"), S)
		},
		"sweep": func() (string, error) {
			linalg.Sweep(mat.NewDense(k, n, nil), G, &R, alpha)
			return "", nil
		},
		"widesweep": func() (string, error) {
			linalg.Sweep(mat.NewDense(wideK, wideN/8, nil), wideG, &wideR, alpha)
			return "", nil
		},
		"atoms":   func() (string, error) { return "", st.UpdateAtoms(ctx) },
		"iterate": func() (string, error) { return "", st.Iterate(ctx) },
		"propagation": func() (string, error) {
			pseudo, err := pretext.GL{K: 10, Graph: "knn", Lambda: 0.1}.PseudoLabels(ctx, large)
			if err != nil {
				return "", err
			}
			return fmt.Sprintf("%.1f %% of the hidden labels", 100*recovered(pseudo.F, large.Labels, truth)), nil
		},
	}
	for _, size := range []int{1105, 2048, 3336} {
		A, B, C := uniform(size, 1), uniform(size, 2), mat.NewDense(size, size, nil)
		multiply := func(l blas.Float64) {
			a, b, c := A.RawMatrix(), B.RawMatrix(), C.RawMatrix()
			l.Dgemm(blas.NoTrans, blas.NoTrans, size, size, size, 1, a.Data, size, b.Data, size, 0, c.Data, size)
		}
		parts[fmt.Sprintf("dgemm%d", size)] = func() (string, error) { multiply(blas64.Implementation()); return "", nil }
		parts[fmt.Sprintf("gonum%d", size)] = func() (string, error) { multiply(gonum.Implementation{}); return "", nil }
	}
	parts["threads 2"] = func() (string, error) { runtime.GOMAXPROCS(2); return "", nil }
	in := bufio.NewScanner(os.Stdin)
	for in.Scan() {
		f, ok := parts[in.Text()]
		if !ok {
			return fmt.Errorf("there is no part %q", in.Text())
		}
		note := ""
		m, err := timed(in.Text(), func() (err error) { note, err = f(); return err })
		if err != nil {
			return fmt.Errorf("%s: %w", in.Text(), err)
		}
		m.Note = note
		if err := enc.Encode(m); err != nil {
			return err
		}
	}
	return in.Err()
}

// recovered is the share of the hidden labels at which F (C x N) has its largest entry.
func recovered(F *mat.Dense, labels, truth []int) float64 {
	hidden, right := 0, 0
	for j, l := range labels {
		if l != methods.Unlabeled {
			continue
		}
		hidden++
		best := 0
		for c := range F.RawMatrix().Rows {
			if F.At(c, j) > F.At(best, j) {
				best = c
			}
		}
		if best == truth[j] {
			right++
		}
	}
	return float64(right) / float64(hidden)
}

func uniform(n int, stream uint64) *mat.Dense {
	r := protocol.Stream(stream, "product")
	m := mat.NewDense(n, n, nil)
	for i := range m.RawMatrix().Data {
		m.RawMatrix().Data[i] = 2*r.Float64() - 1
	}
	return m
}

// write writes the elements row by row, little-endian.
func write(path string, m *mat.Dense) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	w := bufio.NewWriterSize(f, 1<<20)
	rows, _ := m.Dims()
	for i := range rows {
		if err := binary.Write(w, binary.LittleEndian, m.RawRowView(i)); err != nil {
			f.Close()
			return err
		}
	}
	if err := w.Flush(); err != nil {
		f.Close()
		return err
	}
	return f.Close()
}

// scale prints the cost of each part for an eighth, a quarter, half and all of the training samples
// of stanford40, and the exponent of a power law fitted to it.
func scale(ctx context.Context, folder string) error {
	p, _, err := problem(ctx, folder, "stanford40")
	if err != nil {
		return err
	}
	_, all := p.X.Dims()
	sizes := []int{all / 8, all / 4, all / 2, all}
	// some picks n samples evenly from all, so that every class is present.
	some := func(n int) methods.Problem {
		q, idx := p, make([]int, n)
		q.Labels = make([]int, n)
		for i := range idx {
			idx[i] = i * all / n
			q.Labels[i] = p.Labels[idx[i]]
		}
		q.X = methods.Columns(p.X, idx)
		return q
	}
	first := some(sizes[0])
	fixed, err := steps(ctx, first.X, methods.OneHot(first.Labels, p.Classes, 0), sizes[0]/2, 3)
	if err != nil {
		return err
	}
	D := fixed.D()
	G := linalg.Gram(D)
	parts := []struct {
		name string
		run  func(q methods.Problem) (func() error, error)
	}{
		{"SSDL, one iteration, K = N/2", func(q methods.Problem) (func() error, error) {
			_, n := q.X.Dims()
			st, err := steps(ctx, q.X, methods.OneHot(q.Labels, q.Classes, 0), n/2, 0)
			return func() error { return st.Iterate(ctx) }, err
		}},
		{fmt.Sprintf("SSDL, one iteration, K = %d", sizes[0]/2), func(q methods.Problem) (func() error, error) {
			st, err := steps(ctx, q.X, methods.OneHot(q.Labels, q.Classes, 0), sizes[0]/2, 0)
			return func() error { return st.Iterate(ctx) }, err
		}},
		{fmt.Sprintf("Lasso codes of N samples, K = %d", sizes[0]/2), func(q methods.Problem) (func() error, error) {
			return func() error {
				var r mat.Dense
				r.Mul(D.T(), q.X)
				_, _, err := sparse.Lasso{Lambda: alpha}.Solve(ctx, G, &r, linalg.ColumnSquares(q.X))
				return err
			}, nil
		}},
		{"pAHL, M = 200, T = 30", func(q methods.Problem) (func() error, error) {
			return func() error {
				_, err := pretext.PAHL{
					K: 10, P: 1.8, Lambda: 0.1, Fill: 0.5, M: 200, T: 30, Step: "luo", Beta: 0.01,
					Gradient: "exact", Retraction: "qr", Operator: "edge",
				}.PseudoLabels(ctx, q)
				return err
			}, nil
		}},
	}
	fmt.Printf("| wall s, %d threads | N = %d | %d | %d | %d | exponent |\n|---|---|---|---|---|---|\n", runtime.GOMAXPROCS(0), sizes[0], sizes[1], sizes[2], sizes[3])
	for _, part := range parts {
		fmt.Printf("| %s |", part.name)
		var x, y []float64
		for _, n := range sizes {
			f, err := part.run(some(n))
			if err != nil {
				return err
			}
			m, err := timed(part.name, f)
			if err != nil {
				return err
			}
			fmt.Printf(" %.3g |", m.Wall)
			x, y = append(x, math.Log(float64(n))), append(y, math.Log(m.Wall))
		}
		fmt.Printf(" %.2f |\n", slope(x, y))
	}
	return nil
}

// slope is the slope of the least-squares line.
func slope(x, y []float64) float64 {
	var mx, my, xx, xy float64
	for i := range x {
		mx += x[i] / float64(len(x))
		my += y[i] / float64(len(y))
	}
	for i := range x {
		xx += (x[i] - mx) * (x[i] - mx)
		xy += (x[i] - mx) * (y[i] - my)
	}
	return xy / xx
}
