package command

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/mat"

	"ssdl/harness/data"
	"ssdl/harness/data/untrusted"
)

// output is the checked output of a program.
type output struct {
	predictions []int      // of the test samples; nil if targets were wanted
	scores      *mat.Dense // classes x M; nil if there are none
	targets     *mat.Dense // classes x N; nil unless they were wanted
	trace       []point
}

// point is a traced value.
type point struct {
	name      string
	iteration int
	value     float64
}

// readOutput reads the files that a program added to its folder; written are those of the task. It repairs
// nothing: the error names the faulty file and says what it should be.
func readOutput(dir string, t task, written map[string]bool) (out output, err error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return out, err
	}
	defer root.Close()
	may := []string{traceFile}
	if t.wants == wantsTargets {
		may = append(may, targetsFile)
	} else {
		may = append(may, predictionsFile, scoresFile)
	}
	if err := checkNames(root, may, written); err != nil {
		return out, err
	}
	_, n := t.X.Dims()
	if t.wants == wantsTargets {
		if out.targets, err = readMatrix(root, targetsFile, n, t.classes, "training sample"); err != nil {
			return out, err
		}
	} else {
		_, m := t.test.Dims()
		if out.predictions, err = readPredictions(root, m, t.classes); err != nil {
			return out, err
		}
		if out.scores, err = readMatrix(root, scoresFile, m, t.classes, "test sample"); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return out, err
		}
	}
	if out.trace, err = readTrace(root); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return out, err
	}
	return out, nil
}

// checkNames refuses extra files: mostly a misspelt name, or a leftover.
func checkNames(root *os.Root, may []string, written map[string]bool) error {
	return fs.WalkDir(root.FS(), ".", func(path string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case path == tempFolder && e.IsDir():
			return fs.SkipDir
		case path == tempFolder:
			return fmt.Errorf("%s is no folder, expected the folder for temporary files", path)
		case e.IsDir() || written[path] || slices.Contains(may, path):
			return nil
		}
		return fmt.Errorf("%s is an extra file. Expected are %s; anything else belongs into %s", path, strings.Join(may, ", "), tempFolder)
	})
}

// absentError says that a file is missing; it is an fs.ErrNotExist.
type absentError struct{ name, want string }

func (e *absentError) Error() string {
	return fmt.Sprintf("%s is missing, expected %s", e.name, e.want)
}
func (*absentError) Is(target error) bool { return target == fs.ErrNotExist }

// open opens an output. want says what it should be.
func open(root *os.Root, name, want string) (*os.File, int64, error) {
	info, err := root.Lstat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, 0, &absentError{name, want}
	}
	if err != nil {
		return nil, 0, err
	}
	if !info.Mode().IsRegular() {
		return nil, 0, fmt.Errorf("%s is no regular file, expected %s", name, want)
	}
	f, err := root.Open(name)
	return f, info.Size(), err
}

// readNPY reads an array of rows x cols values of a type.
func readNPY(root *os.Root, name string, rows, cols int, kind, want string) (a data.NPY, err error) {
	f, size, err := open(root, name, want)
	if err != nil {
		return a, err
	}
	defer f.Close()
	return readArray(name, f, size, rows, cols, kind, want)
}

// readArray reads an array of rows x cols values of a type. An array of another shape takes no memory.
func readArray(name string, r io.Reader, size int64, rows, cols int, kind, want string) (data.NPY, error) {
	a, err := data.ReadNPYHeader(name, r, size)
	if err != nil {
		return a, err
	}
	if a.Rows != rows || a.Cols != cols || a.Type != kind {
		return a, fmt.Errorf("%s is %d x %d of %s, expected %s", name, a.Rows, a.Cols, a.Type, want)
	}
	return a, a.ReadValues(r)
}

// predictionsText describes the predictions of m test samples.
func predictionsText(m int) string {
	return fmt.Sprintf("%d classes as int64, one for each test sample", m)
}

func readPredictions(root *os.Root, m, classes int) ([]int, error) {
	a, err := readNPY(root, predictionsFile, m, 1, "int64", predictionsText(m))
	if err != nil {
		return nil, err
	}
	return classesOf(predictionsFile, a, classes)
}

// classesOf reads the values of a vector as classes.
func classesOf(name string, a data.NPY, classes int) ([]int, error) {
	out := make([]int, a.Rows)
	value := []float64{0}
	for i := range out {
		a.Row(i, value)
		if value[0] < 0 || value[0] >= float64(classes) {
			return nil, fmt.Errorf("%s: the class of sample %d is %v, expected 0..%d", name, i, value[0], classes-1)
		}
		out[i] = int(value[0])
	}
	return out, nil
}

// readGiven reads the predictions of Given, of m test samples.
func readGiven(path string, m, classes int) ([]int, error) {
	f, size, err := untrusted.Open(path, maxFile)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	a, err := readArray(path, f, size, m, 1, "int64", predictionsText(m)+" of its index file, in its order")
	if err != nil {
		return nil, err
	}
	return classesOf(path, a, classes)
}

// readMatrix reads a matrix of samples x classes, and returns classes x samples. of names the samples in errors.
func readMatrix(root *os.Root, name string, samples, classes int, of string) (*mat.Dense, error) {
	a, err := readNPY(root, name, samples, classes, "float64", fmt.Sprintf("%d x %d of float64, a row for each %s and a column for each class", samples, classes, of))
	if err != nil {
		return nil, err
	}
	out, row := mat.NewDense(classes, samples, nil), make([]float64, classes)
	for j := range samples {
		a.Row(j, row)
		for c, v := range row {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				return nil, fmt.Errorf("%s: the value of %s %d, class %d is %v, expected a finite number", name, of, j, c, v)
			}
		}
		out.SetCol(j, row)
	}
	return out, nil
}

// maxTrace bounds the points of a trace, and maxTraceFile its file in bytes: a line has less than 100 bytes.
const (
	maxTrace     = 100_000
	maxTraceFile = 16 << 20
)

// isTraced reports whether a word can name a traced value.
var isTraced = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_.-]{0,63}$`).MatchString

func readTrace(root *os.Root) ([]point, error) {
	const header = "name,iteration,value"
	f, size, err := open(root, traceFile, "the header "+header)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if size > maxTraceFile {
		return nil, fmt.Errorf("%s has %d bytes, expected at most %d. Trace fewer values", traceFile, size, maxTraceFile)
	}
	r := csv.NewReader(f)
	r.FieldsPerRecord = 3
	head, err := r.Read()
	if err != nil || strings.Join(head, ",") != header {
		return nil, fmt.Errorf("%s does not begin with the header %s", traceFile, header)
	}
	var out []point
	seen := map[point]bool{}
	for {
		rec, err := r.Read()
		if errors.Is(err, io.EOF) {
			return out, nil
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w, expected %s", traceFile, err, header)
		}
		line, _ := r.FieldPos(0)
		bad := func(what, want string) error {
			return fmt.Errorf("%s:%d: %s, expected %s", traceFile, line, what, want)
		}
		if !isTraced(rec[0]) {
			return nil, bad(fmt.Sprintf("the name is %.80q", rec[0]), "up to 64 letters, digits and . _ -, a letter first")
		}
		it, err := strconv.ParseInt(rec[1], 10, 32)
		if err != nil || it < 0 {
			return nil, bad(fmt.Sprintf("the iteration is %.80q", rec[1]), "a whole number from 0")
		}
		v, err := strconv.ParseFloat(rec[2], 64)
		if err != nil || math.IsNaN(v) || math.IsInf(v, 0) {
			return nil, bad(fmt.Sprintf("the value is %.80q", rec[2]), "a finite number")
		}
		at := point{rec[0], int(it), 0}
		if seen[at] {
			return nil, bad(fmt.Sprintf("%s has iteration %d twice", rec[0], it), "it once")
		}
		seen[at] = true
		if out = append(out, point{rec[0], int(it), v}); len(out) > maxTrace {
			return nil, bad("the trace goes on", fmt.Sprintf("at most %d values", maxTrace))
		}
	}
}
