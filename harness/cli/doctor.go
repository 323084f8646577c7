package cli

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"

	"github.com/mattn/go-sqlite3"

	"ssdl/experiments"
	"ssdl/harness/data/features"
	"ssdl/harness/provenance"
)

type doctorCmd struct {
	rootFlags
}

func (c doctorCmd) Run(e *env) error {
	doctor(e, c.rootFlags)
	return nil
}

// doctor prints what this machine has, and what does not work without the rest.
func doctor(e *env, f rootFlags) {
	env := provenance.Environment()
	say := func(what, format string, args ...any) {
		fmt.Fprintf(e.stdout, "%-10s %s\n", what, fmt.Sprintf(format, args...))
	}
	say("ssdl", "%s, %s for %s/%s", buildVersion(), env["go"], env["os"], env["arch"])
	say("processor", "%s, %d cores, %d in use", env["cpu"], runtime.NumCPU(), runtime.GOMAXPROCS(0))
	say("memory", "%.1f GiB", float64(provenance.PhysicalMemory())/(1<<30))
	say("blas", "%s", env["blas"])
	engine, _, _ := sqlite3.Version()
	say("sqlite", "%s", engine)
	for _, tool := range []struct{ name, lost string }{
		{"go", "the program cannot be rebuilt"},
		{"cc", "the program cannot be rebuilt: SQLite needs a C compiler"},
		{"pdflatex", "LaTeX tables are written, but the tests do not compile them"},
	} {
		if path, err := exec.LookPath(tool.name); err == nil {
			say(tool.name, "%s", path)
		} else {
			say(tool.name, "not found: %s", tool.lost)
		}
	}
	say("onnx", "%s", onnxRuntime())
	roots := f.roots()
	if len(roots) == 0 {
		say("data", "no folder, so built-in synthetic sets are used; give one with --data, $SSDL_DATA or ./data")
		return
	}
	lib := dataFlags{rootFlags: f}.library()
	var found []string
	for _, d := range experiments.Datasets() {
		if lib.Has(d.Name) {
			found = append(found, d.Name)
		}
	}
	if len(found) == 0 {
		say("data", "none of the paper's sets in %s; `ssdl data list` shows what there is", strings.Join(roots, ", "))
		return
	}
	say("data", "%s in %s", strings.Join(found, ", "), strings.Join(roots, ", "))
}

// onnxRuntime says which library of ONNX Runtime `ssdl features` would use.
func onnxRuntime() string {
	library, where, err := features.FindLibrary("")
	switch {
	case err != nil && os.Getenv(features.LibraryVar) == "":
		return "not found: `ssdl features` needs it, tables do not; get it with `make ort`, or name the library in $" + features.LibraryVar
	case err != nil:
		return fmt.Sprintf("`ssdl features` cannot work: %v", err)
	}
	rt, err := features.OpenRuntime(library)
	if err != nil {
		return err.Error()
	}
	defer rt.Close()
	return fmt.Sprintf("ONNX Runtime %s, %s (%s)", rt.Version, library, where)
}
