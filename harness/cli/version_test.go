package cli

import (
	"runtime"
	"runtime/debug"
	"strings"
	"testing"

	"ssdl/methods/linalg"
)

func TestDescribeVersion(t *testing.T) {
	const commit = "c0ffee0000000000000000000000000000000001"
	set := func(version string, settings ...string) *debug.BuildInfo {
		info := &debug.BuildInfo{Main: debug.Module{Version: version}}
		for i := 0; i < len(settings); i += 2 {
			info.Settings = append(info.Settings, debug.BuildSetting{Key: settings[i], Value: settings[i+1]})
		}
		return info
	}
	for want, info := range map[string]*debug.BuildInfo{
		"development build, commit not recorded":              set("(devel)"),
		"v1.0.0, commit not recorded":                         set("v1.0.0"),
		"v1.0.0, commit " + commit:                            set("v1.0.0", "vcs.revision", commit, "vcs.modified", "false"),
		"development build, commit " + commit + " (modified)": set("", "vcs.revision", commit, "vcs.modified", "true"),
	} {
		if got := describeVersion(info); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	if v := version(); !strings.HasPrefix(v, "ssdl ") || !strings.Contains(v, ", commit ") || !strings.HasSuffix(v, runtime.GOOS+"/"+runtime.GOARCH+", kernels "+linalg.BLAS()) {
		t.Errorf("version %q", v)
	}
}
