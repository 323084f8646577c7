package run

import (
	"context"
	"os"
	"path/filepath"
	"slices"

	"ssdl/harness/data"
	"ssdl/harness/spec"
	"ssdl/harness/store"
)

// atHand knows the data sets at hand by name, reading each at most once.
type atHand struct {
	lib      *Library
	recorded []store.Dataset
	hashes   map[string]string
}

// hash reads a data set and returns its hash; empty where it cannot be loaded.
func (h *atHand) hash(ctx context.Context, name string) string {
	hash, ok := h.hashes[name]
	if !ok {
		if set, err := h.lib.Set(ctx, name); err == nil {
			hash = set.Hash
		}
		h.hashes[name] = hash
	}
	return hash
}

// split is the hash of the split that a job has now, on data with the hash; empty where other data or
// none are at hand.
func (h *atHand) split(ctx context.Context, job spec.Job, hash string) string {
	if h.hash(ctx, job.Dataset) != hash {
		return ""
	}
	set, err := h.lib.Set(ctx, job.Dataset)
	if err != nil {
		return ""
	}
	split, err := h.lib.Split(set, job.Split, job.Seed)
	if err != nil {
		return ""
	}
	return split.Hash
}

// lacksSplit reports whether a task is on another split than it has now. Only where the data have been
// read for another reason it is worth an answer.
func (h *atHand) lacksSplit(ctx context.Context, t *Task) bool {
	if !h.lib.loaded(t.Job.Dataset) {
		return false
	}
	is := h.split(ctx, t.Job, t.Record.DatasetHash)
	return is != "" && is != t.Record.SplitHash
}

// quick is up to how many bytes of features a report reads to learn the hash: it takes milliseconds.
const quick = 1 << 20

// lacks reports whether the data at hand under a name are for certain not those with the hash. A
// report asks it of each data set, and must not wait for large files to be read and hashed: of these
// the headers alone are held against what was recorded. So other features of the same size pass here.
// Resolve, and with it `ssdl plan` and `ssdl run`, tells all; a table names the data that it is of.
func (h *atHand) lacks(ctx context.Context, name, hash string) bool {
	path, ok := data.Find(name, h.lib.Roots)
	if !ok {
		return false // no data at hand, or built-in ones
	}
	if h.lib.loaded(name) || bytesOf(path) <= quick {
		is := h.hash(ctx, name)
		return is != "" && is != hash
	}
	i := slices.IndexFunc(h.recorded, func(d store.Dataset) bool { return d.Hash == hash })
	if i < 0 || filepath.Ext(path) == ".csv" { // which has no header
		return false
	}
	info, err := data.Inspect(path)
	d := h.recorded[i]
	// There may be fewer samples recorded than are at hand: zero samples are left out on demand.
	return err == nil && (info.Dim != d.Dim || info.Samples < d.Samples || info.Classes > 0 && info.Classes != d.Classes)
}

// bytesOf is the size of the features at the path of a data set.
func bytesOf(path string) int64 {
	info, err := os.Stat(path)
	if err == nil && info.IsDir() {
		info, err = os.Stat(filepath.Join(path, "features.npy"))
	}
	if err != nil {
		return 0 // the reader says what is wrong
	}
	return info.Size()
}
