package run

import (
	"bufio"
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"

	"ssdl/methods/dense"
)

// Environment describes what computes: it is stored with every run.
func Environment() map[string]string {
	env := map[string]string{
		"go":    runtime.Version(),
		"os":    runtime.GOOS,
		"arch":  runtime.GOARCH,
		"cores": strconv.Itoa(runtime.NumCPU()),
		"procs": strconv.Itoa(runtime.GOMAXPROCS(0)),
		"blas":  dense.BLAS(),
		"cpu":   processor(),
	}
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			switch s.Key {
			case "GOAMD64", "GOARM64", "vcs.revision", "vcs.modified", "-tags":
				env[s.Key] = s.Value
			}
		}
	}
	return env
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
