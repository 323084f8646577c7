package cli

import (
	"io"
	"os"
	"path/filepath"

	"ssdl/harness/report"
	"ssdl/harness/tempfile"
)

// figures makes the folder of figures. If the results folder is read-only, the error says what to do.
func (f resultsFlag) figures() (string, error) {
	dir := filepath.Join(f.Results, "figures")
	err := os.MkdirAll(dir, 0o755)
	if err == nil {
		var probe *os.File
		if probe, err = os.CreateTemp(dir, ".ssdl-*"); err == nil {
			probe.Close()
			err = os.Remove(probe.Name())
		}
	}
	if err != nil {
		return "", fail(exitUsage, "pictures cannot be written: %w. `%s --results DIR` copies the runs to another folder; draw them there with --results DIR", err, report.Command("ssdl", "import", f.dbPath()))
	}
	return dir, nil
}

// writeFile is replaceFile for content in memory.
func writeFile(path string, content []byte) error {
	return replaceFile(path, func(w io.Writer) error {
		_, err := w.Write(content)
		return err
	})
}

// replaceFile writes a file that appears under its name only when it is complete.
func replaceFile(path string, write func(io.Writer) error) error {
	return tempfile.Write(path, 0o644, write)
}
