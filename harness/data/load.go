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
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// Options changes how a set is loaded.
type Options struct {
	// DropZero leaves out samples whose features are all zero instead of refusing the set.
	DropZero bool
}

// Load reads a set from a folder (features.npy, samples x dim; labels.npy, from 0;
// optional meta.json and official_split.npy), a .npz file (X, samples x dim; y, from 0), a
// .mat file of version 5 or 7 (fea, either way round; gnd, from 1) or a .csv file (one
// sample per line, the label last: a number from 0 or 1, or a name; a header is optional).
// It returns an error that wraps fs.ErrNotExist if nothing is there, one that wraps ErrData
// and names file and place if the content is unusable, or ctx's error.
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

// content is what a container holds, before any of it is computed with.
type content struct {
	name, format string
	// features and labels, and where they are for errors. In a content opened for its
	// headers features has no data and labels may be nil.
	features                 *array
	featuresPath, labelsPath string
	labels                   []int
	dtype                    string
	meta                     meta
	official                 []int
}

// meta is what meta.json may say of a set; other keys are free. What it says is verified.
type meta struct {
	Samples int               `json:"samples"`
	Dim     int               `json:"dim"`
	Classes []string          `json:"classes"`
	Files   []string          `json:"files"`  // one per sample
	SHA256  map[string]string `json:"sha256"` // of the .npy files
	Source  string            `json:"source"`
}

// The endings of single-file sets, in the order in which they are looked for.
var formats = []string{".npz", ".mat", ".csv"}

// open reads the container at path. With headerOnly features have no values and labels are
// read only where they are small and apart.
func open(path string, headerOnly bool) (*content, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	ext := strings.ToLower(filepath.Ext(path))
	c := &content{format: strings.TrimPrefix(ext, "."), featuresPath: path, labelsPath: path}
	abs, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	c.name = filepath.Base(abs)
	if info.IsDir() {
		c.format = "npy"
		err = c.openFolder(path, headerOnly)
	} else {
		c.name = strings.TrimSuffix(c.name, filepath.Ext(path))
		err = c.openFile(path, ext, headerOnly)
	}
	if err != nil {
		return nil, err
	}
	if c.dtype == "" {
		c.dtype = c.features.dtype.String()
	}
	return c, nil
}

func (c *content) openFile(path, ext string, headerOnly bool) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	var arrays map[string]*array
	switch ext {
	case ".npz":
		if arrays, err = readNPZ(path, f, info.Size(), []string{"X", "y"}, headerOnly); err != nil {
			return err
		}
		c.features, c.featuresPath, c.labelsPath = arrays["X"], path+": X.npy", path+": y.npy"
		return c.takeLabels(arrays["y"])
	case ".mat":
		if arrays, err = readMAT(path, f, info.Size(), []string{"fea", "gnd"}, headerOnly); err != nil {
			return err
		}
		return c.takeMAT(path, arrays["fea"], arrays["gnd"])
	case ".csv":
		if info.Size() > maxCSV {
			return bad(path, "has %d bytes, a .csv may have at most %d; convert it to .npy", info.Size(), int64(maxCSV))
		}
		c.dtype = "text"
		c.features, c.labels, c.meta.Classes, err = readCSV(path, f)
		return err
	}
	return bad(path, "no known kind of data set; expected a folder with features.npy and labels.npy, or a .npz, .mat or .csv file")
}

// takeLabels sets the labels from an array that has values, and checks their number.
func (c *content) takeLabels(a *array) (err error) {
	if a.data == nil && a.rows*a.cols > 0 {
		return nil
	}
	c.labels, err = a.integers(c.labelsPath, "the label")
	return err
}

// takeMAT finds out which way round fea is: samples are as many as labels, and are rows if
// both dimensions fit.
func (c *content) takeMAT(path string, fea, gnd *array) error {
	c.featuresPath, c.labelsPath = path+": fea", path+": gnd"
	c.features = fea
	if n := gnd.rows * gnd.cols; fea.rows != n && fea.cols == n {
		fea.rows, fea.cols, fea.columns = fea.cols, fea.rows, !fea.columns
	}
	if err := c.takeLabels(gnd); err != nil || c.labels == nil {
		return err
	}
	for i, y := range c.labels {
		if y < 1 {
			return bad(c.labelsPath, "the label of sample %d is %d; gnd counts classes from 1", i, y)
		}
	}
	c.labels, c.meta.Classes = fromOne(c.labels)
	return nil
}

func (c *content) openFolder(dir string, headerOnly bool) error {
	metaPath := filepath.Join(dir, "meta.json")
	b, err := readText(metaPath)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return err
	default:
		if err := json.Unmarshal(b, &c.meta); err != nil {
			return bad(metaPath, "%v", err)
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
	if err := c.takeLabels(labels); err != nil {
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
		return bad(officialPath, "has %d entries for %d samples", len(c.official), c.features.rows)
	}
	for i, o := range c.official {
		if o != officialTrain && o != officialTest {
			return bad(officialPath, "the part of sample %d is %d, expected %d (training) or %d (test)", i, o, officialTrain, officialTest)
		}
	}
	return c.checkMeta(metaPath)
}

// openNPY reads one .npy file of a folder and verifies the SHA-256 that meta.json gives.
func (c *content) openNPY(path string, headerOnly bool) (*array, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	want := c.meta.SHA256[filepath.Base(path)]
	if want == "" || headerOnly {
		return readNPY(path, f, info.Size(), headerOnly)
	}
	sum := sha256.New()
	a, err := readNPY(path, io.TeeReader(f, sum), info.Size(), false)
	if err != nil {
		return nil, err
	}
	if have := hex.EncodeToString(sum.Sum(nil)); !strings.EqualFold(have, want) {
		return nil, bad(path, "has SHA-256 %.12s..., meta.json says %.12s...; fetch the file again, or correct meta.json", have, want)
	}
	return a, nil
}

func (c *content) checkMeta(path string) error {
	n, dim := c.features.rows, c.features.cols
	switch m := c.meta; {
	case m.Samples != 0 && m.Samples != n:
		return bad(path, "says %d samples, features.npy has %d", m.Samples, n)
	case m.Dim != 0 && m.Dim != dim:
		return bad(path, "says %d features, features.npy has %d", m.Dim, dim)
	case m.Files != nil && len(m.Files) != n:
		return bad(path, "names %d files for %d samples", len(m.Files), n)
	case !isPlain(m.Source):
		return bad(path, "source has control characters: %.60q", m.Source)
	}
	return nil
}

// checkLabels checks everything that can be checked before the features are looked at, and
// names the classes by number if nothing else does.
func (c *content) checkLabels() error {
	n, dim := c.features.rows, c.features.cols
	switch {
	case n == 0:
		return bad(c.featuresPath, "has no samples")
	case dim == 0:
		return bad(c.featuresPath, "has no features")
	case len(c.labels) != n:
		return bad(c.labelsPath, "%d labels for %d samples", len(c.labels), n)
	}
	for y, name := range c.meta.Classes {
		if !isPlain(name) {
			return bad(c.labelsPath, "the name of class %d has control characters: %.60q", y, name)
		}
	}
	classes := len(c.meta.Classes)
	first := map[int]int{} // class -> its first sample
	for i, y := range c.labels {
		if y < 0 {
			return bad(c.labelsPath, "the label of %s is %d, expected 0 or more", c.sample(i), y)
		}
		if c.meta.Classes != nil && y >= classes {
			return bad(c.labelsPath, "the label of %s is %d, but there are %d classes (labels from 0)", c.sample(i), y, classes)
		}
		if _, ok := first[y]; !ok {
			first[y] = i
		}
	}
	if len(first) == 1 {
		return bad(c.labelsPath, "all %d samples are of one class; at least two are needed", n)
	}
	for y := range max(classes, len(first)) {
		if _, ok := first[y]; ok {
			continue
		}
		if c.meta.Classes != nil {
			return bad(c.labelsPath, "class %d (%s) has no samples; number the classes without gaps", y, c.meta.Classes[y])
		}
		return bad(c.labelsPath, "no sample has label %d, but there are higher ones; number the classes 0, 1, 2, ... without gaps", y)
	}
	if c.meta.Classes == nil {
		for y := range len(first) {
			c.meta.Classes = append(c.meta.Classes, strconv.Itoa(y))
		}
	}
	return nil
}

// sample names sample i in an error.
func (c *content) sample(i int) string {
	if i < len(c.meta.Files) {
		return fmt.Sprintf("sample %d (%s)", i, c.meta.Files[i])
	}
	return fmt.Sprintf("sample %d", i)
}
