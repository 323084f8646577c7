package cluster

import (
	"bufio"
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
)

// Folder is where shards find their plan and leave their stores: a folder that all machines see. Files appear
// in it complete, under their name; no database is open there for writing.
type Folder string

// NewFolder is the folder dir, which a shell script and a directive of Slurm must be able to name.
func NewFolder(dir string) (Folder, error) {
	abs, err := filepath.Abs(dir)
	if err == nil && strings.ContainsAny(abs, "\"\\%\n\r") {
		err = fmt.Errorf("%q has a quote, a backslash, a percent sign or a line break, which Slurm does not take: choose another folder", abs)
	}
	return Folder(abs), err
}

// Make makes the folder with those in it.
func (f Folder) Make() error {
	for _, dir := range []string{f.stores(), f.logs()} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return err
		}
	}
	return nil
}

// Lock keeps another submission from the folder, which it makes, until unlock is called.
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
		err = fmt.Errorf("%s: another `ssdl submit` is at work on it: wait for it", f)
	}
	if err != nil {
		file.Close()
		return nil, err
	}
	return file.Close, nil // which gives the lock back
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

// store is the file of the store of shard k.
func (f Folder) store(submission, k int) string {
	return filepath.Join(f.stores(), fmt.Sprintf("%03d-%04d.db", submission, k))
}

// Stores lists the stores that shards have left, of all submissions, by name.
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

// Submission is what was last given to Slurm.
type Submission struct {
	Submission int `json:"submission"`
	// Arrays are the job arrays, in the order of their shards.
	Arrays []Array `json:"arrays"`
	// Merge is the id of the job that submits what the tuning chose; empty without one.
	Merge string `json:"merge,omitempty"`
}

// Array is a job array of Slurm: its task i runs shard Offset + i, for i from 1 to Tasks.
type Array struct {
	ID     string `json:"id"`
	Offset int    `json:"offset"`
	Tasks  int    `json:"tasks"`
}

// Submission reads what was last submitted; zero if nothing was.
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

// writeSubmission notes what was submitted.
func (f Folder) writeSubmission(s Submission) error {
	return writeFile(f.submission(), 0o644, func(w io.Writer) error {
		enc := json.NewEncoder(w)
		enc.SetIndent("", " ")
		return enc.Encode(s)
	})
}

// Next is the number of the next plan: more than that of any plan, submission or store that is there. Shards
// then find no store of an earlier plan in place of theirs.
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

// writeFile lets write fill a file that appears under its name once it is complete and on the disk.
func writeFile(path string, mode os.FileMode, write func(io.Writer) error) error {
	tmp, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+"-*")
	if err != nil {
		return err
	}
	defer os.Remove(tmp.Name()) // gone already if all went well
	out := bufio.NewWriterSize(tmp, 1<<20)
	err = errors.Join(write(out), out.Flush(), tmp.Chmod(mode), tmp.Sync(), tmp.Close())
	if err == nil {
		err = os.Rename(tmp.Name(), path)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}

// copyFile copies a file by writing and renaming.
func copyFile(from, to string) error {
	return writeFile(to, 0o644, func(w io.Writer) error {
		f, err := os.Open(from)
		if err != nil {
			return err
		}
		defer f.Close()
		_, err = io.Copy(w, f)
		return err
	})
}

// publish writes a copy of the store st, which lies on a local disk, to path. scratch is a local folder.
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

// WriteKnown writes what the store st has for a merge on another machine. scratch is a local folder.
func (f Folder) WriteKnown(ctx context.Context, st *store.Store, scratch string) error {
	return publish(ctx, st, scratch, f.known())
}

// CopyKnown copies what WriteKnown wrote to a local file.
func (f Folder) CopyKnown(to string) error { return copyFile(f.known(), to) }
