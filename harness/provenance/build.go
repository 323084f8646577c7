package provenance

import (
	"fmt"
	"go/version"
	"strings"
)

// Kind is a property in which the runs of a cell must not differ.
type Kind string

// The kinds. Data, split, parameters and versions are part of the job key, so the runs of a cell share them.
const (
	MethodCode   Kind = "method code"
	PretextCode  Kind = "pretext code"
	ProtocolCode Kind = "protocol code"
	Architecture Kind = "architecture"
	GOAMD64      Kind = "GOAMD64"
	BLAS         Kind = "BLAS"
	GoVersion    Kind = "Go version"
	Gonum        Kind = "gonum"
	SourceState  Kind = "sources"
)

// build lists the properties of an environment that decide about the bits of a result, beside the code.
var build = []struct {
	kind Kind
	of   func(env map[string]string) string
}{
	{Architecture, func(env map[string]string) string { return env["arch"] }},
	{GOAMD64, func(env map[string]string) string { return env["GOAMD64"] }},
	{BLAS, func(env map[string]string) string { return kernels(env["blas"]) }},
	{GoVersion, func(env map[string]string) string { return version.Lang(env["go"]) }},
	{Gonum, func(env map[string]string) string { return moduleVersion(env["modules"], "gonum.org/v1/gonum") }},
	{SourceState, func(env map[string]string) string {
		if s := SourcesOf(env); s != Unknown {
			return string(s)
		}
		return ""
	}},
}

// Build yields, in order, each property of a build that decides about the bits of a result: its kind, and a
// function that reads it from an environment; empty if unknown.
func Build(yield func(Kind, func(env map[string]string) string) bool) {
	for _, b := range build {
		if !yield(b.kind, b.of) {
			return
		}
	}
}

// BuildDifference names the first property of Build in which the environment is differs from was; empty if
// there is none.
func BuildDifference(was, is map[string]string) string {
	for _, b := range build {
		if then, now := b.of(was), b.of(is); then != "" && now != "" && then != now {
			return fmt.Sprintf("%s was %s, is %s", b.kind, then, now)
		}
	}
	return ""
}

// moduleVersion is the version of a module, with its replacement, in a list that Environment wrote. It leaves
// out the checksum, which some lists lack.
func moduleVersion(modules, path string) string {
	for m := range strings.SplitSeq(modules, "; ") {
		f := strings.Fields(m)
		switch {
		case len(f) < 2 || f[0] != path:
		case len(f) > 2 && strings.HasPrefix(f[2], "h1:"):
			return f[1]
		default:
			return strings.Join(f[1:], " ")
		}
	}
	return ""
}

// kernels is the family of a BLAS: all kernels of ssdl give the same bits.
func kernels(blas string) string {
	if strings.HasPrefix(blas, "go-") {
		return "go"
	}
	return blas
}
