package command

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"ssdl/harness/data/untrusted"
	"ssdl/harness/job"
	"ssdl/harness/tempfile"
)

// maxFile is the largest size in bytes of a file of a program: weights of a network have some hundred megabytes.
const maxFile = 4 << 30

// MissingError says that a program is not on this machine.
type MissingError struct{ Program string }

func (e *MissingError) Error() string {
	return fmt.Sprintf("there is no program %s. Install it, or put it into PATH", e.Program)
}

// FileError says that a file of a program is not on this machine. It is an fs.ErrNotExist.
type FileError struct{ Path string }

func (e *FileError) Error() string {
	return fmt.Sprintf("there is no file %s. Paths are relative to the folder that ssdl is called in", e.Path)
}

// Is makes the error an fs.ErrNotExist.
func (*FileError) Is(target error) bool { return target == fs.ErrNotExist }

// Identify returns the command of a program: its arguments, the hashes of its files and the version of its
// interpreter. If the program is not on this machine, the error is a *MissingError and the command has no version.
func (r Runner) Identify(ctx context.Context, args, files []string) (job.Command, error) {
	c := job.Command{Args: args}
	for _, path := range files {
		sum, err := HashFile(path)
		if err != nil {
			return c, err
		}
		c.Files = append(c.Files, job.File{Path: path, SHA256: sum})
	}
	if _, own := fileOf(c, filepath.ToSlash(filepath.Clean(args[0]))); own {
		return c, nil
	}
	path, err := lookup(args[0])
	if err != nil {
		return c, err
	}
	c.Interpreter, err = r.version(ctx, path)
	return c, err
}

// lookup finds a program, by its path or in PATH.
func lookup(program string) (string, error) {
	path, err := exec.LookPath(program)
	if err != nil {
		return "", &MissingError{program}
	}
	return filepath.Abs(path)
}

// versionTime is how long a program may take to say its version.
const versionTime = 20 * time.Second

// version is the first line that a program prints with --version, or else the hash of its file.
func (r Runner) version(ctx context.Context, path string) (string, error) {
	dir, err := tempfile.System()
	if err != nil {
		return "", err
	}
	defer dir.Remove()
	vctx, cancel := context.WithTimeout(ctx, versionTime)
	defer cancel()
	var record Record
	if err := r.start(vctx, process{path: path, args: []string{"--version"}, dir: dir.Path}, &record); err == nil {
		for line := range strings.Lines(record.Stdout + "\n" + record.Stderr) {
			if line = strings.TrimSpace(line); line != "" {
				return line[:min(len(line), 200)], nil
			}
		}
	}
	if ctx.Err() != nil {
		return "", ctx.Err()
	}
	sum, err := HashFile(path)
	return "SHA-256 " + sum, err
}

// HashFile is the SHA-256 of a file.
func HashFile(path string) (string, error) {
	f, _, err := untrusted.Open(path, maxFile)
	if errors.Is(err, os.ErrNotExist) {
		return "", &FileError{path}
	}
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", fmt.Errorf("%s: %w", path, err)
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}
