package features

import (
	"bufio"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"hash"
	"io"
	"os"
	"path/filepath"
	"slices"

	"ssdl/harness/data"
)

// The files of a feature set, as harness/data reads them.
const (
	featuresFile = "features.npy"
	labelsFile   = "labels.npy"
	officialFile = "official_split.npy"
	metaFile     = "meta.json"
)

// write writes the feature set from the journal. It renames the files only after all are complete;
// meta.json comes last.
func (e *extraction) write() (*Summary, error) {
	sum := e.summary()
	if len(sum.Classes) < 2 {
		return sum, fmt.Errorf("%d classes have an image that can be used, expected at least two", len(sum.Classes))
	}
	var labels, parts []byte
	for _, i := range sum.kept {
		im := e.src.Images[i]
		labels = binary.LittleEndian.AppendUint32(labels, uint32(sum.label[im.Class]))
		parts = append(parts, byte(im.Part))
	}
	var files []*output
	defer func() {
		for _, f := range files {
			f.discard()
		}
	}()
	hashes := map[string]string{}
	save := func(name string, content func(w io.Writer) error) error {
		f, err := createOutput(filepath.Join(e.opt.Out, name))
		if err != nil {
			return err
		}
		files = append(files, f)
		if err := content(f); err != nil {
			return err
		}
		if err := f.finish(); err != nil {
			return err
		}
		hashes[name] = hex.EncodeToString(f.sum.Sum(nil))
		return nil
	}
	n, dim := len(sum.kept), e.net.Model.Dim
	err := save(featuresFile, func(w io.Writer) error {
		if err := data.WriteNPYHeader(w, "<f4", fmt.Sprintf("(%d, %d)", n, dim)); err != nil {
			return err
		}
		written := 0
		err := e.journal.frames(e.recipe, func(_, values []byte) error {
			written += len(values)
			_, err := w.Write(values)
			return err
		})
		if err == nil && written != 4*n*dim {
			err = refuse("the journal has %d bytes of features, expected %d. Delete it to start again.", written, 4*n*dim)
		}
		return err
	})
	if err == nil {
		err = saveVector(save, labelsFile, "<i4", n, labels)
	}
	if err == nil && e.src.Official {
		err = saveVector(save, officialFile, "|i1", n, parts)
	}
	if err == nil {
		m := e.meta(sum, hashes)
		err = save(metaFile, func(w io.Writer) error {
			enc := json.NewEncoder(w)
			enc.SetIndent("", " ")
			enc.SetEscapeHTML(false)
			return enc.Encode(m)
		})
	}
	for i := 0; err == nil && i < len(files); i++ {
		err = files[i].publish()
	}
	if err != nil {
		return nil, fmt.Errorf("output: %w", err)
	}
	return sum, nil
}

func saveVector(save func(string, func(io.Writer) error) error, name, descr string, n int, values []byte) error {
	return save(name, func(w io.Writer) error {
		if err := data.WriteNPYHeader(w, descr, fmt.Sprintf("(%d,)", n)); err != nil {
			return err
		}
		_, err := w.Write(values)
		return err
	})
}

// output is a file that is written under a temporary name.
type output struct {
	path string
	f    *os.File
	w    *bufio.Writer
	sum  hash.Hash
}

func createOutput(path string) (*output, error) {
	f, err := os.Create(path + ".tmp")
	if err != nil {
		return nil, err
	}
	o := &output{path: path, f: f, sum: sha256.New()}
	o.w = bufio.NewWriterSize(io.MultiWriter(f, o.sum), 1<<20)
	return o, nil
}

func (o *output) Write(b []byte) (int, error) { return o.w.Write(b) }

// finish flushes the file to the disk.
func (o *output) finish() error {
	if err := o.w.Flush(); err != nil {
		return err
	}
	if err := o.f.Sync(); err != nil {
		return err
	}
	return o.f.Close()
}

func (o *output) publish() error { return os.Rename(o.path+".tmp", o.path) }

// discard removes the file unless it was published.
func (o *output) discard() {
	o.f.Close()
	os.Remove(o.path + ".tmp")
}

// Summary lists what an extraction wrote and left out.
type Summary struct {
	Samples, Dim int
	Classes      []string
	Counts       []int // images of each class
	// EmptyClasses have no usable image, and so no label.
	EmptyClasses []string
	Skipped      []Skip
	Duplicates   []Duplicate // groups of equal files that became samples
	Dropped      []Dropped   // left out by Options.DropDuplicates

	kept  []int // images that became samples
	label []int // class of the source -> label
}

// Duplicate is a group of files with the same bytes.
type Duplicate struct {
	Files []string `json:"files"`
	// Classes is true if they have several classes, Parts if they are in both parts of the official
	// split.
	Classes bool `json:"across_classes,omitempty"`
	Parts   bool `json:"across_parts,omitempty"`
}

// Dropped is a file left out because it equals an earlier one.
type Dropped struct {
	File   string `json:"file"`
	SameAs string `json:"same_as"`
}

// summary makes the Summary of the records.
func (e *extraction) summary() *Summary {
	s := &Summary{Dim: e.net.Model.Dim, Skipped: slices.Clone(e.src.Skipped)}
	counts := make([]int, len(e.src.Classes))
	same := map[string][]int{} // SHA-256 -> images
	for i, r := range e.records {
		im := e.src.Images[i]
		switch {
		case r.Reason != "":
			s.Skipped = append(s.Skipped, Skip{im.Path, r.Reason, r.SHA256})
		case r.SameAs != "":
			s.Dropped = append(s.Dropped, Dropped{im.Path, r.SameAs})
		default:
			s.kept = append(s.kept, i)
			counts[im.Class]++
			same[r.SHA256] = append(same[r.SHA256], i)
		}
	}
	s.Samples = len(s.kept)
	s.label = make([]int, len(counts))
	for c, name := range e.src.Classes {
		if counts[c] == 0 {
			s.EmptyClasses = append(s.EmptyClasses, name)
			continue
		}
		s.label[c] = len(s.Classes)
		s.Classes = append(s.Classes, name)
		s.Counts = append(s.Counts, counts[c])
	}
	for _, i := range s.kept {
		group := same[e.records[i].SHA256]
		if len(group) < 2 || group[0] != i {
			continue
		}
		var d Duplicate
		for _, j := range group {
			im := e.src.Images[j]
			d.Files = append(d.Files, im.Path)
			d.Classes = d.Classes || im.Class != e.src.Images[i].Class
			d.Parts = d.Parts || im.Part != e.src.Images[i].Part
		}
		s.Duplicates = append(s.Duplicates, d)
	}
	return s
}
