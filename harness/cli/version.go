package cli

import (
	"cmp"
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

// version names the build: ssdl's version and commit, Go's version, the platform, and the kernels of the linear algebra.
func version() string {
	return fmt.Sprintf("ssdl %s, %s %s/%s, kernels %s", buildVersion(), runtime.Version(), runtime.GOOS, runtime.GOARCH, linalg.BLAS())
}

// buildVersion is the version of the module, if it has one, and the commit that the program was built from.
func buildVersion() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		info = &debug.BuildInfo{}
	}
	return describeVersion(info)
}

func describeVersion(info *debug.BuildInfo) string {
	of, commit, modified := "development build", "", ""
	if v := info.Main.Version; v != "" && v != "(devel)" {
		of = v
	}
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.revision":
			commit = s.Value
		case s.Key == "vcs.modified" && s.Value == "true":
			modified = " (modified)"
		}
	}
	return fmt.Sprintf("%s, commit %s%s", of, cmp.Or(commit, "not recorded"), modified)
}
