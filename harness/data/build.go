package data

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"hash"
	"math"
	"sync"

	"gonum.org/v1/gonum/mat"
)

// If the largest feature of a sample lies between these, its norm neither overflows nor loses
// digits.
const minLargest, maxLargest = 1e-140, 1e140

// set decodes, checks, hashes, normalises and transposes the features, sample by sample.
func (c *content) set(ctx context.Context, opt Options) (*Set, error) {
	n, dim := c.features.rows, c.features.cols
	s := &Set{
		Name: c.name, Declared: c.meta.Name, DType: c.dtype, Classes: c.meta.Classes,
		Labels: c.labels, Files: c.meta.Files, Official: c.official, Source: c.meta.Source,
	}
	if s.Source == "" {
		s.Source = c.featuresPath
	}
	b := newBuilder(n, dim)
	block := make([]float64, min(blockSize, n)*dim)
	for lo := 0; lo < n; lo += blockSize {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		hi := min(lo+blockSize, n)
		kept := block[:0]
		for i := lo; i < hi; i++ {
			row := kept[len(kept) : len(kept)+dim]
			c.features.row(i, row)
			largest := 0.0
			for k, v := range row {
				if v-v != 0 { // NaN or an infinity
					return nil, Invalid(c.featuresPath, "feature %d of %s is %v. Repair or remove the sample.", k, c.sample(i), v)
				}
				largest = max(largest, math.Abs(v))
			}
			switch {
			case largest >= minLargest && largest <= maxLargest:
				kept = kept[:len(kept)+dim]
			case largest != 0:
				return nil, Invalid(c.featuresPath, "the largest feature of %s has size %g, expected %g to %g. Rescale the features.", c.sample(i), largest, minLargest, maxLargest)
			case opt.DropZero:
				s.Dropped = append(s.Dropped, i)
			default:
				return nil, Invalid(c.featuresPath, "all features of %s are zero. Remove the sample, or pass --drop-zero.", c.sample(i))
			}
		}
		b.add(kept)
	}
	if err := s.drop(c.labelsPath); err != nil {
		return nil, err
	}
	s.X, s.Hash = b.finish(s.Labels)
	return s, nil
}

// drop removes the dropped samples from every list that has an entry per sample.
func (s *Set) drop(path string) error {
	if len(s.Dropped) == 0 {
		return nil
	}
	s.Labels = without(s.Labels, s.Dropped)
	s.Files = without(s.Files, s.Dropped)
	s.Official = without(s.Official, s.Dropped)
	for y, count := range s.Counts() {
		if count == 0 {
			return Invalid(path, "class %d (%s) has no samples after %d zero samples were dropped. Remove the class.", y, s.Classes[y], len(s.Dropped))
		}
	}
	return nil
}

// without returns a copy of v without the entries at idx (ascending). nil stays nil.
func without[T any](v []T, idx []int) []T {
	if v == nil {
		return nil
	}
	out := make([]T, 0, len(v)-len(idx))
	for i := range v {
		if len(idx) > 0 && idx[0] == i {
			idx = idx[1:]
			continue
		}
		out = append(out, v[i])
	}
	return out
}

// blockSize is the number of samples processed at a time: enough for whole cache lines in the
// transposed writes, few enough to stay in the cache.
const blockSize = 64

// builder builds X and the hash from blocks of raw samples.
type builder struct {
	x      *mat.Dense // dim x n, filled from the left
	filled int
	sum    hash.Hash
	bytes  []byte
}

func newBuilder(n, dim int) *builder {
	b := &builder{x: mat.NewDense(dim, n, nil), sum: sha256.New()}
	b.sum.Write([]byte("ssdl data 1"))
	return b
}

// add appends a block (samples x dim; finite, none zero). All blocks together have at most n
// samples.
func (b *builder) add(block []float64) {
	dim, stride := b.x.RawMatrix().Rows, b.x.RawMatrix().Stride
	samples := len(block) / dim
	var hashing sync.WaitGroup
	hashing.Go(func() { b.write(block) })
	defer hashing.Wait()
	norms := make([]float64, samples)
	for i := range norms {
		norms[i] = norm(block[i*dim : (i+1)*dim])
	}
	out := b.x.RawMatrix().Data[b.filled:]
	for k := range dim {
		dst := out[k*stride:]
		for i, l := range norms {
			dst[i] = block[i*dim+k] / l
		}
	}
	b.filled += samples
}

// write adds the bits of the values to the hash.
func (b *builder) write(values []float64) {
	b.bytes = b.bytes[:0]
	for _, v := range values {
		b.bytes = binary.LittleEndian.AppendUint64(b.bytes, math.Float64bits(v))
	}
	b.sum.Write(b.bytes)
}

// finish adds labels and dimensions to the hash and returns X and the hash. The dimensions come
// last because zero samples may have been dropped.
func (b *builder) finish(labels []int) (*mat.Dense, string) {
	dim, n := b.x.Dims()
	b.bytes = b.bytes[:0]
	for _, y := range labels {
		b.bytes = binary.LittleEndian.AppendUint64(b.bytes, uint64(y))
	}
	b.bytes = binary.LittleEndian.AppendUint64(b.bytes, uint64(b.filled))
	b.bytes = binary.LittleEndian.AppendUint64(b.bytes, uint64(dim))
	b.sum.Write(b.bytes)
	x := b.x
	if b.filled < n {
		x = mat.DenseCopyOf(x.Slice(0, dim, 0, b.filled))
	}
	return x, hex.EncodeToString(b.sum.Sum(nil))
}

// norm is the l2 norm of v. It sums in index order without fused operations, so that its bits are
// the same on every machine.
func norm(v []float64) float64 {
	sum := 0.0
	for _, x := range v {
		sum += float64(x * x)
	}
	return math.Sqrt(sum)
}
