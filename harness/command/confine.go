package command

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
)

// confinementRules are what a confined program may do beside reading the system.
type confinementRules struct {
	Folder  string // it writes here,
	Program string // reads this and its installation,
	Memory  int64  // holds so many bytes (0: no bound)
	Written int64  // and makes no file longer than this
}

// Confine becomes the program that args name, confined by rules as a Runner writes them. It returns only
// if it cannot.
func Confine(rules string, args []string) error {
	var r confinementRules
	if err := json.Unmarshal([]byte(rules), &r); err != nil {
		return fmt.Errorf("the rules of a confined program cannot be read: %w", err)
	}
	return become(r, args)
}

// installation lists the folder that a program is installed in, where it can be told: that of a Python
// or conda environment, and of the Python below it. The rest is part of the system.
func installation(program string) []string {
	paths := []string{program}
	if real, err := filepath.EvalSymlinks(program); err == nil && real != program {
		paths = append(paths, real)
	}
	var out []string
	for _, path := range paths {
		prefix := filepath.Dir(filepath.Dir(path))
		if prefix == filepath.Dir(prefix) || filepath.Base(filepath.Dir(path)) != "bin" {
			continue // the root, or no installation
		}
		for _, sign := range []string{"pyvenv.cfg", "conda-meta", "lib/python3*"} {
			if found, _ := filepath.Glob(filepath.Join(prefix, sign)); len(found) > 0 {
				out = append(out, prefix)
				break
			}
		}
	}
	return out
}

// there lists the paths that exist.
func there(paths ...string) (out []string) {
	for _, p := range paths {
		if _, err := os.Stat(p); err == nil {
			out = append(out, p)
		}
	}
	return out
}
