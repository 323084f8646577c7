package cli

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"ssdl/experiments"
	"ssdl/harness/archive"
)

// writeSpecs writes the specs of archives to specs/ in the results folder, except those that are built in or there
// already. A different spec of the same name stays: the archive's gets the first digits of its hash into its name.
func (c *importCmd) writeSpecs(e *env, specs []archive.File) error {
	dir := filepath.Join(c.Results, "specs")
	for _, s := range specs {
		name := strings.TrimSuffix(s.Name, ".yaml")
		if builtin, err := experiments.Specs.ReadFile(s.Name); err == nil && bytes.Equal(builtin, s.Content) {
			continue
		}
		sum := sha256.Sum256(s.Content)
		for _, file := range []string{s.Name, name + "-" + hex.EncodeToString(sum[:6]) + ".yaml"} {
			path := filepath.Join(dir, file)
			is, err := os.ReadFile(path)
			if err == nil && bytes.Equal(is, s.Content) {
				break
			}
			if err == nil {
				continue // another spec of this name
			}
			if !errors.Is(err, fs.ErrNotExist) {
				return &exitError{exitUsage, err}
			}
			if err := os.MkdirAll(dir, 0o755); err != nil {
				return &exitError{exitUsage, err}
			}
			if err := writeFile(path, s.Content); err != nil {
				return err
			}
			fmt.Fprintf(e.stdout, "spec: %s\n", path)
			break
		}
	}
	return nil
}
