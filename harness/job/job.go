// Package job defines a job, one method on one split of one data set under one seed, and its key, by
// which its runs are found. It computes nothing and reads no file.
package job

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// Protocol is the version of the harness's protocol. Raise it when the harness gives another result for the
// same job, for example by other splits, another order of samples or other scores. All jobs then get new keys.
const Protocol = 2

// What a job is scored on.
const (
	// EvalTest is the test part of the split.
	EvalTest = "test"
	// EvalVal is the part of the labelled training samples that is held out for tuning.
	EvalVal = "val"
)

// How pseudo labels reach unseen samples if they are scored themselves.
const (
	ScoreOOS          = "oos"
	ScoreTransductive = "transductive"
)

// Job is one computation. Two jobs with equal fields have equal results. It names the data and the split
// by the hashes of their content, not by their names or by how the split was made. It has no metric, since a run
// records all of them.
type Job struct {
	DatasetHash string `json:"dataset"`
	SplitHash   string `json:"split"`
	// Method has no name if the pseudo labels themselves are scored; Pretext has none if the method learns
	// from the true labels.
	Method  Part   `json:"method,omitzero"`
	Pretext Part   `json:"pretext,omitzero"`
	Seed    uint64 `json:"seed"`
	// Eval is EvalTest or EvalVal.
	Eval string `json:"eval"`
	// Score is ScoreOOS or ScoreTransductive if there is no method, else empty.
	Score string `json:"score,omitempty"`
	// Protocol is the version of the harness's protocol.
	Protocol int `json:"metric_version"`
}

// Part is a method or a pretext with complete parameters.
type Part struct {
	// Name is a name of the catalog, ExecName or PredictionsName.
	Name    string `json:"name"`
	Version int    `json:"version"`
	// Params are float64, int, bool or string by name.
	Params map[string]any `json:"params"`
	// Command is the program of an ExecName part, else nil.
	Command *Command `json:"command,omitempty"`
	// Predictions is the file of a PredictionsName part, else nil.
	Predictions *File `json:"predictions,omitempty"`
}

// Names of external parts, which are not in the catalog.
const (
	ExecName        = "exec"        // an external program
	PredictionsName = "predictions" // a file of predictions
)

// Command identifies an external program: if it changes, so does the job.
type Command struct {
	// Args are the program and its arguments.
	Args []string `json:"args"`
	// Files are the files of the program, sorted by path.
	Files []File `json:"files,omitempty"`
	// Interpreter is the output of the program for --version; empty if the program is one of Files.
	Interpreter string `json:"interpreter,omitempty"`
}

// File is a file and the SHA-256 of its content, in lower-case hexadecimal.
type File struct {
	Path   string `json:"path"`
	SHA256 string `json:"sha256"`
}

// IsZero reports whether there is no such part.
func (p Part) IsZero() bool { return p.Name == "" }

// From lists the files of an external part.
func (p Part) From() []File {
	switch {
	case p.Command != nil:
		return p.Command.Files
	case p.Predictions != nil:
		return []File{*p.Predictions}
	}
	return nil
}

// FromCatalog reports whether the part is a method or a pretext of the catalog.
func (p Part) FromCatalog() bool { return p.Name != "" && p.Command == nil && p.Predictions == nil }

// String names the part in messages: "exec [python3 my.py]".
func (p Part) String() string {
	switch {
	case p.Command != nil:
		return fmt.Sprintf("%s %v", p.Name, p.Command.Args)
	case p.Predictions != nil:
		return p.Name + " " + p.Predictions.Path
	}
	return p.Name
}

// contents lists the files of the part, after its interpreter as if that were a file.
func (p Part) contents() []File {
	if p.Command != nil {
		return append([]File{{"interpreter", p.Command.Interpreter}}, p.From()...)
	}
	return p.From()
}

// WithoutContent is the part without the hashes of its files and without its interpreter.
func (p Part) WithoutContent() Part {
	if p.Command != nil {
		c := Command{Args: p.Command.Args}
		for _, f := range p.Command.Files {
			c.Files = append(c.Files, File{Path: f.Path})
		}
		p.Command = &c
	}
	if p.Predictions != nil {
		p.Predictions = &File{Path: p.Predictions.Path}
	}
	return p
}

// Name is the method, the pretext, or the composition of both: "pahl+ssdl".
func (j Job) Name() string { return Compose(j.Pretext.Name, j.Method.Name) }

// AllFromCatalog reports whether no part is external.
func (j Job) AllFromCatalog() bool {
	return (j.Method.IsZero() || j.Method.FromCatalog()) && (j.Pretext.IsZero() || j.Pretext.FromCatalog())
}

// Compose joins the names of a pretext and a method, as in "pahl+ssdl". One of the two may be empty.
func Compose(pretext, method string) string {
	if pretext == "" || method == "" {
		return pretext + method
	}
	return pretext + "+" + method
}

// Encode writes the job as canonical JSON: fixed order of fields, sorted parameters,
// shortest numbers.
func (j Job) Encode() []byte {
	raw, err := json.Marshal(j)
	if err != nil { // NaN, say: the catalog refuses it before a job has it
		panic(fmt.Sprintf("job %s holds values that no spec gives it: %v", j.Name(), err))
	}
	return raw
}

// Key is the SHA-256 of the encoded job, in lower-case hexadecimal.
func (j Job) Key() string { return KeyOf(j.Encode()) }

// KeyOf is the key of an encoded job.
func KeyOf(encoded []byte) string {
	sum := sha256.Sum256(encoded)
	return hex.EncodeToString(sum[:])
}

// Decode is the inverse of Encode. It refuses JSON that is not in canonical form. All numbers become
// float64.
func Decode(encoded []byte) (Job, error) {
	var j Job
	dec := json.NewDecoder(bytes.NewReader(encoded))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&j); err != nil {
		return Job{}, fmt.Errorf("the job cannot be read: %w", err)
	}
	if _, err := dec.Token(); err != io.EOF {
		return Job{}, errors.New("the job cannot be read: something follows it")
	}
	for _, p := range []Part{j.Method, j.Pretext} {
		for name, v := range p.Params {
			switch v.(type) {
			case float64, bool, string:
			default:
				return Job{}, fmt.Errorf("the job cannot be read: parameter %s of %s is %v", name, p.Name, v)
			}
		}
	}
	if again := j.Encode(); !bytes.Equal(again, encoded) {
		return Job{}, fmt.Errorf("the job is not in canonical form: expected %s", again)
	}
	return j, nil
}

// SameQuestion reports whether two jobs differ at most in their data, split, protocol, the versions of their
// parts and the content of files. Then the later one replaces the earlier one.
func (j Job) SameQuestion(o Job) bool {
	for _, x := range []*Job{&j, &o} {
		x.Method, x.Pretext = x.Method.WithoutContent(), x.Pretext.WithoutContent()
		x.DatasetHash, x.SplitHash, x.Protocol, x.Method.Version, x.Pretext.Version = "", "", 0, 0, 0
	}
	return bytes.Equal(j.Encode(), o.Encode())
}

// Fingerprints are hashes of the code that computes a job: of its method, its pretext and the protocol. One is
// empty if it is unknown, or if the job has no such part.
type Fingerprints struct {
	Method   string `json:"method,omitempty"`
	Pretext  string `json:"pretext,omitempty"`
	Protocol string `json:"protocol,omitempty"`
}

// ChangesSince lists the fingerprints that differ from was. It leaves out those that are unknown on either
// side.
func (f Fingerprints) ChangesSince(was Fingerprints) []Change {
	var out []Change
	for _, c := range []Change{
		{"method code", was.Method, f.Method},
		{"pretext code", was.Pretext, f.Pretext},
		{"protocol code", was.Protocol, f.Protocol},
	} {
		if c.Was != "" && c.Is != "" && c.Was != c.Is {
			out = append(out, c)
		}
	}
	return out
}

// Change is one property in which two jobs, or the code of their runs, differ.
type Change struct {
	What string `json:"what"` // "data", "split", "method version", "method code", the path of a file and so on
	Was  string `json:"was"`
	Is   string `json:"is"`
}

// Changes lists the differences from an earlier job of the same question: see SameQuestion.
func (j Job) Changes(was Job) []Change {
	var out []Change
	add := func(what, a, b string) {
		if a != b {
			out = append(out, Change{what, a, b})
		}
	}
	if add("data", was.DatasetHash, j.DatasetHash); len(out) == 0 { // other data has other splits anyway
		add("split", was.SplitHash, j.SplitHash)
	}
	add("method version", fmt.Sprint(was.Method.Version), fmt.Sprint(j.Method.Version))
	add("pretext version", fmt.Sprint(was.Pretext.Version), fmt.Sprint(j.Pretext.Version))
	for _, part := range []struct{ was, is Part }{{was.Method, j.Method}, {was.Pretext, j.Pretext}} {
		before, after := part.was.contents(), part.is.contents()
		for i := range min(len(before), len(after)) {
			add(after[i].Path, before[i].SHA256, after[i].SHA256)
		}
	}
	add("protocol version", fmt.Sprint(was.Protocol), fmt.Sprint(j.Protocol))
	return out
}
