package command

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
)

// confinementRules say what a confined program may do beside reading the system.
type confinementRules struct {
	Folder  string // it may read and write here
	Program string // it may read this and its installation
	Memory  int64  // largest memory in bytes; 0 for no bound
	Written int64  // largest size of a file in bytes
}

// Confine confines this process by rules, the JSON of a Runner, and replaces it by the program args. It returns
// only with an error.
func Confine(rules string, args []string) error {
	var r confinementRules
	if err := json.Unmarshal([]byte(rules), &r); err != nil {
		return fmt.Errorf("the rules of a confined program cannot be read: %w", err)
	}
	return become(r, args)
}

// installation lists the folders of the Python or conda environment of a program, and of the Python that it
// links to; none for other programs, whose files belong to the system.
func installation(program string) []string {
	paths := []string{program}
	if real, err := filepath.EvalSymlinks(program); err == nil && real != program {
		paths = append(paths, real)
	}
	var out []string
	for _, path := range paths {
		prefix := filepath.Dir(filepath.Dir(path))
		if prefix == filepath.Dir(prefix) || filepath.Base(filepath.Dir(path)) != "bin" {
			continue // not in the bin folder of an installation
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

// existing lists the paths that exist.
func existing(paths ...string) (out []string) {
	for _, p := range paths {
		if _, err := os.Stat(p); err == nil {
			out = append(out, p)
		}
	}
	return out
}
