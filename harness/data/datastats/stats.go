// Package datastats describes a feature set: its classes and values, duplicates within it and
// across training and test, the accuracy of two simple classifiers, and a scatter plot. It judges
// nothing and records no run.
package datastats

import (
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"

	"ssdl/harness/data"
)

// Report is the result of Compute. Indices of samples count from 0 without the zero samples, except
// in ZeroSamples.
type Report struct {
	Name    string  `json:"name"`
	Source  string  `json:"source"`
	Hash    string  `json:"hash"`
	DType   string  `json:"dtype"`
	Samples int     `json:"samples"`
	Dim     int     `json:"dim"`
	Classes []Class `json:"classes"`
	// Least, Median and Most describe the class sizes.
	Least  int     `json:"class_size_min"`
	Median float64 `json:"class_size_median"`
	Most   int     `json:"class_size_max"`
	// Norms describes the l2 norms of the stored samples; nil for a built-in set.
	Norms *Norms `json:"norms,omitempty"`
	// ZeroShare is the share of the values that are exactly zero.
	ZeroShare float64 `json:"zero_share"`
	// ZeroSamples lists the zero samples by their index in the file.
	ZeroSamples []int `json:"zero_samples"`
	// ZeroFeatures counts the features that are zero in every sample.
	ZeroFeatures int        `json:"zero_features"`
	Duplicates   Duplicates `json:"duplicates"`
	// Accuracy is nil if the set cannot be split; NoAccuracy says why.
	Accuracy   *Accuracy `json:"accuracy,omitempty"`
	NoAccuracy string    `json:"no_accuracy,omitempty"`
	PCA        PCA       `json:"pca"`
}

// Class is a class and the number of its samples.
type Class struct {
	Name    string `json:"name"`
	Samples int    `json:"samples"`
}

// Norms are the quartiles of the norms of the samples that are not zero.
type Norms struct {
	Min    float64 `json:"min"`
	Q1     float64 `json:"q1"`
	Median float64 `json:"median"`
	Q3     float64 `json:"q3"`
	Max    float64 `json:"max"`
}

// seed is the protocol's first seed. The splits use it.
const seed = 1000

// Compute describes a set loaded with data.Options.DropZero. norms are the norms of its stored
// samples (data.Norms), nil for a built-in set. The error is ctx's, or numerical.
func Compute(ctx context.Context, set *data.Set, norms []float64) (*Report, error) {
	r := &Report{
		Name: set.Name, Source: set.Source, Hash: set.Hash, DType: set.DType,
		Samples: set.Samples(), Dim: set.Dim(), ZeroSamples: append([]int{}, set.Dropped...),
		Norms: summary(norms),
	}
	sizes := make([]float64, len(set.Classes))
	for c, n := range set.Counts() {
		r.Classes = append(r.Classes, Class{set.Classes[c], n})
		sizes[c] = float64(n)
	}
	slices.Sort(sizes)
	r.Least, r.Median, r.Most = int(sizes[0]), quantile(0.5, sizes), int(sizes[len(sizes)-1])
	r.zeros(set)

	splits := []split{}
	protocol, err := data.MakeSplit(set, data.SplitSpec{Kind: "class"}, seed)
	if err != nil {
		r.NoAccuracy = err.Error()
	} else {
		splits = append(splits, split{fmt.Sprintf("split by class, seed %d", seed), protocol})
		if r.Accuracy, err = accuracy(ctx, set, protocol); err != nil {
			return nil, err
		}
	}
	if set.Official != nil {
		if official, err := data.MakeSplit(set, data.SplitSpec{Kind: "official"}, seed); err == nil { // fails if one part is empty
			splits = append(splits, split{"official split", official})
		}
	}
	if r.Duplicates, err = duplicates(ctx, set, splits); err != nil {
		return nil, err
	}
	r.PCA, err = components(ctx, set.X)
	return r, err
}

// zeros counts the zero values. Normalising adds none: package data refuses samples in which a
// value would become zero.
func (r *Report) zeros(set *data.Set) {
	raw := set.X.RawMatrix()
	zero := 0
	for i := range raw.Rows {
		n := 0
		for _, v := range raw.Data[i*raw.Stride : i*raw.Stride+raw.Cols] {
			if v == 0 {
				n++
			}
		}
		if n == raw.Cols {
			r.ZeroFeatures++
		}
		zero += n
	}
	r.ZeroShare = float64(zero) / (float64(raw.Rows) * float64(raw.Cols))
}

// summary returns the quartiles of the non-zero norms; nil without any.
func summary(norms []float64) *Norms {
	v := slices.DeleteFunc(slices.Clone(norms), func(x float64) bool { return x == 0 })
	if len(v) == 0 {
		return nil
	}
	slices.Sort(v)
	return &Norms{v[0], quantile(0.25, v), quantile(0.5, v), quantile(0.75, v), v[len(v)-1]}
}

// quantile is the empirical quantile of sorted values. The median of an even number of values is
// the mean of the middle two.
func quantile(p float64, sorted []float64) float64 {
	if n := len(sorted); p == 0.5 && n%2 == 0 {
		return sorted[n/2-1] + (sorted[n/2]-sorted[n/2-1])/2
	}
	return stat.Quantile(p, stat.Empirical, sorted, nil)
}

// clamp limits a cosine to [-1,1], which rounding can exceed.
func clamp(cosine float64) float64 { return math.Max(-1, math.Min(1, cosine)) }
