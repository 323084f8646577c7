package run

import (
	"testing"

	"ssdl/harness/provenance"

	"github.com/google/go-cmp/cmp"
)

// Runs of different code, architecture or BLAS are inconsistent; ssdl's own kernels are one BLAS.
func TestInconsistencies(t *testing.T) {
	b := newBench(t, threeRows)
	p, _ := b.run(t)
	c := p.Cells[1]
	if got := p.Inconsistencies(c); got != nil {
		t.Fatalf("runs of one call: %+v", got)
	}
	set := func(i int, code string, env map[string]string) {
		id := code + env["arch"] + env["blas"] + env["GOAMD64"] + env["go"] + env["modules"]
		p.envs[id] = env
		c.Final[i].Result.Code.Method, c.Final[i].Result.EnvID = code, id
	}
	const modules = "a.b/c v1 h1:x; gonum.org/v1/gonum v0.16.0 h1:y"
	first := map[string]string{"arch": "amd64", "blas": "go-avx512", "GOAMD64": "v1", "go": "go1.26.1", "modules": modules}
	for _, x := range []struct {
		code string
		env  map[string]string
		kind provenance.Kind
		is   string
		want string
	}{
		{"a", map[string]string{"arch": "amd64", "blas": "go-avx512"}, "", "", ""},
		{"a", map[string]string{"arch": "amd64", "blas": "go-avx2"}, "", "", ""},
		{"", map[string]string{"arch": "amd64", "blas": "go"}, "", "", ""},
		{"b", map[string]string{"arch": "amd64", "blas": "go-avx512"}, provenance.MethodCode, "b", "a"},
		{"a", map[string]string{"arch": "arm64", "blas": "go-fma"}, provenance.Architecture, "arm64", "amd64"},
		{"a", map[string]string{"arch": "amd64", "blas": "openblas"}, provenance.BLAS, "openblas", "go"},
		{"a", map[string]string{"GOAMD64": "v3"}, provenance.GOAMD64, "v3", "v1"},
		{"a", map[string]string{"go": "go1.26.8"}, "", "", ""},
		{"a", map[string]string{"go": "go1.27"}, provenance.GoVersion, "go1.27", "go1.26"},
		{"a", map[string]string{"modules": "gonum.org/v1/gonum v0.17.0 h1:z"}, provenance.Gonum, "v0.17.0", "v0.16.0"},
		{"a", map[string]string{"modules": "a.b/c v2 h1:x; gonum.org/v1/gonum v0.16.0 h1:y"}, "", "", ""},
	} {
		set(0, "a", first)
		set(1, "a", first)
		set(2, x.code, x.env)
		var want []Inconsistency
		if x.kind != "" {
			want = []Inconsistency{{Kind: x.kind, Is: x.is, Want: x.want, Seed: 1002, WantSeed: 1000}}
		}
		if d := cmp.Diff(want, p.Inconsistencies(c)); d != "" {
			t.Errorf("%+v (-want +got):\n%s", x, d)
		}
	}
}

// Tuning runs are included.
func TestInconsistentTuning(t *testing.T) {
	b := newBench(t, threeRows)
	p, _ := b.run(t)
	c := p.Cells[0]
	for i := range c.Final {
		c.Final[i].Result.Code.Method = "a"
	}
	c.Tuning[1][2].Result.Code.Method = "b"
	want := []Inconsistency{{Kind: provenance.MethodCode, Is: "b", Want: "a", Seed: 1002, Tuning: true, WantSeed: 1000}}
	if d := cmp.Diff(want, p.Inconsistencies(c)); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}
