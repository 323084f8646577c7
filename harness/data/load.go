package data

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"ssdl/harness/data/untrusted"
)

// Options changes how a set is loaded.
type Options struct {
	// DropZero leaves out samples whose features are all zero instead of refusing the set.
	DropZero bool
}

// Load reads a set from a folder (features.npy, samples x dim; labels.npy, from 0; optional
// meta.json and official_split.npy), a .npz file (X, samples x dim; y, from 0), a .mat file of
// version 5 or 7 (fea, in either orientation; gnd, from 1) or a .csv file (one sample per line, the
// label last: a number from 0 or 1, or a name; a header is optional).
//
// The error wraps fs.ErrNotExist if path does not exist, ErrData if the content is unusable (it
// then names file and place), or it is ctx's. Load reads regular files only, and needs no more
// memory than they can fill.
func Load(ctx context.Context, path string, opt Options) (*Set, error) {
	c, err := open(path, false)
	if err != nil {
		return nil, err
	}
	if err := c.checkLabels(); err != nil {
		return nil, err
	}
	return c.set(ctx, opt)
}

// content holds a set as it was read, unchecked.
type content struct {
	name, format string
	// features and labels, and their places for errors. After a read of headers alone features has
	// no data and labels may be nil.
	features                 *array
	featuresPath, labelsPath string
	labels                   []int
	dtype                    string
	meta                     meta
	official                 []int
}

// meta holds the keys of meta.json that are read. The loader compares all but Name and Source with
// the arrays.
type meta struct {
	Name    string            `json:"name"`
	Samples int               `json:"samples"`
	Dim     int               `json:"dim"`
	Classes []string          `json:"classes"`
	Files   []string          `json:"files"`  // one per sample
	SHA256  map[string]string `json:"sha256"` // of the .npy files
	Source  string            `json:"source"`
}

// formats lists the endings of single-file sets, in the order in which Find tries them.
var formats = []string{".npz", ".mat", ".csv", ".NPZ", ".MAT", ".CSV"}

// open reads the container at path. With headerOnly it reads no features, and labels only from a
// file of their own.
func open(path string, headerOnly bool) (*content, error) {
	info, err := untrusted.Stat(path)
	if err != nil {
		return nil, refused(err)
	}
	ext := filepath.Ext(path)
	if slices.Contains(formats, ext) { // Find would not find .Csv
		ext = strings.ToLower(ext)
	}
	c := &content{format: strings.TrimPrefix(ext, "."), featuresPath: path, labelsPath: path}
	abs, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	c.name = filepath.Base(abs)
	if !info.IsDir() {
		c.name = strings.TrimSuffix(c.name, filepath.Ext(path))
	}
	if len(c.name) > MaxName {
		return nil, Invalid(path, "the name has %d bytes, expected at most %d. Rename the data set.", len(c.name), MaxName)
	}
	if info.IsDir() {
		c.format = "npy"
		err = c.openFolder(path, headerOnly)
	} else {
		err = c.openSingle(path, ext, headerOnly)
	}
	if err != nil {
		return nil, err
	}
	if c.dtype == "" {
		c.dtype = c.features.dtype.String()
	}
	return c, nil
}

// openSingle reads a set that is one file.
func (c *content) openSingle(path, ext string, headerOnly bool) error {
	limit := int64(maxContainer)
	if ext == ".csv" {
		limit = maxCSV
	}
	f, size, err := openFile(path, limit)
	if err != nil {
		return err
	}
	defer f.Close()
	var arrays map[string]*array
	switch ext {
	case ".npz":
		if arrays, err = readNPZ(path, f, size, []string{"X", "y"}, headerOnly); err != nil {
			return err
		}
		c.features, c.featuresPath, c.labelsPath = arrays["X"], path+": X.npy", path+": y.npy"
		return c.setLabels(arrays["y"])
	case ".mat":
		if arrays, err = readMAT(path, f, size, []string{"fea", "gnd"}, headerOnly); err != nil {
			return err
		}
		return c.setMAT(path, arrays["fea"], arrays["gnd"])
	case ".csv":
		c.dtype = "text"
		c.features, c.labels, c.meta.Classes, err = readCSV(path, f)
		return err
	}
	return Invalid(path, "is not a data set. Give a folder with features.npy and labels.npy, or a .npz, .mat or .csv file.")
}

// setLabels decodes the labels if they were read.
func (c *content) setLabels(a *array) (err error) {
	if a.data == nil && a.rows*a.cols > 0 {
		return nil
	}
	c.labels, err = a.integers(c.labelsPath, "the label")
	return err
}

// setMAT finds the orientation of fea: there are as many samples as labels. If both dimensions fit,
// samples are rows.
func (c *content) setMAT(path string, fea, gnd *array) error {
	c.featuresPath, c.labelsPath = path+": fea", path+": gnd"
	c.features = fea
	if n := gnd.rows * gnd.cols; fea.rows != n && fea.cols == n {
		fea.rows, fea.cols, fea.columnMajor = fea.cols, fea.rows, !fea.columnMajor
	}
	if err := c.setLabels(gnd); err != nil || c.labels == nil {
		return err
	}
	for i, y := range c.labels {
		if y < 1 {
			return Invalid(c.labelsPath, "the label of sample %d is %d. gnd numbers the classes from 1.", i, y)
		}
	}
	c.labels, c.meta.Classes = fromOne(c.labels)
	return nil
}

func (c *content) openFolder(dir string, headerOnly bool) error {
	metaPath := filepath.Join(dir, "meta.json")
	b, err := ReadText(metaPath)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return err
	default:
		if err := json.Unmarshal(b, &c.meta); err != nil {
			return Invalid(metaPath, "%v. Correct it, or remove the file.", err)
		}
	}
	c.featuresPath, c.labelsPath = filepath.Join(dir, "features.npy"), filepath.Join(dir, "labels.npy")
	if c.features, err = c.openNPY(c.featuresPath, headerOnly); err != nil {
		return err
	}
	labels, err := c.openNPY(c.labelsPath, headerOnly)
	if err != nil {
		return err
	}
	if err := c.setLabels(labels); err != nil {
		return err
	}
	officialPath := filepath.Join(dir, "official_split.npy")
	official, err := c.openNPY(officialPath, headerOnly)
	if errors.Is(err, fs.ErrNotExist) || err == nil && headerOnly {
		return c.checkMeta(metaPath)
	}
	if err != nil {
		return err
	}
	if c.official, err = official.integers(officialPath, "the part"); err != nil {
		return err
	}
	if len(c.official) != c.features.rows {
		return Invalid(officialPath, "has %d entries for %d samples. Write one per sample.", len(c.official), c.features.rows)
	}
	for i, o := range c.official {
		if o != OfficialTrain && o != OfficialTest {
			return Invalid(officialPath, "the part of sample %d is %d, expected %d (training) or %d (test)", i, o, OfficialTrain, OfficialTest)
		}
	}
	return c.checkMeta(metaPath)
}

// openNPY reads one .npy file of a folder and compares its SHA-256 with meta.json.
func (c *content) openNPY(path string, headerOnly bool) (*array, error) {
	f, size, err := openFile(path, maxContainer)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	want := c.meta.SHA256[filepath.Base(path)]
	if want == "" || headerOnly {
		return readNPY(path, f, size, 0, headerOnly)
	}
	sum := sha256.New()
	a, err := readNPY(path, io.TeeReader(f, sum), size, 0, false)
	if err != nil {
		return nil, err
	}
	if have := hex.EncodeToString(sum.Sum(nil)); !strings.EqualFold(have, want) {
		return nil, Invalid(path, "has a SHA-256 that begins with %.12s, meta.json says %.12s. Get the file again, or correct meta.json.", have, want)
	}
	return a, nil
}

// checkMeta compares meta.json (at path) with the features.
func (c *content) checkMeta(path string) error {
	n, dim := c.features.rows, c.features.cols
	switch m := c.meta; {
	case m.Samples != 0 && m.Samples != n:
		return Invalid(path, "says %d samples, features.npy has %d. Correct the one that is wrong.", m.Samples, n)
	case m.Dim != 0 && m.Dim != dim:
		return Invalid(path, "says %d features, features.npy has %d. Correct the one that is wrong.", m.Dim, dim)
	case m.Files != nil && len(m.Files) != n:
		return Invalid(path, "names %d files for %d samples. Name one per sample, or none.", len(m.Files), n)
	}
	for i, name := range c.meta.Files {
		if len(name) > MaxPath {
			return Invalid(path, "the file name of sample %d has %d bytes, expected at most %d. Shorten it.", i, len(name), MaxPath)
		}
	}
	if err := checkName(path, "name", c.meta.Name, MaxName); err != nil {
		return err
	}
	return checkName(path, "source", c.meta.Source, maxSource)
}

// checkLabels checks sizes, class names and labels before the features are read. Classes without
// names get their numbers.
func (c *content) checkLabels() error {
	n, dim := c.features.rows, c.features.cols
	switch {
	case n == 0:
		return Invalid(c.featuresPath, "has no samples")
	case dim == 0:
		return Invalid(c.featuresPath, "has no features")
	case len(c.labels) != n:
		return Invalid(c.labelsPath, "%d labels for %d samples. Write one label per sample.", len(c.labels), n)
	}
	for y, name := range c.meta.Classes {
		if err := checkName(c.labelsPath, fmt.Sprintf("the name of class %d", y), name, MaxName); err != nil {
			return err
		}
	}
	classes := len(c.meta.Classes)
	first := map[int]int{} // class -> its first sample
	for i, y := range c.labels {
		if y < 0 {
			return Invalid(c.labelsPath, "the label of %s is %d, expected 0 or more", c.sample(i), y)
		}
		if c.meta.Classes != nil && y >= classes {
			return Invalid(c.labelsPath, "the label of %s is %d, but there are %d classes (labels from 0)", c.sample(i), y, classes)
		}
		if _, ok := first[y]; !ok {
			first[y] = i
		}
	}
	if len(first) == 1 {
		return Invalid(c.labelsPath, "all %d samples are of one class. At least two classes are needed.", n)
	}
	for y := range max(classes, len(first)) {
		if _, ok := first[y]; ok {
			continue
		}
		if c.meta.Classes != nil {
			return Invalid(c.labelsPath, "class %d (%s) has no samples. Number the classes without gaps.", y, c.meta.Classes[y])
		}
		return Invalid(c.labelsPath, "no sample has label %d, but some have higher ones. Number the classes 0, 1, 2, ... without gaps.", y)
	}
	if c.meta.Classes == nil {
		for y := range len(first) {
			c.meta.Classes = append(c.meta.Classes, strconv.Itoa(y))
		}
	}
	return nil
}

// sample is how errors call sample i.
func (c *content) sample(i int) string {
	if i < len(c.meta.Files) {
		return fmt.Sprintf("sample %d (%s)", i, c.meta.Files[i])
	}
	return fmt.Sprintf("sample %d", i)
}
