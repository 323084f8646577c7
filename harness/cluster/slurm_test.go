package cluster

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ssdl/harness/progress"
)

// fakeSlurm replaces Slurm's programs by shell scripts. Each writes its arguments to the returned file.
func fakeSlurm(t *testing.T, programs map[string]string) (calls string) {
	t.Helper()
	dir := t.TempDir()
	calls = filepath.Join(dir, "calls")
	for name, body := range programs {
		script := fmt.Sprintf("#!/bin/sh\necho %s \"$@\" >> '%s'\n%s\n", name, calls, body)
		if err := os.WriteFile(filepath.Join(dir, name), []byte(script), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", dir+":/bin:/usr/bin")
	t.Setenv("SLURM_JOB_ID", "")
	return calls
}

const (
	config = `printf 'Configuration data\nMaxArraySize            = 11\nMaxJobCount             = 10000\n'`
	// number gives each submission the next id from 100 on.
	number = `n=$(grep -c '^sbatch' "$(dirname "$0")/calls"); echo $((99 + n))`
)

func TestReadLimits(t *testing.T) {
	for _, tc := range []struct {
		name, scontrol, sacctmgr string
		want                     Limits
		fault                    string
	}{
		{"without accounting", config, "exit 1", Limits{ArrayTasks: 10}, ""},
		{"without a limit", config, "echo", Limits{ArrayTasks: 10}, ""},
		{"the least of some", config, `printf '50\n\n20\n'`, Limits{10, 20}, ""},
		{"no arrays", "echo MaxArraySize = 0", "exit 1", Limits{}, "MaxArraySize is 0"},
		{"no cluster", "echo no route >&2; exit 1", "exit 1", Limits{}, "no route"},
	} {
		fakeSlurm(t, map[string]string{"scontrol": tc.scontrol, "sacctmgr": tc.sacctmgr})
		got, err := ReadLimits(t.Context())
		if tc.fault != "" {
			if err == nil || !strings.Contains(err.Error(), tc.fault) {
				t.Errorf("%s: %v, want an error that says %q", tc.name, err, tc.fault)
			}
			continue
		}
		if err != nil || got != tc.want {
			t.Errorf("%s: %+v, %v; want %+v", tc.name, got, err, tc.want)
		}
	}
}

// plan25 is a plan of 25 shards.
func plan25(t *testing.T) Plan {
	t.Helper()
	p := newPlan(t)
	jobs, shards := Cut(grid(25, 1)[:25], progress.NewForecast(), 1, Size{Shards: 25})
	return NewPlan(3, "00", p.Plan, jobs, shards)
}

func lines(t *testing.T, path, prefix string) (out []string) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(line, prefix) {
			out = append(out, strings.TrimSpace(line))
		}
	}
	return out
}

// Shards are submitted as arrays that MaxArraySize allows, and the merge waits for all of them.
func TestSubmit(t *testing.T) {
	f := newFolder(t)
	calls := fakeSlurm(t, map[string]string{"scontrol": config, "sacctmgr": "exit 1", "squeue": "", "sbatch": number})
	s, err := f.Submit(t.Context(), plan25(t), true)
	if err != nil {
		t.Fatal(err)
	}
	want := Submission{Submission: 3, Arrays: []Array{{"100", 0, 10}, {"101", 10, 10}, {"102", 20, 5}}, Merge: "103"}
	if d := cmp.Diff(want, s); d != "" || s.Shards() != 25 {
		t.Error(d)
	}
	if noted, err := f.Submission(); err != nil || cmp.Diff(want, noted) != "" {
		t.Errorf("noted is %+v, %v", noted, err)
	}
	wantCalls := []string{
		"sbatch --parsable --array=1-10 " + f.job() + " 0",
		"sbatch --parsable --array=1-10 " + f.job() + " 10",
		"sbatch --parsable --array=1-5 " + f.job() + " 20",
		"sbatch --parsable --dependency=afterany:100:101:102 " + f.merge(),
	}
	if got := lines(t, calls, "sbatch"); !slices.Equal(got, wantCalls) {
		t.Errorf("calls\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(wantCalls, "\n"))
	}
}

// Submit submits no more tasks than MaxSubmitJobs allows, with those in the queue and the merge.
func TestSubmitWithinMaxSubmitJobs(t *testing.T) {
	f := newFolder(t)
	programs := map[string]string{"scontrol": config, "sacctmgr": "echo 20", "squeue": `printf '7|1|RUNNING|0:01|n1\n8|N/A|PENDING|0:00|\n9|3|COMPLETED|0:01|n1\n'`, "sbatch": number}
	fakeSlurm(t, programs)
	s, err := f.Submit(t.Context(), plan25(t), true)
	if err != nil || s.Shards() != 17 || len(s.Arrays) != 2 {
		t.Errorf("submitted %+v, %v; want 17 shards", s, err)
	}
	programs["sacctmgr"] = "echo 3"
	fakeSlurm(t, programs)
	if _, err := f.Submit(t.Context(), plan25(t), true); err == nil || !strings.Contains(err.Error(), "MaxSubmitJobs") {
		t.Errorf("a full queue: %v", err)
	}
}

// If Slurm refuses an array, the folder records those before it.
func TestSubmitRefused(t *testing.T) {
	f := newFolder(t)
	fakeSlurm(t, map[string]string{"scontrol": config, "sacctmgr": "exit 1", "squeue": "", "sbatch": `case "$*" in *" 10") echo job limit >&2; exit 1;; esac; echo 100`})
	_, err := f.Submit(t.Context(), plan25(t), true)
	if err == nil || !strings.Contains(err.Error(), "from 11 on") || !strings.Contains(err.Error(), "job limit") {
		t.Errorf("%v", err)
	}
	if noted, err := f.Submission(); err != nil || noted.Shards() != 10 || noted.Merge != "" {
		t.Errorf("noted is %+v, %v", noted, err)
	}
}

func TestCheckEnded(t *testing.T) {
	f := newFolder(t)
	fakeSlurm(t, map[string]string{"squeue": "exit 1"})
	if err := f.CheckEnded(t.Context()); err != nil {
		t.Errorf("nothing was submitted, and Slurm is asked: %v", err)
	}
	if err := f.writeSubmission(Submission{Submission: 1, Arrays: []Array{{"100", 0, 10}}, Merge: "101"}); err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct{ queue, self, want string }{
		{`exit 1`, "", "cannot tell whether"},
		{`printf '100|3|COMPLETED|0:01|n1\n77|1|RUNNING|0:01|n1\n'`, "", ""},
		{`printf '100|3|PENDING|0:00|\n100|4|RUNNING|0:01|n1\n'`, "", "2 tasks of submission 1 still wait or run"},
		{`printf '101|N/A|RUNNING|0:01|n1\n'`, "", "scancel 101"},
		{`printf '101|N/A|RUNNING|0:01|n1\n'`, "101", ""},
		{`echo '100|3'`, "", "expected 5 fields"},
	} {
		fakeSlurm(t, map[string]string{"squeue": tc.queue})
		t.Setenv("SLURM_JOB_ID", tc.self)
		err := f.CheckEnded(t.Context())
		if (err == nil) != (tc.want == "") || err != nil && !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: %v, want %q", tc.queue, err, tc.want)
		}
	}
}

// The status of shards comes from their stores; Slurm adds the states of tasks, from the queue rather than accounting.
func TestStatus(t *testing.T) {
	f, p := newFolder(t), newPlan(t)
	if err := f.Write(p, Scripts{CPUs: 1, Time: TimeLimit(p.Shards)}); err != nil {
		t.Fatal(err)
	}
	if err := f.writeSubmission(Submission{Submission: 1, Arrays: []Array{{"100", 0, 2}, {"101", 2, 1}}}); err != nil {
		t.Fatal(err)
	}
	want := Status{Spec: "small", Submission: 1, Shards: []ShardStatus{
		{Shard: 1, Jobs: 2, Task: "100_1", State: "cancelled", Spent: "00:00:05", Node: "n1"},
		{Shard: 2, Jobs: 2, Task: "100_2", State: "running", Spent: "0:09", Node: "n2"},
		{Shard: 3, Jobs: 2, Task: "101_1", State: "pending", Spent: "0:00"},
		{Shard: 4, Jobs: 2},
	}}
	programs := map[string]string{
		"sacct":  `printf '100_1|CANCELLED by 0|00:00:05|n1\n100_2|FAILED|00:00:01|n1\n101_[1]|PENDING|00:00:00|None assigned\n'`,
		"squeue": `printf '100|2|RUNNING|0:09|n2\n101|1|PENDING|0:00|\n'`,
	}
	fakeSlurm(t, programs)
	got, err := f.Status(t.Context())
	if d := cmp.Diff(want, got); d != "" || err != nil {
		t.Errorf("%v\n%s", err, d)
	}
	programs["squeue"], programs["sacct"] = "echo down >&2; exit 1", "exit 1"
	fakeSlurm(t, programs)
	if got, err = f.Status(t.Context()); err != nil || !strings.Contains(got.Unknown, "down") || got.Shards[0].State != "" || got.Shards[0].Missing() != 2 {
		t.Errorf("without Slurm: %+v, %v", got, err)
	}
}

func TestTimeLimit(t *testing.T) {
	if got := TimeLimit([]Shard{{Seconds: 61}, {Seconds: 1}}).Minutes(); got != 13 {
		t.Errorf("%v minutes, want 13", got)
	}
}

// The scripts equal those in testdata; a folder whose name a script cannot contain is refused.
func TestScripts(t *testing.T) {
	f, p := newFolder(t), newPlan(t)
	s := Scripts{
		Partition: "long", CPUs: 2, Memory: 8, Time: TimeLimit(p.Shards), Sbatch: []string{"--account=lab"},
		Dir: "'/my work'", Shard: "ssdl run table1 --plan=plan.json", Final: "ssdl submit table1 --final",
	}
	if err := f.Write(p, s); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{f.job(), f.merge()} {
		got, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		want, err := os.ReadFile(filepath.Join("testdata", filepath.Base(path)))
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(string(want), strings.ReplaceAll(string(got), string(f), "DIR")); d != "" {
			t.Errorf("%s:\n%s", filepath.Base(path), d)
		}
	}
	if _, err := NewFolder(filepath.Join(t.TempDir(), "100%")); err == nil {
		t.Error("a folder with a percent sign")
	}
}
