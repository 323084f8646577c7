package cluster

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ssdl/harness/progress"
	"ssdl/harness/run"
)

// newPlan is a plan of 8 jobs in 4 shards.
func newPlan(t testing.TB) Plan {
	t.Helper()
	s := testSpec(t)
	p := resolve(t, s)
	file := p.File(p.Todo(run.RetryPolicy{}))
	jobs, shards := Cut(file.Jobs, progress.NewForecast(), 1, Size{Shards: 4})
	return NewPlan(1, "0123456789abcdef", file, jobs, shards)
}

// ReadPlan returns the plan as it was written, and refuses a changed one.
func TestReadPlan(t *testing.T) {
	p := newPlan(t)
	var text bytes.Buffer
	if err := p.Write(&text); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "plan.json")
	read := func(text string) (Plan, error) {
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return ReadPlan(path)
	}
	got, err := read(text.String())
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(p, got); d != "" {
		t.Error(d)
	}
	last := p.Shards[3].Jobs[1]
	for want, bad := range map[string]string{
		"cannot be read":          text.String()[:100],
		"unknown field":           strings.Replace(text.String(), `"program"`, `"binary"`, 1),
		"the format":              strings.Replace(text.String(), planFormat, "ssdl shards 0", 1),
		"with the key":            strings.Replace(text.String(), `"seed": 1000`, `"seed": 1007`, 1),
		"are in no shard":         strings.Replace(text.String(), ",\n    \""+last+"\"\n", "\n", 1),
		"not the next one":        strings.Replace(text.String(), "    \""+last+"\"\n", "    \""+p.Shards[0].Jobs[0]+"\"\n", 1),
		"of submission 0":         strings.Replace(text.String(), `"submission": 1`, `"submission": 0`, 1),
		"`ssdl submit` writes it": "",
	} {
		if bad == "" {
			_, err = ReadPlan(filepath.Join(t.TempDir(), "plan.json"))
		} else {
			_, err = read(bad)
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want an error that says %q", err, want)
		}
	}
}

func TestShardOfPlan(t *testing.T) {
	p := newPlan(t)
	jobs, err := p.Shard(3, 4)
	if err != nil || len(jobs) != 2 || jobs[0].Key != p.Shards[2].Jobs[0] || jobs[1].Key != p.Shards[2].Jobs[1] {
		t.Errorf("shard 3 of 4 has %d jobs, %v", len(jobs), err)
	}
	for _, at := range [][2]int{{0, 4}, {5, 4}, {1, 3}} {
		if _, err := p.Shard(at[0], at[1]); err == nil {
			t.Errorf("shard %d/%d is one of 4", at[0], at[1])
		}
	}
	if err := p.CheckProgram(p.Program); err != nil {
		t.Error(err)
	}
	if err := p.CheckProgram("another"); err == nil || !strings.Contains(err.Error(), "another") {
		t.Errorf("%v, want an error that names the program", err)
	}
}
