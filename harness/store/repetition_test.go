package store

import (
	"errors"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"ssdl/harness/job"
)

// A repetition is read back as it was recorded, stays in its store, and goes with its run.
func TestRepetitions(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "runs.db")
	s, jobs, uids := faultStore(t, path)
	again := Repetition{
		Run: uids[0], Started: start.Add(time.Minute), Workers: 3, Env: map[string]string{"executable": "e"},
		Code: job.Fingerprints{Method: "m", Pretext: "p", Protocol: "q"},
	}
	differs := again
	differs.Run, differs.Started, differs.Env, differs.Differs = uids[2], start, nil, "1 of 6 predictions"
	for _, r := range []Repetition{again, differs} {
		if err := s.RecordRepetition(t.Context(), r); err != nil {
			t.Fatal(err)
		}
	}
	unknown := again
	unknown.Run = NewUID()
	if err := s.RecordRepetition(t.Context(), unknown); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the repetition of no run: %v", err)
	}
	got, err := s.Repetitions(t.Context(), []string{uids[0], uids[2], unknown.Run})
	if err != nil {
		t.Fatal(err)
	}
	for i, r := range got {
		if r.EnvID == "" {
			t.Errorf("%+v has no environment", r)
		}
		got[i].EnvID = ""
	}
	differs.Env = map[string]string{}
	if diff := cmp.Diff([]Repetition{differs, again}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}

	into := openStore(t, filepath.Join(dir, "into.db"))
	if _, err := into.Merge(t.Context(), MergeOptions{Deterministic: func(Job) bool { return false }}, Source{Name: "runs.db", Path: path}); err != nil {
		t.Fatal(err)
	}
	if got, err := into.Repetitions(t.Context(), uids); err != nil || len(got) != 0 {
		t.Errorf("imported: %v, %v; want none", got, err)
	}

	if _, err := s.Prune(t.Context()); err != nil { // uids[2] was replaced
		t.Fatal(err)
	}
	if got, err := s.Repetitions(t.Context(), uids); err != nil || len(got) != 1 || got[0].Run != uids[0] {
		t.Errorf("after its run was removed: %v, %v", got, err)
	}
	if _, run, err := s.RunByUID(t.Context(), uids[0]); err != nil || run.JobKey != jobs[0].Key() {
		t.Errorf("run %+v, %v", run, err)
	}
}

// A changed repetition is ignored, and Check reports it.
func TestChangedRepetition(t *testing.T) {
	for _, query := range []string{
		`UPDATE repetitions SET differs = ''`,
		`UPDATE repetitions SET workers = 2`,
		`UPDATE repetitions SET protocol_code = 'x'`,
		`UPDATE repetitions SET started = 'today'`,
		`UPDATE repetitions SET uid = (SELECT uid FROM runs WHERE id = 2)`,
	} {
		s, _, uids := faultStore(t, filepath.Join(t.TempDir(), "runs.db"))
		if err := s.RecordRepetition(t.Context(), Repetition{Run: uids[0], Started: start, Workers: 1, Differs: "the metric accuracy"}); err != nil {
			t.Fatal(err)
		}
		if _, err := s.w.Exec(query); err != nil {
			t.Fatal(err)
		}
		got, err := s.Repetitions(t.Context(), uids)
		if err != nil || len(got) != 0 {
			t.Errorf("%s: %v, %v", query, got, err)
		}
		report, err := s.Check(t.Context(), nil, nil)
		if err != nil || report.Repetitions != 1 || len(report.Faults) != 1 || !strings.Contains(report.Faults[0].Error(), "repetition") {
			t.Errorf("%s: %+v, %v", query, report, err)
		}
	}
}
