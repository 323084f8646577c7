package cluster

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"ssdl/harness/filelock"
	"ssdl/harness/store"
	"ssdl/harness/tempfile"
)

// Folder has the plan and the stores of the shards, on a file system that all machines see. Files in it appear
// only when they are complete; no database is open there for writing.
type Folder string

// NewFolder returns the folder dir. It refuses a path that a directive of Slurm cannot contain.
func NewFolder(dir string) (Folder, error) {
	abs, err := filepath.Abs(dir)
	if err == nil && strings.ContainsAny(abs, "\"\\%\n\r") {
		err = fmt.Errorf("%q has a quote, a backslash, a percent sign or a line break, which Slurm does not take: choose another folder", abs)
	}
	return Folder(abs), err
}

// Make makes the folder and its subfolders.
func (f Folder) Make() error {
	for _, dir := range []string{f.stores(), f.logs()} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return err
		}
	}
	return nil
}

// Lock makes the folder and locks it against other submissions until unlock is called.
func (f Folder) Lock() (unlock func() error, err error) {
	if err := f.Make(); err != nil {
		return nil, err
	}
	file, err := os.OpenFile(filepath.Join(string(f), "submit.lock"), os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return nil, err
	}
	held, err := filelock.TryLock(file)
	if errors.Is(err, errors.ErrUnsupported) { // not every file system of a cluster has locks
		return file.Close, nil
	}
	if err == nil && !held {
		err = fmt.Errorf("%s: another `ssdl submit` works on it: wait for it", f)
	}
	if err != nil {
		file.Close()
		return nil, err
	}
	return file.Close, nil // releases the lock
}

func (f Folder) plan() string       { return filepath.Join(string(f), "plan.json") }
func (f Folder) job() string        { return filepath.Join(string(f), "job.sh") }
func (f Folder) merge() string      { return filepath.Join(string(f), "merge.sh") }
func (f Folder) known() string      { return filepath.Join(string(f), "known.db") }
func (f Folder) submission() string { return filepath.Join(string(f), "submission.json") }
func (f Folder) stores() string     { return filepath.Join(string(f), "stores") }
func (f Folder) logs() string       { return filepath.Join(string(f), "logs") }

// Plan reads the newest plan of the folder.
func (f Folder) Plan() (Plan, error) { return ReadPlan(f.plan()) }

// store is the path of the store of shard k.
func (f Folder) store(submission, k int) string {
	return filepath.Join(f.stores(), fmt.Sprintf("%03d-%04d.db", submission, k))
}

// Stores lists the stores of the shards of all submissions, by name.
func (f Folder) Stores() ([]store.Source, error) {
	names, err := filepath.Glob(filepath.Join(globQuoted(f.stores()), "[0-9]*.db"))
	var out []store.Source
	for _, name := range names { // sorted
		out = append(out, store.Source{Name: name, Path: name})
	}
	return out, err
}

func globQuoted(path string) string {
	return strings.NewReplacer("*", `\*`, "?", `\?`, "[", `\[`).Replace(path)
}

// Submission records the last submission to Slurm.
type Submission struct {
	Submission int `json:"submission"`
	// Arrays are the job arrays, in the order of their shards.
	Arrays []Array `json:"arrays"`
	// Merge is the id of the job that submits the final jobs after the tuning; empty without one.
	Merge string `json:"merge,omitempty"`
}

// Array is a job array of Slurm: its task i runs shard Offset + i, for i from 1 to Tasks.
type Array struct {
	ID     string `json:"id"`
	Offset int    `json:"offset"`
	Tasks  int    `json:"tasks"`
}

// Submission reads the last submission; zero if there is none.
func (f Folder) Submission() (s Submission, err error) {
	text, err := os.ReadFile(f.submission())
	if errors.Is(err, fs.ErrNotExist) {
		return s, nil
	}
	if err == nil {
		err = json.Unmarshal(text, &s)
	}
	if err != nil {
		err = fmt.Errorf("%s: %w", f.submission(), err)
	}
	return s, err
}

// writeSubmission writes the last submission.
func (f Folder) writeSubmission(s Submission) error {
	return tempfile.Write(f.submission(), 0o644, func(w io.Writer) error {
		enc := json.NewEncoder(w)
		enc.SetIndent("", " ")
		return enc.Encode(s)
	})
}

// Next is the number of the next plan: one more than the largest of any plan, submission or store in the folder,
// so that no shard finds a store of an earlier plan under its name.
func (f Folder) Next() (int, error) {
	last := 0
	p, err := f.Plan()
	switch {
	case err == nil:
		last = p.Submission
	case !errors.Is(err, fs.ErrNotExist):
		return 0, err
	}
	s, err := f.Submission()
	if err != nil {
		return 0, err
	}
	stores, err := f.Stores()
	last = max(last, s.Submission)
	for _, at := range stores {
		var n int
		if _, err := fmt.Sscanf(filepath.Base(at.Path), "%d-", &n); err == nil {
			last = max(last, n)
		}
	}
	return last + 1, err
}

// copyFile copies a file; the copy appears when it is complete.
func copyFile(from, to string) error {
	return tempfile.Write(to, 0o644, func(w io.Writer) error {
		f, err := os.Open(from)
		if err != nil {
			return err
		}
		defer f.Close()
		_, err = io.Copy(w, f)
		return err
	})
}

// publish writes a copy of the store st to path, by way of the local folder scratch.
func publish(ctx context.Context, st *store.Store, scratch, path string) error {
	dir, err := os.MkdirTemp(scratch, "copy-*")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	tmp := filepath.Join(dir, "runs.db")
	if err := st.Backup(ctx, tmp); err != nil {
		return err
	}
	return copyFile(tmp, path)
}

// WriteKnown writes a copy of the store st for the merge on another machine, by way of the local folder scratch.
func (f Folder) WriteKnown(ctx context.Context, st *store.Store, scratch string) error {
	return publish(ctx, st, scratch, f.known())
}

// CopyKnown copies the file of WriteKnown to a local file.
func (f Folder) CopyKnown(to string) error { return copyFile(f.known(), to) }
