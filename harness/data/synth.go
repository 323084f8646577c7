package data

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"sync"

	"ssdl/harness/protocol"
)

// Builtin returns the built-in synthetic set called name: synth40 (2367 x 512: a quarter of the
// samples of each of the 40 classes of Stanford 40 Actions, and a quarter of the features) or
// synth8 (1579 x 2048, 8 classes of the sizes of UIUC Sports Event). The first call generates it,
// in less than a second; all calls share it.
//
// The sets replace average-pooled features of a convolutional network if there are none. A
// sample of class c has two layers:
//
//	u = 1.6 (a P_c + b P_d) + M_c t + s g  activations of 256 concepts
//	z = max(0,u)^2, scaled by 1/sqrt(k+8)  few strong concepts and many weak ones
//	x = max(0, W z + bias) x speckle       features
//
// P_c is the sparse non-negative prototype of the class. Classes 2i and 2i+1 share about half of
// theirs and are easily confused. d is another class, half of the time the easily confused one. b
// is mostly small, but sometimes exceeds a: such a sample looks like class d, and no method can
// tell. M_c t, with t in R^4, is the class's own manifold, which the square bends. W has 12 mostly
// positive loads per feature. The features are non-negative and heavy-tailed, with a large common direction
// and a covariance spectrum that falls off like that of real features.
//
// The generator uses integer draws, and additions, multiplications, divisions and square roots
// that are rounded one by one: the bits are the same on every machine.
func Builtin(name string) (*Set, bool) {
	generate, ok := builtins[name]
	if !ok {
		return nil, false
	}
	return generate(), true
}

// Builtins returns the names of the built-in sets.
func Builtins() []string { return []string{"synth40", "synth8"} }

// builtins generates each set once. The last number of a shape, mixing, is the largest share b of
// another class and sets the difficulty: with these values ridge regression on the labelled 40 %
// has an accuracy of about 75 % and 93 %, as on the real sets.
var builtins = map[string]func() *Set{
	"synth40": sync.OnceValue(func() *Set { return newGenerator(shape{"synth40", 2, quarter(stanfordSizes), 512, 2.15}).set() }),
	"synth8":  sync.OnceValue(func() *Set { return newGenerator(shape{"synth8", 1, uiucSizes, 2048, 1.1}).set() }),
}

var (
	stanfordSizes = []int{
		284, 259, 200, 212, 295, 288, 203, 189, 256, 287, 273, 228, 251, 199, 292, 295, 191, 203, 259, 289,
		260, 200, 235, 245, 293, 296, 185, 251, 214, 241, 197, 193, 202, 230, 293, 182, 223, 210, 183, 246,
	}
	uiucSizes = []int{200, 137, 236, 182, 194, 250, 190, 190}
)

const (
	synthSeed = 1

	concepts = 256
	decay    = 8    // of the concept scales, 1/sqrt(k+decay)
	loads    = 12   // concepts per feature
	negative = 0.02 // share of negative loads
	biasMin  = 0.035
	biasMax  = 0.105
	speckle  = 0.12 // standard deviation of the feature noise, as a share of the value

	density  = 0.3  // share of the concepts that are in a prototype
	overlap  = 0.5  // share of a prototype that the confusable class has too
	contrast = 1.6  // factor of the prototypes in u
	variety  = 0.85 // the standard deviation s of the free activation

	manifold = 4    // dimension of t
	spread   = 0.75 // standard deviation of t
	tangent  = 0.15 // share of the concepts that a direction of M moves
)

// load is one entry of W.
type load struct {
	concept uint8
	weight  float64
}

// shape holds the properties in which the sets differ.
type shape struct {
	name    string
	version int
	sizes   []int // samples of each class
	dim     int
	mixing  float64
}

// quarter divides the sizes by 4, rounded down.
func quarter(sizes []int) []int {
	out := make([]int, len(sizes))
	for c, n := range sizes {
		out[c] = n / 4
	}
	return out
}

// generator holds the random parameters that all samples of a set share.
type generator struct {
	shape
	bias      []float64                     // per feature
	loads     [][loads]load                 // per feature
	scale     [concepts]float64             // per concept
	prototype [][concepts]float64           // P, per class
	tangents  [][concepts][manifold]float64 // M, per class
}

func newGenerator(s shape) *generator {
	r := protocol.Stream(synthSeed, s.name)
	g := &generator{
		shape: s,
		bias:  make([]float64, s.dim), loads: make([][loads]load, s.dim),
		prototype: make([][concepts]float64, len(s.sizes)),
		tangents:  make([][concepts][manifold]float64, len(s.sizes)),
	}
	for j := range g.bias {
		g.bias[j] = between(r, biasMin, biasMax)
		for m := range g.loads[j] {
			u := between(r, 0, 1)
			w := u * u
			if chance(r, negative) {
				w = -w
			}
			g.loads[j][m] = load{uint8(r.Uint64() % concepts), w}
		}
	}
	for k := range g.scale {
		g.scale[k] = math.Sqrt(1 / float64(k+decay))
	}
	for c := range g.prototype {
		drawn := density // the share that is not copied
		if c%2 == 1 {
			drawn = density * (1 - overlap)
		}
		for k := range concepts {
			if chance(r, drawn) {
				g.prototype[c][k] = between(r, 0.5, 1.5)
			}
			if c%2 == 1 && chance(r, overlap) && g.prototype[c-1][k] > 0 {
				g.prototype[c][k] = g.prototype[c-1][k]
			}
			for d := range manifold {
				if chance(r, tangent) {
					g.tangents[c][k][d] = normal(r)
				}
			}
		}
	}
	return g
}

// set generates the samples class by class. Each sample has its own random stream, so blocks are
// generated in parallel.
func (g *generator) set() *Set {
	s := &Set{
		Name: g.name, DType: "float64", Synthetic: true,
		Source: fmt.Sprintf("built-in generator %s, version %d", g.name, g.version),
	}
	for c, size := range g.sizes {
		s.Classes = append(s.Classes, strconv.Itoa(c))
		s.Labels = append(s.Labels, slices.Repeat([]int{c}, size)...)
	}
	n := len(s.Labels)
	b := newBuilder(n, g.dim)
	const group = 8 // blocks
	raw := make([]float64, group*blockSize*g.dim)
	for lo := 0; lo < n; lo += group * blockSize {
		hi := min(lo+group*blockSize, n)
		var wg sync.WaitGroup
		for from := lo; from < hi; from += blockSize {
			wg.Go(func() {
				for i := from; i < min(from+blockSize, hi); i++ {
					g.sample(raw[(i-lo)*g.dim:][:g.dim], i, s.Labels[i])
				}
			})
		}
		wg.Wait()
		for from := lo; from < hi; from += blockSize {
			b.add(raw[(from-lo)*g.dim : (min(from+blockSize, hi)-lo)*g.dim])
		}
	}
	s.X, s.Hash = b.finish(s.Labels)
	return s
}

// sample writes sample i, of class c, to x. float64(...) around a product keeps the compiler from
// fusing it with the next addition.
func (g *generator) sample(x []float64, i, c int) {
	r := protocol.Stream(uint64(i), g.name+" sample")
	a := between(r, 0.6, 1.2)
	v := between(r, 0, 1)
	b := g.mixing * v * v * v
	other := c ^ 1
	if chance(r, 0.5) {
		other = (c + 1 + int(r.Uint64()%uint64(len(g.sizes)-1))) % len(g.sizes)
	}
	var t [manifold]float64
	for d := range t {
		t[d] = spread * normal(r)
	}
	var z [concepts]float64
	for k := range z {
		p := float64(a*g.prototype[c][k]) + float64(b*g.prototype[other][k])
		u := float64(variety*normal(r)) + float64(contrast*p)
		for d, m := range g.tangents[c][k] {
			u += float64(t[d] * m)
		}
		u = max(0, u)
		z[k] = u * u * g.scale[k]
	}
	for j := range x {
		v := g.bias[j]
		for _, l := range g.loads[j] {
			v += float64(l.weight * z[l.concept])
		}
		x[j] = max(0, v) * (1 + float64(speckle*flat(r)))
	}
}

// between draws uniformly from [lo, hi).
func between(r *rand.Rand, lo, hi float64) float64 {
	return lo + float64((hi-lo)*float64(r.Uint64()>>11)*0x1p-53)
}

// chance is true with probability p.
func chance(r *rand.Rand, p float64) bool { return between(r, 0, 1) < p }

// normal draws from nearly a standard normal distribution: a scaled sum of twelve 16-bit integers
// (Irwin-Hall). rand.NormFloat64 and math.Log differ in bits between machines.
func normal(r *rand.Rand) float64 {
	return float64(sum16(r)+sum16(r)+sum16(r)-12*65535/2) * 0x1p-16
}

// flat is normal with four integers: mean 0, variance 1, within +-3.47.
func flat(r *rand.Rand) float64 {
	const sqrt3 = 1.7320508075688772
	return float64(sum16(r)-4*65535/2) * (sqrt3 * 0x1p-16)
}

func sum16(r *rand.Rand) int {
	b := r.Uint64()
	return int(b&0xffff) + int(b>>16&0xffff) + int(b>>32&0xffff) + int(b>>48)
}
