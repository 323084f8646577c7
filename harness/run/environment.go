package run

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"time"

	"ssdl/methods/linalg"
)

// Environment describes what computes: it is stored with every run. Beside the machine it has
// the program as it was built ("vcs.revision", "modules") and, where the program lies in a git
// checkout, the checkout as it is now: "commit", and "dirty", the SHA-256 of what differs from it. A
// checkout that went on to another commit since the program was built is not the program's.
func Environment(ctx context.Context) map[string]string {
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
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			switch s.Key {
			case "GOAMD64", "GOARM64", "vcs.revision", "vcs.modified", "-tags":
				env[s.Key] = s.Value
			}
		}
		var modules []string
		for _, m := range info.Deps {
			if m.Replace != nil {
				m = m.Replace
			}
			modules = append(modules, m.Path+" "+m.Version+" "+m.Sum)
		}
		env["modules"] = strings.Join(modules, "; ")
	}
	if exe, err := os.Executable(); err == nil {
		checkout(ctx, filepath.Dir(exe), env)
	}
	return env
}

// gitPatience bounds the questions to git: without an answer the run is recorded without it.
const gitPatience = 10 * time.Second

// checkout adds the commit and the differences from it of the git checkout of this module that
// holds dir, if any.
func checkout(ctx context.Context, dir string, env map[string]string) {
	ctx, cancel := context.WithTimeout(ctx, gitPatience)
	defer cancel()
	git := func(args ...string) ([]byte, bool) {
		cmd := exec.CommandContext(ctx, "git", append([]string{"-C", dir}, args...)...)
		cmd.Env = slices.DeleteFunc(os.Environ(), pointsAway)
		out, err := cmd.Output()
		return out, err == nil
	}
	top, ok := git("rev-parse", "--show-toplevel")
	if !ok {
		return
	}
	mod, err := os.ReadFile(filepath.Join(strings.TrimSpace(string(top)), "go.mod"))
	if err != nil || !bytes.HasPrefix(mod, []byte("module ssdl\n")) {
		return // a checkout of something else, which the program happens to lie in
	}
	dir = strings.TrimSpace(string(top))
	commit, ok := git("rev-parse", "HEAD")
	if !ok {
		return
	}
	head := strings.TrimSpace(string(commit))
	if built := env["vcs.revision"]; built != "" && built != head {
		return
	}
	env["commit"] = head
	diff, ok := git("diff", "HEAD", "--binary", "--no-ext-diff", "--no-color")
	if !ok {
		return
	}
	// Sources that git does not know yet are part of the difference, by name and content.
	others, ok := git("ls-files", "--others", "--exclude-standard", "-z", "--", "*.go", "*.s", "*.sql", "*.yaml")
	if !ok {
		return
	}
	if len(diff) == 0 && len(others) == 0 {
		return
	}
	h := sha256.New()
	h.Write(diff)
	for name := range strings.SplitSeq(strings.TrimSuffix(string(others), "\x00"), "\x00") {
		content, _ := os.ReadFile(filepath.Join(dir, name)) // what cannot be read counts by its name
		sum := sha256.Sum256(content)
		h.Write([]byte(name + "\x00"))
		h.Write(sum[:])
	}
	env["dirty"] = hex.EncodeToString(h.Sum(nil))
}

// pointsAway tells the variables by which git, as it runs its hooks, points to another checkout.
func pointsAway(variable string) bool {
	name, _, _ := strings.Cut(variable, "=")
	return name == "GIT_DIR" || name == "GIT_WORK_TREE" || name == "GIT_INDEX_FILE"
}

// processor is the model name as the kernel gives it; empty where it gives none.
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

// PhysicalMemory is the machine's memory in bytes, or 4 GiB where it cannot be read.
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
