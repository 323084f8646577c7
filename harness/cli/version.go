package cli

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"ssdl/methods/linalg"
)

type versionCmd struct{}

func (versionCmd) Run(e *env) error {
	_, err := fmt.Fprintln(e.stdout, version())
	return err
}

// version names the build: ssdl's version, Go's, and the kernel of the linear algebra.
func version() string {
	return fmt.Sprintf("ssdl %s, %s, BLAS %s", buildVersion(), runtime.Version(), linalg.BLAS())
}

// buildVersion is the version of the module, or else the commit that the program was built of.
func buildVersion() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	if v := info.Main.Version; v != "" && v != "(devel)" {
		return v
	}
	commit, modified := "", ""
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.revision":
			commit = s.Value
		case s.Key == "vcs.modified" && s.Value == "true":
			modified = ", modified"
		}
	}
	if commit == "" {
		return "development build"
	}
	return fmt.Sprintf("commit %.12s%s", commit, modified)
}
