package provenance

import (
	"fmt"
	"go/version"
	"strings"
)

// Kind is a property that the runs behind a cell must have in common.
type Kind string

// The kinds. Data, split, parameters and versions are none: runs are found by them.
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

// build lists what of an environment decides about the bits of a result, beside the code.
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

// Build gives, in order, each property of a build that decides about bits: its kind, and what an
// environment says of it, empty if nothing.
func Build(yield func(Kind, func(env map[string]string) string) bool) {
	for _, b := range build {
		if !yield(b.kind, b.of) {
			return
		}
	}
}

// BuildDifference says in what the build that computes now differs from the one that computed a
// result, as far as it decides about bits; empty if in nothing.
func BuildDifference(was, is map[string]string) string {
	for _, b := range build {
		if then, now := b.of(was), b.of(is); then != "" && now != "" && then != now {
			return fmt.Sprintf("%s was %s, is %s", b.kind, then, now)
		}
	}
	return ""
}

// moduleVersion is the version of a module in a list as Environment writes it, with what stands in for it.
// A sum that one list has and another lacks is no difference.
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

// kernels is the family of a BLAS: all of the program's own give the same bits.
func kernels(blas string) string {
	if strings.HasPrefix(blas, "go-") {
		return "go"
	}
	return blas
}
