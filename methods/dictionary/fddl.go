package dictionary

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"ssdl/methods"
	"ssdl/methods/linalg"
)

// FDDL is Fisher discrimination dictionary learning (Yang et al., ICCV 2011), with the halved
// terms and the fast algorithm of Vu and Monga's DICTOL:
//
//	min 0.5 (||X - D S||^2 + sum_c (||X_c - D_c S_cc||^2 + sum_{j != c} ||D_c S_cj||^2))
//	  + 0.5 lambda2 (||S||^2 + sum_c (||S_c - M_c||^2 - n_c ||m_c - m||^2)) + lambda1 |S|_1,  ||d|| <= 1,
//
// where S_cj are the codes of the samples of class j on the atoms of class c, m_c is the mean code
// of class c and m that of all samples. Lambda1 here is half of the paper's. An iteration minimises
// over D, one atom after the other until they settle, and then over S: by coordinate descent until
// it settles, which never raises the objective, or in mode "reference" by DICTOL's 100 passes of
// FISTA. A pass of either costs 2 K^2 N flops; on real features twenty passes of the first come
// nearer to the minimum than a hundred of the second.
//
// Rule "gc" codes a sample over all atoms, s = argmin 0.5||x - D s||^2 + test_lambda |s|_1, and takes
// the class of the smallest ||x - D_c s_c||^2 + weight ||s - m_c||^2; the paper recommends it for
// small classes. Rule "lc" codes a sample over each D_c separately and takes the class of the
// smallest objective.
//
// The atoms of a class start as its mean and its first principal directions, as in the paper;
// a class never has more atoms than samples. FitTargets hardens F as LCKSVD does.
type FDDL struct {
	Atoms      int     `param:"atoms" default:"0" min:"0" doc:"atoms of a class; 0 means that size says it"`
	Size       float64 `param:"size" default:"0.5" min:"1e-6" max:"4" doc:"atoms of a class as a share of what size_of counts"`
	SizeOf     string  `param:"size_of" default:"all" choices:"all,labelled,dim" doc:"the samples of the class, its labelled ones, or an equal part of the features"`
	Lambda1    float64 `param:"lambda1" default:"0.005" min:"1e-12" doc:"weight of the l1 norm of the codes"`
	Lambda2    float64 `param:"lambda2" default:"0.01" min:"0" doc:"weight of the Fisher term"`
	Iterations int     `param:"iterations" default:"10" min:"1" doc:"iterations"`
	Rule       string  `param:"rule" default:"gc" choices:"gc,lc" doc:"codes over all atoms, or over those of each class"`
	TestLambda float64 `param:"test_lambda" default:"0.005" min:"1e-12" doc:"weight of the l1 norm of the codes of test samples (rule gc)"`
	Mode       string  `param:"mode" default:"paper" choices:"paper,reference" doc:"codes to the minimum, or the 100 passes of FISTA of DICTOL (in training, and rule gc)"`
	Weight     float64 `param:"weight" default:"0.1" min:"0" doc:"weight of the distance from the mean code of the class (rule gc)"`
}

// The inner loops of DICTOL.
const (
	fddlPasses    = 100
	fddlTolerance = 1e-8
)

// fddlSettled is the squared change of the codes in a pass of coordinate descent, as a share of
// their squares, at which the descent ends.
const fddlSettled = 1e-8

func (m FDDL) size() size { return size{"fddl", "atoms", m.Atoms, m.Size, m.SizeOf} }

// FitTargets learns D from the columns of F (C x N) that harden to a class. It traces
// "objective" at the start (0) and after each iteration.
func (m FDDL) FitTargets(ctx context.Context, p methods.Problem, F *mat.Dense) (methods.Model, error) {
	q, err := hardened("fddl", m, p, F)
	if err != nil {
		return nil, err
	}
	atoms, err := m.size().perClass(p, q)
	if err != nil {
		return nil, err
	}
	dim, n := q.X.Dims()
	var basis span
	if n < dim { // the atoms start and stay in the span of the samples
		basis, q.X = coordinates(q.X)
	}
	start := make([]*mat.Dense, q.Classes)
	for c, idx := range byClass(q.Labels, q.Classes) {
		if len(idx) > 0 {
			if start[c], err = principalAtoms(methods.Columns(q.X, idx), atoms[c]); err != nil {
				return nil, fmt.Errorf("fddl: class %d: %w", c, err)
			}
			_, atoms[c] = start[c].Dims()
		}
	}
	traceAtoms(p.Trace, atoms)
	model, _, err := m.Train(ctx, q, start, nil)
	if err != nil {
		return nil, fmt.Errorf("fddl: %w", err)
	}
	if n < dim {
		model.D = basis.lift(model.D)
	}
	return model, nil
}

// principalAtoms returns at most k unit atoms: the mean of the columns of X and their first principal
// directions. It returns fewer if the samples do not span more.
func principalAtoms(X *mat.Dense, k int) (*mat.Dense, error) {
	dim, n := X.Dims()
	mean := make([]float64, dim)
	for i := range dim {
		for _, v := range X.RawRowView(i) {
			mean[i] += v / float64(n)
		}
	}
	centred := mat.DenseCopyOf(X)
	for i := range dim {
		row := centred.RawRowView(i)
		for j := range row {
			row[j] -= mean[i]
		}
	}
	G := linalg.Gram(centred)
	var eigen mat.EigenSym
	if !eigen.Factorize(mat.NewSymDense(n, G.RawMatrix().Data), true) {
		return nil, fmt.Errorf("the eigenvalue problem of its samples' principal directions did not converge")
	}
	values := eigen.Values(nil)
	var vectors mat.Dense
	eigen.VectorsTo(&vectors)
	atoms := [][]float64{mean}
	for i := n - 1; i >= 0 && len(atoms) < k && values[i] > 1e-10*float64(n); i-- {
		direction := mat.NewVecDense(dim, nil)
		direction.MulVec(centred, vectors.ColView(i))
		atoms = append(atoms, direction.RawVector().Data)
	}
	D := mat.NewDense(dim, len(atoms), nil)
	for j, a := range atoms {
		D.SetCol(j, a)
	}
	linalg.NormalizeColumns(D)
	return D, nil
}

// Train learns from p, which has no unlabelled columns. It starts from D_c (dim x K_c) for each class,
// nil for a class without samples, and from the codes S (K x N), nil for the optimal ones. It also
// returns the codes.
func (m FDDL) Train(ctx context.Context, p methods.Problem, start []*mat.Dense, S *mat.Dense) (*FDDLModel, *mat.Dense, error) {
	w := newFisher(m, p, start, S)
	if S == nil {
		if err := w.codes(ctx); err != nil {
			return nil, nil, err
		}
	}
	w.record(p.Trace, 0)
	for it := 1; it <= m.Iterations; it++ {
		if err := w.dictionary(ctx); err != nil {
			return nil, nil, fmt.Errorf("iteration %d: %w", it, err)
		}
		if err := w.codes(ctx); err != nil {
			return nil, nil, fmt.Errorf("iteration %d: %w", it, err)
		}
		w.record(p.Trace, it)
	}
	model := &FDDLModel{setting: m, D: mat.DenseCopyOf(w.d.T()), Means: classMeans(w.s, w.samples), from: w.atoms, known: make([]bool, p.Classes), trace: p.Trace}
	for c := range p.Classes {
		model.known[c] = start[c] != nil
	}
	_, n := p.X.Dims()
	k, _ := w.d.Dims()
	codes := mat.NewDense(k, n, nil)
	for i := range k {
		for at, j := range w.order {
			codes.Set(i, j, w.s.At(i, at))
		}
	}
	return model, codes, nil
}

// fisher is the state of FDDL's iterations. The samples are sorted by class.
type fisher struct {
	FDDL
	x       *mat.Dense
	order   []int // the columns of the problem
	d       *mat.Dense
	s       *mat.Dense // K x N
	atoms   []int      // the atoms of class c are atoms[c] .. atoms[c+1]-1
	samples []int      // its samples likewise
	sweep   atomSweep
}

func newFisher(m FDDL, p methods.Problem, start []*mat.Dense, S *mat.Dense) *fisher {
	w := &fisher{FDDL: m, atoms: []int{0}, samples: []int{0}}
	for c, idx := range byClass(p.Labels, p.Classes) {
		k := 0
		if start[c] != nil {
			_, k = start[c].Dims()
			if w.d == nil {
				w.d = mat.DenseCopyOf(start[c].T())
			} else {
				var all mat.Dense
				all.Stack(w.d, start[c].T())
				w.d = &all
			}
		}
		w.order = append(w.order, idx...)
		w.atoms, w.samples = append(w.atoms, w.atoms[c]+k), append(w.samples, len(w.order))
	}
	w.x = methods.Columns(p.X, w.order)
	k, _ := w.d.Dims()
	w.s = mat.NewDense(k, len(w.order), nil)
	if S != nil {
		w.s = methods.Columns(S, w.order)
	}
	return w
}

// double doubles the diagonal blocks of A, those with the same class in rows and columns.
func double(A *mat.Dense, rows, cols []int) {
	for c := range len(rows) - 1 {
		for i := rows[c]; i < rows[c+1]; i++ {
			row := A.RawRowView(i)[cols[c]:cols[c+1]]
			for j, v := range row {
				row[j] = 2 * v
			}
		}
	}
}

// classMeans returns the mean code of each class (K x C), 0 for a class without samples.
func classMeans(S *mat.Dense, samples []int) *mat.Dense {
	k, _ := S.Dims()
	M := mat.NewDense(k, len(samples)-1, nil)
	for i := range k {
		s, m := S.RawRowView(i), M.RawRowView(i)
		for c := range m {
			for _, v := range s[samples[c]:samples[c+1]] {
				m[c] += v
			}
			m[c] /= float64(max(1, samples[c+1]-samples[c]))
		}
	}
	return M
}

// dictionary minimises over one atom after the other, in the unit ball. Let M double the diagonal
// blocks. The three terms of the fit are 0.5 tr(D M(S S^T) D^T) - tr(X M(S)^T D^T) and a constant.
func (w *fisher) dictionary(ctx context.Context) error {
	doubled := mat.DenseCopyOf(w.s)
	double(doubled, w.atoms, w.samples)
	A := linalg.Outer(w.s)
	double(A, w.atoms, w.atoms)
	var V mat.Dense
	V.Mul(doubled, w.x.T())
	k, dim := w.d.Dims()
	last := mat.DenseCopyOf(w.d)
	for range fddlPasses {
		if err := ctx.Err(); err != nil {
			return err
		}
		w.sweep.run(w.d, &V, A)
		last.Sub(w.d, last)
		if mat.Norm(last, 2)/float64(k*dim) < fddlTolerance {
			break
		}
		last.Copy(w.d)
	}
	return nil
}

// codes minimises over S. The gradient of the objective without the l1 norm is
//
//	(M(D^T D) + 2 lambda2 I) S - M(D^T X) + lambda2 (m - 2 m_c).
func (w *fisher) codes(ctx context.Context) error {
	k, n := w.s.Dims()
	G := linalg.Outer(w.d)
	double(G, w.atoms, w.atoms)
	for i := range k {
		G.Set(i, i, G.At(i, i)+2*w.Lambda2)
	}
	R := mat.NewDense(k, n, nil)
	R.Mul(w.d, w.x)
	double(R, w.atoms, w.samples)
	if w.Mode != "reference" {
		return w.descend(ctx, G, R)
	}
	var err error
	w.s, err = fista(ctx, G, R, w.s, w.Lambda1, w.Lambda2, largestEigenvalue(G)+4*w.Lambda2+1, w.samples)
	return err
}

// descend makes passes of coordinate descent over the rows of S, each with the mean codes from
// before the pass. The Fisher term is concave in the means, so its tangent lies above it and a pass
// never raises the objective.
func (w *fisher) descend(ctx context.Context, G, R *mat.Dense) error {
	k, n := w.s.Dims()
	pulled, last := mat.NewDense(k, n, nil), mat.NewDense(k, n, nil)
	change, size := make([]float64, k), make([]float64, k)
	for range fddlPasses {
		if err := ctx.Err(); err != nil {
			return err
		}
		M := classMeans(w.s, w.samples)
		last.Copy(w.s)
		linalg.Parallel(k, 64, func(lo, hi int) {
			for i := lo; i < hi; i++ {
				m := M.RawRowView(i)
				mean := weightedMean(m, w.samples)
				from, to := R.RawRowView(i), pulled.RawRowView(i)
				for c, mc := range m {
					pull := w.Lambda2 * (2*mc - mean)
					for j := w.samples[c]; j < w.samples[c+1]; j++ {
						to[j] = from[j] + pull
					}
				}
			}
		})
		linalg.Sweep(w.s, G, pulled, w.Lambda1)
		linalg.Parallel(k, 64, func(lo, hi int) {
			for i := lo; i < hi; i++ {
				s, l := w.s.RawRowView(i), last.RawRowView(i)
				size[i] = dot(s, s)
				axpy(-1, s, l)
				change[i] = dot(l, l)
			}
		})
		moved, all := 0.0, 0.0
		for i := range k {
			moved += change[i]
			all += size[i]
		}
		if moved <= fddlSettled*all {
			break
		}
	}
	return nil
}

// fista makes up to fddlPasses passes from S (K x N) with G (K x K) and R (K x N), see codes, and
// returns the new codes.
func fista(ctx context.Context, G, R, S *mat.Dense, lambda1, lambda2, lipschitz float64, samples []int) (*mat.Dense, error) {
	k, n := S.Dims()
	Y, gradient, next, S := mat.DenseCopyOf(S), mat.NewDense(k, n, nil), mat.NewDense(k, n, nil), mat.DenseCopyOf(S)
	t := 1.0
	for range fddlPasses {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		gradient.Mul(G, Y)
		M := classMeans(Y, samples)
		tNext := 0.5 * (1 + math.Sqrt(1+float64(4*t*t)))
		momentum := (t - 1) / tNext
		change := make([]float64, k)
		linalg.Parallel(k, 64, func(lo, hi int) {
			for i := lo; i < hi; i++ {
				m := M.RawRowView(i)
				mean := weightedMean(m, samples)
				s, y, g, r, x := S.RawRowView(i), Y.RawRowView(i), gradient.RawRowView(i), R.RawRowView(i), next.RawRowView(i)
				for c, mc := range m {
					pull := lambda2 * (mean - 2*mc)
					for j := samples[c]; j < samples[c+1]; j++ {
						v := y[j] - (g[j]-r[j]+pull)/lipschitz
						v = math.Copysign(max(math.Abs(v)-lambda1/lipschitz, 0), v)
						change[i] += math.Abs(v - s[j])
						x[j] = v
						y[j] = v + float64(momentum*(v-s[j]))
					}
				}
			}
		})
		S, next = next, S
		t = tNext
		sum := 0.0
		for _, v := range change {
			sum += v
		}
		if sum/float64(k*n) < fddlTolerance {
			break
		}
	}
	return S, nil
}

// weightedMean returns the mean of the class means, weighted by the number of samples.
func weightedMean(means []float64, samples []int) float64 {
	sum := 0.0
	for c, v := range means {
		sum = math.FMA(v, float64(samples[c+1]-samples[c]), sum)
	}
	return sum / float64(samples[len(means)])
}

// largestEigenvalue returns that of the symmetric positive semi-definite G, by Lanczos' method with
// full reorthogonalisation. The number of steps is ample: the error is rounding.
func largestEigenvalue(G *mat.Dense) float64 {
	n, _ := G.Dims()
	steps := min(n, 80)
	basis := mat.NewDense(steps, n, nil)
	v := make([]float64, n)
	for i := range v {
		v[i] = 1 + 0.5*math.Sin(float64(i+1)) // not orthogonal to the eigenvector of a dictionary
	}
	T := mat.NewSymDense(steps, nil)
	count := 0
	for count < steps {
		norm := math.Sqrt(dot(v, v))
		if count > 0 {
			if norm <= 1e-14*math.Abs(T.At(0, 0)) {
				break
			}
			T.SetSym(count-1, count, norm)
		}
		if norm == 0 {
			return 0
		}
		scale(1/norm, v)
		copy(basis.RawRowView(count), v)
		next := mat.NewVecDense(n, nil)
		next.MulVec(G, mat.NewVecDense(n, v))
		u := next.RawVector().Data
		T.SetSym(count, count, dot(u, v))
		for range 2 {
			for q := range count + 1 {
				b := basis.RawRowView(q)
				axpy(-dot(u, b), b, u)
			}
		}
		v = u
		count++
	}
	var eigen mat.EigenSym
	if !eigen.Factorize(T.SliceSym(0, count), false) {
		return mat.Norm(G, 1) // an upper bound is enough
	}
	values := eigen.Values(nil)
	return values[count-1]
}

// record traces the objective. Without a trace it computes nothing.
func (w *fisher) record(trace methods.Trace, it int) {
	if trace == nil {
		return
	}
	var E mat.Dense
	E.Mul(w.d.T(), w.s)
	E.Sub(w.x, &E)
	f := 0.5 * squareSum(&E)
	dim, n := w.x.Dims()
	for c := range len(w.atoms) - 1 {
		if w.atoms[c] == w.atoms[c+1] {
			continue
		}
		k0, k1, n0, n1 := w.atoms[c], w.atoms[c+1], w.samples[c], w.samples[c+1]
		Dt, S := w.d.Slice(k0, k1, 0, dim), w.s.Slice(k0, k1, 0, n)
		var own mat.Dense
		own.Mul(Dt.T(), S)
		all := squareSum(&own)
		within := mat.DenseCopyOf(own.Slice(0, dim, n0, n1))
		f += 0.5 * (all - squareSum(within))
		within.Sub(w.x.Slice(0, dim, n0, n1), within)
		f += 0.5 * squareSum(within)
	}
	M := classMeans(w.s, w.samples)
	k, _ := w.s.Dims()
	fisherTerm := squareSum(w.s)
	for i := range k {
		m, s := M.RawRowView(i), w.s.RawRowView(i)
		mean := weightedMean(m, w.samples)
		for c, v := range m {
			for _, x := range s[w.samples[c]:w.samples[c+1]] {
				fisherTerm += float64((x-v)*(x-v)) - float64((v-mean)*(v-mean))
			}
		}
	}
	trace.Add("objective", it, f+float64(0.5*w.Lambda2*fisherTerm)+float64(w.Lambda1*absSum(w.s)))
}

// Bytes counts the codes with the workspace of FISTA, the Gram matrices, the dictionary and copies of
// the samples.
func (m FDDL) Bytes(dim, n, test, classes int) int64 {
	k := min(n, m.size().atMost(dim, n, classes))
	return int64(8 * (6*k*n + 2*k*k + 4*k*min(dim, n) + 3*k*test + 2*dim*n))
}
