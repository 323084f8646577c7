package features

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"runtime"

	ort "github.com/yalue/onnxruntime_go"

	"ssdl/harness/data/untrusted"
)

// LibraryVar is the environment variable with the path of ONNX Runtime's library.
const LibraryVar = "SSDL_ORT_LIB"

// howToGet ends every message about a missing library.
const howToGet = "get it with `make ort`, or from https://github.com/microsoft/onnxruntime/releases (1.24 or later), and give its path with --ort or $" + LibraryVar

// libraryName is the file name of ONNX Runtime's library on this system.
func libraryName() string {
	switch runtime.GOOS {
	case "windows":
		return "onnxruntime.dll"
	case "darwin":
		return "libonnxruntime.dylib"
	}
	return "libonnxruntime.so"
}

// FindLibrary returns the path of ONNX Runtime's library and where it was found: path if it is not
// empty, else $SSDL_ORT_LIB, else the folder of the program. The error says how to get the library.
func FindLibrary(path string) (library, where string, err error) {
	switch env := os.Getenv(LibraryVar); {
	case path != "":
		where = "--ort"
	case env != "":
		path, where = env, "$"+LibraryVar
	default:
		where = "beside the program"
		exe, err := os.Executable()
		if err != nil {
			return "", "", err
		}
		path = filepath.Join(filepath.Dir(exe), libraryName())
	}
	info, err := os.Stat(path)
	if err != nil {
		return "", "", fmt.Errorf("ONNX Runtime (%s): %w; %s", where, err, howToGet)
	}
	if reason := untrusted.Check(info, math.MaxInt64); reason != "" {
		return "", "", fmt.Errorf("ONNX Runtime (%s): %s %s, such as %s", where, path, reason, libraryName())
	}
	return path, where, nil
}

// Runtime is the loaded library of ONNX Runtime. A process can load one at a time.
type Runtime struct {
	Version string
}

// OpenRuntime loads the library at path.
func OpenRuntime(path string) (*Runtime, error) {
	// For a name without a folder the system searches its own folders.
	abs, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	ort.SetSharedLibraryPath(abs)
	if err := ort.InitializeEnvironment(ort.WithLogLevelError()); err != nil {
		return nil, fmt.Errorf("ONNX Runtime: %s cannot be loaded: %w; %s", path, err, howToGet)
	}
	return &Runtime{ort.GetVersion()}, nil
}

// Close unloads the library. Close all Nets first.
func (*Runtime) Close() error { return ort.DestroyEnvironment() }

// Model identifies the network.
type Model struct {
	File   string `json:"file"`
	SHA256 string `json:"sha256"` // of the ONNX file, decompressed
	Input  string `json:"input"`
	Output string `json:"output"`
	// Batch is the number of images per run; the last batch is padded.
	Batch int `json:"batch"`
	Dim   int `json:"dim"` // values per image
}

// MaxBatch bounds the batch size: 600 MB of input.
const MaxBatch = 1024

// Net is a loaded network.
type Net struct {
	Model   Model
	Runtime string    // version
	in      []float32 // Batch x 3 x side x side
	out     []float32 // Batch x Dim
	run     func() error
	close   func()
}

// Close frees the network.
func (n *Net) Close() { n.close() }

// Bounds on an ONNX file, in bytes. Protocol buffers end at 2 GiB. A gzipped file may unpack to
// freeModel bytes, or to maxModelRatio times its size: weights compress by less.
const (
	maxModel      = 2<<30 - 1
	freeModel     = 64 << 20
	maxModelRatio = 100
)

// Open loads a network from an ONNX file, plain or gzipped. Its input is one float32 tensor batch x
// 3 x side x side, its output one tensor batch x dim (or batch x dim x 1 x 1). batch applies if the
// network leaves it open. threads is the number of threads that compute.
func (r *Runtime) Open(path string, side, batch, threads int) (*Net, error) {
	onnx, err := readModel(path)
	if err != nil {
		return nil, err
	}
	unusable := func(format string, args ...any) error {
		return refuse("%s: %s. Give a network from batch x 3 x %d x %d to batch x features, as scripts/export_resnet50.py writes it.", path, fmt.Sprintf(format, args...), side, side)
	}
	inputs, outputs, err := ort.GetInputOutputInfoWithONNXData(onnx)
	if err != nil {
		return nil, unusable("is not a usable ONNX file (%v)", err)
	}
	if len(inputs) != 1 || len(outputs) != 1 {
		return nil, unusable("has %d inputs and %d outputs", len(inputs), len(outputs))
	}
	in, out := inputs[0], outputs[0]
	for _, t := range []ort.InputOutputInfo{in, out} {
		if t.OrtValueType != ort.ONNXTypeTensor || t.DataType != ort.TensorElementDataTypeFloat {
			return nil, unusable("%q is not a float32 tensor", t.Name)
		}
	}
	if d := in.Dimensions; len(d) != 4 || d[1] != 3 || d[2] != int64(side) && d[2] > 0 || d[3] != int64(side) && d[3] > 0 {
		return nil, unusable("the input %q has shape %v", in.Name, d)
	}
	if b := in.Dimensions[0]; b > 0 {
		if b > MaxBatch {
			return nil, unusable("the input %q has shape %v, expected a batch of at most %d", in.Name, in.Dimensions, MaxBatch)
		}
		batch = int(b)
	}
	outShape := out.Dimensions.Clone()
	if len(outShape) < 2 || outShape[0] > 0 && outShape[0] != int64(batch) {
		return nil, unusable("the output %q has shape %v", out.Name, out.Dimensions)
	}
	outShape[0] = int64(batch)
	for i, d := range outShape[1:] {
		if d <= 0 || d > 1<<20 || i > 0 && d != 1 {
			return nil, unusable("the output %q has shape %v", out.Name, out.Dimensions)
		}
	}
	model := Model{filepath.Base(path), digest(onnx), in.Name, out.Name, batch, int(outShape[1])}
	n, err := newNet(model, onnx, ort.NewShape(int64(batch), 3, int64(side), int64(side)), outShape, threads)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	n.Runtime = r.Version
	return n, nil
}

func newNet(m Model, onnx []byte, inShape, outShape ort.Shape, threads int) (_ *Net, err error) {
	var cleanups []func() error
	closeAll := func() {
		for i := range cleanups {
			cleanups[len(cleanups)-1-i]()
		}
	}
	defer func() {
		if err != nil {
			closeAll()
		}
	}()
	options, err := ort.NewSessionOptions()
	if err != nil {
		return nil, err
	}
	defer options.Destroy()
	if err := options.SetIntraOpNumThreads(threads); err != nil {
		return nil, err
	}
	// Spinning threads slow down the decoders.
	if err := options.AddSessionConfigEntry("session.intra_op.allow_spinning", "0"); err != nil {
		return nil, err
	}
	in, err := ort.NewEmptyTensor[float32](inShape)
	if err != nil {
		return nil, err
	}
	cleanups = append(cleanups, in.Destroy)
	out, err := ort.NewEmptyTensor[float32](outShape)
	if err != nil {
		return nil, err
	}
	cleanups = append(cleanups, out.Destroy)
	session, err := ort.NewAdvancedSessionWithONNXData(onnx, []string{m.Input}, []string{m.Output}, []ort.Value{in}, []ort.Value{out}, options)
	if err != nil {
		return nil, err
	}
	cleanups = append(cleanups, session.Destroy)
	return &Net{Model: m, in: in.GetData(), out: out.GetData(), run: session.Run, close: closeAll}, nil
}

// readModel reads an ONNX file and unpacks it if it is gzipped.
func readModel(path string) ([]byte, error) {
	f, size, err := untrusted.Open(path, maxModel)
	if err != nil {
		return nil, fmt.Errorf("model: %w", err)
	}
	defer f.Close()
	head := make([]byte, 2)
	if _, err := io.ReadFull(f, head); err != nil {
		return nil, refuse("model: %s is empty or cannot be read (%v). Give an ONNX file.", path, err)
	}
	r, limit := io.MultiReader(bytes.NewReader(head), f), int64(maxModel)
	if string(head) == "\x1f\x8b" {
		z, err := gzip.NewReader(r)
		if err != nil {
			return nil, fmt.Errorf("model: %s: %w", path, err)
		}
		r, limit = z, min(maxModel, max(freeModel, maxModelRatio*size))
	}
	b, err := io.ReadAll(io.LimitReader(r, limit+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("model: %s: %w", path, err)
	case int64(len(b)) > limit:
		return nil, refuse("model: %s has more than %d bytes, decompressed from %d. Decompress it first if it is sound.", path, limit, size)
	case bytes.HasPrefix(b, []byte("version https://git-lfs")):
		return nil, refuse("model: %s is a Git LFS pointer. Get the file itself.", path)
	}
	return b, nil
}
