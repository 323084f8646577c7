// Package provenance describes what computed a run: the fingerprints of the code, the build of the
// program, and the machine. It compares them, and stores nothing.
package provenance

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"

	"ssdl/methods/linalg"
)

// Environment describes the machine and the program; it is stored with every run. For the program it has
// the version, the hash of its file, and the build's record of its sources ("vcs.revision",
// "vcs.modified", "modules"). It does not ask git: a checkout may have changed since the build.
func Environment() map[string]string {
	env := map[string]string{
		"go":     runtime.Version(),
		"os":     runtime.GOOS,
		"arch":   runtime.GOARCH,
		"cores":  strconv.Itoa(runtime.NumCPU()),
		"procs":  strconv.Itoa(runtime.GOMAXPROCS(0)),
		"blas":   linalg.BLAS(),
		"cpu":    processor(),
		"memory": strconv.FormatInt(PhysicalMemory(), 10),
	}
	if release, err := os.ReadFile("/proc/sys/kernel/osrelease"); err == nil {
		env["kernel"] = strings.TrimSpace(string(release))
	}
	if hash := ProgramHash(); hash != "" {
		env["executable"] = hash
	}
	if info, ok := debug.ReadBuildInfo(); ok {
		describeBuild(info, env)
	}
	return env
}

// describeBuild adds the build's record of the program's sources.
func describeBuild(info *debug.BuildInfo, env map[string]string) {
	env["version"] = info.Main.Version
	for _, s := range info.Settings {
		switch s.Key {
		case "GOAMD64", "GOARM64", "vcs.revision", "vcs.time", "vcs.modified", "-tags":
			env[s.Key] = s.Value
		}
	}
	modules := make([]string, len(info.Deps))
	for i, m := range info.Deps {
		modules[i] = strings.TrimSpace(m.Path + " " + m.Version + " " + m.Sum)
		if r := m.Replace; r != nil {
			modules[i] = strings.TrimSpace(m.Path + " " + m.Version + " => " + strings.TrimSpace(r.Path+" "+r.Version+" "+r.Sum))
		}
	}
	env["modules"] = strings.Join(modules, "; ")
}

// ProgramHash is the SHA-256 of the running program's file; empty if it cannot be read.
var ProgramHash = sync.OnceValue(func() string {
	f, err := os.Open("/proc/self/exe") // the running file, even if it was replaced
	if err != nil {
		path, err := os.Executable()
		if err != nil {
			return ""
		}
		if f, err = os.Open(path); err != nil {
			return ""
		}
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return ""
	}
	return hex.EncodeToString(h.Sum(nil))
})

// Sources says whether the sources of a program are those of a commit.
type Sources string

// The sources of a program are those of a commit, differ from every commit, or are unknown.
const (
	Committed Sources = "committed"
	Modified  Sources = "modified"
	Unknown   Sources = "unknown"
)

// SourcesOf reads Sources from an environment. A module that is replaced by a folder makes them modified.
func SourcesOf(env map[string]string) Sources {
	switch {
	case env["vcs.modified"] == "true", env["dirty"] != "": // "dirty" is of older programs
		return Modified
	case replacedByFolder(env["modules"]):
		return Modified
	case env["vcs.revision"] != "", env["commit"] != "":
		return Committed
	case strings.HasPrefix(env["version"], "v"): // installed from the module proxy
		return Committed
	}
	return Unknown
}

// replacedByFolder reports whether a list of modules has one that is replaced by a folder.
func replacedByFolder(modules string) bool {
	for m := range strings.SplitSeq(modules, "; ") {
		if _, by, replaced := strings.Cut(m, " => "); replaced && len(strings.Fields(by)) < 3 {
			return true
		}
	}
	return false
}

// processor is the model name from the kernel; empty if it gives none.
func processor() string {
	f, err := os.Open("/proc/cpuinfo")
	if err != nil {
		return ""
	}
	defer f.Close()
	for sc := bufio.NewScanner(f); sc.Scan(); {
		if k, v, ok := strings.Cut(sc.Text(), ":"); ok && strings.TrimSpace(k) == "model name" {
			return strings.TrimSpace(v)
		}
	}
	return ""
}

// PhysicalMemory is the machine's memory in bytes, or 4 GiB if it cannot be read.
func PhysicalMemory() int64 {
	const unknown = 4 << 30
	f, err := os.Open("/proc/meminfo")
	if err != nil {
		return unknown
	}
	defer f.Close()
	for sc := bufio.NewScanner(f); sc.Scan(); {
		fields := strings.Fields(sc.Text())
		if len(fields) >= 2 && fields[0] == "MemTotal:" {
			if kb, err := strconv.ParseInt(fields[1], 10, 64); err == nil {
				return kb << 10
			}
		}
	}
	return unknown
}
