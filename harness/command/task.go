package command

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"gonum.org/v1/gonum/mat"

	"ssdl/harness/data"
	"ssdl/harness/data/untrusted"
	"ssdl/harness/job"
)

// What a task can want.
const (
	wantsPredictions = "predictions"
	wantsTargets     = "targets"
)

// The files of a folder.
const (
	taskFile        = "task.json"
	trainFile       = "X_train.npy"
	labelsFile      = "labels.npy"
	testFile        = "X_test.npy"
	predictionsFile = "predictions.npy"
	scoresFile      = "scores.npy"
	targetsFile     = "targets.npy"
	traceFile       = "trace.csv"
	tempFolder      = "tmp"
)

// threads is how many threads a program may use. It is one, since several runs are in flight and sums depend
// on the number of threads.
const threads = 1

// task is the input of a program. It never has the labels of test samples, or hidden labels.
type task struct {
	wants   string
	X       *mat.Dense // dim x N training samples
	labels  []int      // of X; -1 where hidden
	classes int
	test    *mat.Dense // dim x M samples to predict; nil if targets are wanted
	seed    uint64
	params  map[string]any
}

// description is task.json.
type description struct {
	Protocol string         `json:"protocol"`
	Wants    string         `json:"wants"`
	Classes  int            `json:"classes"`
	Seed     uint64         `json:"seed"`
	Threads  int            `json:"threads"`
	Params   map[string]any `json:"params"`
}

// write writes the task and the files of a command into the empty folder dir. It returns their paths and their
// total size in bytes.
func (t task) write(dir string, c job.Command) (written map[string]bool, bytes int64, err error) {
	written = map[string]bool{}
	put := func(name string, content func(io.Writer) error) {
		if err != nil {
			return
		}
		written[name] = true
		var n int64
		n, err = writeFile(filepath.Join(dir, name), content)
		bytes += n
	}
	put(taskFile, func(w io.Writer) error {
		enc := json.NewEncoder(w)
		enc.SetIndent("", " ")
		return enc.Encode(description{Protocol, t.wants, t.classes, t.seed, threads, t.params})
	})
	put(trainFile, func(w io.Writer) error { return data.WriteColumns(w, t.X) })
	put(labelsFile, func(w io.Writer) error { return data.WriteIntegers(w, t.labels) })
	if t.test != nil {
		put(testFile, func(w io.Writer) error { return data.WriteColumns(w, t.test) })
	}
	if err != nil {
		return nil, 0, err
	}
	if err := os.Mkdir(filepath.Join(dir, tempFolder), 0o700); err != nil {
		return nil, 0, err
	}
	for _, f := range c.Files {
		if !filepath.IsLocal(f.Path) || filepath.ToSlash(filepath.Clean(f.Path)) != f.Path {
			return nil, 0, fmt.Errorf("%s: a file of a program must have a plain path below the folder that ssdl is called in, e.g. scripts/my.py", f.Path)
		}
		if reserved(f.Path) || written[f.Path] {
			return nil, 0, fmt.Errorf("%s: a file of a program cannot have a name of the protocol. Rename it", f.Path)
		}
		n, err := copyFile(filepath.Join(dir, filepath.FromSlash(f.Path)), f)
		if err != nil {
			return nil, 0, err
		}
		written[f.Path] = true
		bytes += n
	}
	return written, bytes, nil
}

// reserved reports whether the protocol uses a path.
func reserved(path string) bool {
	switch path {
	case taskFile, trainFile, labelsFile, testFile, predictionsFile, scoresFile, targetsFile, traceFile, tempFolder:
		return true
	}
	return false
}

// writeFile writes a new file and returns its length.
func writeFile(path string, content func(io.Writer) error) (int64, error) {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	w := bufio.NewWriterSize(f, 1<<20)
	if err := content(w); err != nil {
		return 0, err
	}
	if err := w.Flush(); err != nil {
		return 0, err
	}
	info, err := f.Stat()
	if err != nil {
		return 0, err
	}
	return info.Size(), f.Close()
}

// copyFile copies a file of a program. It refuses a file whose hash is not that of the job.
func copyFile(to string, f job.File) (int64, error) {
	in, size, err := untrusted.Open(f.Path, maxFile)
	if err != nil {
		return 0, err
	}
	defer in.Close()
	info, err := in.Stat()
	if err != nil {
		return 0, err
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
		return 0, err
	}
	if _, err := writeFile(to, func(w io.Writer) error {
		_, err := io.Copy(w, in)
		return err
	}); err != nil {
		return 0, err
	}
	if sum, err := HashFile(to); err != nil || sum != f.SHA256 {
		return 0, fmt.Errorf("%s changed since the jobs were planned; start again", f.Path)
	}
	return size, os.Chmod(to, info.Mode().Perm()|0o600)
}
