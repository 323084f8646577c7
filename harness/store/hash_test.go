package store

import (
	"cmp"
	"encoding/hex"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"ssdl/harness/job"

	gocmp "github.com/google/go-cmp/cmp"
)

// The canonical form is fixed by every existing store: it must not change.
func TestCanonicalFormIsFrozen(t *testing.T) {
	r := canonicalRun{
		hashed: hashedRecorded, uid: "0a", job: "k", status: "ok", started: "2026-11-03T09:30:00.123456Z", wall: 1.5, cpu: 0.25, peak: 1 << 31,
		env: "e", code: job.Fingerprints{Method: "m"}, reason: "r", series: "s", predictions: "p", truth: "t",
		metrics: []measured{{"accuracy", 0.75}, {"loss", math.Copysign(0, -1)}},
	}
	const want = "7373646c2072756e20310a" + // "ssdl run 1\n"
		"087265636f72646564" + "023061" + "016b" + "026f6b" + "00" + // recorded, uid, job, ok, no error
		"1b323032362d31312d30335430393a33303a30302e3132333435365a" +
		"3ff8000000000000" + "3fd0000000000000" + "0000000080000000" + // wall, cpu, peak
		"0165" + "016d" + "00" + "00" + "0172" + "00" + "0173" + "0170" + "0174" + // env, code, reason, hashes
		"02" + "086163637572616379" + "3fe8000000000000" + "046c6f7373" + "0000000000000000"
	if got := hex.EncodeToString(r.appendTo(nil)); got != want {
		t.Errorf("canonical form\n%s, want\n%s", got, want)
	}
	if got, want := r.hash(), "aab3df07d86f6ad5feafda88126164698a162b96cc62fe285d2abc33db87f305"; got != want {
		t.Errorf("hash %s, want %s", got, want)
	}
	r.command = "c"
	if got := hex.EncodeToString(r.appendTo(nil)); got != want+"0163" {
		t.Errorf("with a program it is\n%s, want\n%s0163", got, want)
	}
	if got, want := commandHash(&Command{"crashed", "no", "out", ""}), sum([]byte("ssdl command 1\n\x07crashed\x02no\x03out\x00")); got != want {
		t.Errorf("hash of a program is %s, want %s", got, want)
	}
	points := []Point{{"b", 0, 1}, {"a", 2, 1}, {"a", 1, 0.5}}
	if got, want := seriesHash(points), sum(slices.Concat([]byte("ssdl series 1\n"),
		[]byte("\x01a\x00\x00\x00\x00\x00\x00\x00\x01\x3f\xe0\x00\x00\x00\x00\x00\x00"),
		[]byte("\x01a\x00\x00\x00\x00\x00\x00\x00\x02\x3f\xf0\x00\x00\x00\x00\x00\x00"),
		[]byte("\x01b\x00\x00\x00\x00\x00\x00\x00\x00\x3f\xf0\x00\x00\x00\x00\x00\x00"))); got != want {
		t.Errorf("hash of a series is %s, want %s", got, want)
	}
	if seriesHash(nil) != "" || classesHash(nil) != "" {
		t.Error("nothing has a hash")
	}
}

// Values that SQLite stores in another form, or writes as text, have the same hash.
func TestNumbersKeepTheirHash(t *testing.T) {
	s := newStore(t, filepath.Join(t.TempDir(), "runs.db"))
	run := newRun(start)
	run.Metrics = map[string]float64{
		"negative zero": math.Copysign(0, -1), "integer": 3, "large": 1e300, "small": 5e-324, "third": 1. / 3, "tenth": 0.1, "max": math.MaxFloat64,
		`quoted "name" \`: 0.5, "ümlaut": -1, "2^53": 1 << 53,
	}
	run.Series = []Point{{"s", 0, math.Copysign(0, -1)}, {"s", -1, 7}}
	job := newJob("m", 1, 1)
	record(t, s, job, run)
	if _, _, err := s.RunByUID(t.Context(), run.UID); err != nil {
		t.Error(err)
	}
	want := run.Metrics
	got := finished(t, s, job)
	if d := gocmp.Diff(want, got.Metrics); got.Fault != nil || d != "" {
		t.Errorf("%v\n%s", got.Fault, d)
	}
}

// finished is the result of a job.
func finished(t testing.TB, s *Store, job Job, metrics ...string) Result {
	t.Helper()
	got, err := s.Finished(t.Context(), []string{job.Key()}, metrics...)
	if err != nil {
		t.Fatal(err)
	}
	return got[job.Key()]
}

// The file that changes are tried on: two jobs with a run each, and one with two runs, the later of which
// replaced the earlier.
func faultStore(t testing.TB, path string) (s *Store, jobs []Job, uids []string) {
	t.Helper()
	s = newStore(t, path)
	for i, name := range []string{"crc", "lc-ksvd", "ssdl"} {
		jobs = append(jobs, newJob(name, 1, 1))
		run := newRun(start.Add(time.Duration(i) * time.Hour))
		run.Predictions[0] = i
		record(t, s, jobs[i], run)
		uids = append(uids, run.UID)
	}
	later := newRun(start.Add(time.Hour))
	later.Replaces = uids[2]
	record(t, s, jobs[2], later)
	return s, jobs, append(uids, later.UID)
}

// Every reader notices a change made to the file by SQL, and still returns the other runs.
func TestChangesAreNoticed(t *testing.T) {
	for _, c := range []struct {
		name  string
		query string
		cheap string   // what Finished says of CRC's result; empty if only the whole run tells
		whole string   // what the run itself says, and Check
		also  []string // methods of other jobs that are hit
	}{
		{"metric", `UPDATE metrics SET value = 0.999 WHERE run = 1 AND name = 'accuracy'`, "record hash", "record hash", nil},
		{"last bit of a metric", `UPDATE metrics SET value = value + 5.6e-17 WHERE run = 1 AND name = 'accuracy'`, "record hash", "record hash", nil},
		{"other metric", `UPDATE metrics SET value = 7 WHERE run = 1 AND name = 'loss'`, "record hash", "record hash", nil},
		{"infinite metric", `UPDATE metrics SET value = 9e999 WHERE run = 1 AND name = 'loss'`, "loss is +Inf", "loss is +Inf", nil},
		{"metric removed", `DELETE FROM metrics WHERE run = 1 AND name = 'loss'`, "record hash", "record hash", nil},
		{"metric added", `INSERT INTO metrics VALUES (1, 'zzz', 0)`, "record hash", "record hash", nil},
		{"wall time", `UPDATE runs SET wall = 0.1 WHERE id = 1`, "record hash", "record hash", nil},
		{"endless wall time", `UPDATE runs SET wall = 1e300 WHERE id = 1`, "record hash", "duration", nil},
		{"CPU time", `UPDATE runs SET cpu = 0.1 WHERE id = 1`, "record hash", "record hash", nil},
		{"peak", `UPDATE runs SET peak = NULL WHERE id = 1`, "record hash", "record hash", nil},
		{"start", `UPDATE runs SET started = '2001-01-01T00:00:00.000000Z' WHERE id = 1`, "record hash", "record hash", nil},
		{"start that is none", `UPDATE runs SET started = 'yesterday' WHERE id = 1`, "record hash", "start time", nil},
		{"code", `UPDATE runs SET method_code = '00' WHERE id = 1`, "record hash", "record hash", nil},
		{"pretext's code", `UPDATE runs SET pretext_code = '' WHERE id = 1`, "record hash", "record hash", nil},
		{"protocol's code", `UPDATE runs SET protocol_code = 'b' WHERE id = 1`, "record hash", "record hash", nil},
		{"reason", `UPDATE runs SET reason = '' WHERE id = 1`, "record hash", "record hash", nil},
		{"mark of a migration", `UPDATE runs SET hashed = 'migrated' WHERE id = 1`, "record hash", "record hash", nil},
		{"separator in a text", `UPDATE runs SET method_code = 'a' || char(31) WHERE id = 1`, "text is not separable", "text is not separable", nil},
		{"uid", `UPDATE runs SET uid = '00' WHERE id = 1`, "record hash", "", nil},
		{"environment", `UPDATE envs SET facts = '{"commit":"abd"}'`, "environment", "environment", []string{"lc-ksvd", "ssdl"}},
		{"another environment", `INSERT INTO envs VALUES ('` + sum([]byte(`{}`)) + `', '{}'); UPDATE runs SET env = '` + sum([]byte(`{}`)) + `' WHERE id = 1`, "record hash", "record hash", nil},
		{"runs of two jobs swapped", `UPDATE runs SET job = 3 - job WHERE id < 3`, "record hash", "record hash", []string{"lc-ksvd"}},
		{
			"keys of two jobs swapped", `UPDATE jobs SET key = 'x' WHERE id = 1; UPDATE jobs SET key = (SELECT '` + newJob("crc", 1, 1).Key() + `') WHERE id = 2; UPDATE jobs SET key = '` + newJob("lc-ksvd", 1, 1).Key() + `' WHERE id = 1`,
			"identity is that of job", "",
			[]string{"lc-ksvd"},
		},
		{"identity", `UPDATE jobs SET identity = json_set(identity, '$.seed', 7) WHERE id = 1`, "identity is that of job", "identity is that of job", nil},
		{"method of a job", `UPDATE jobs SET method = 'ssdl' WHERE id = 1`, "", `method is "ssdl", expected "crc"`, nil},
		{"series", `UPDATE series SET value = 0.5 WHERE run = 1 AND iteration = 2`, "", "series of run", nil},
		{"series and its hash", `DELETE FROM series WHERE run = 1; UPDATE runs SET series_hash = '' WHERE id = 1`, "record hash", "record hash", nil},
		{"predictions", `UPDATE predictions SET classes = X'000102030405' WHERE run = 1`, "", "predictions of run", nil},
		{"number of predictions", `UPDATE predictions SET samples = 5 WHERE run = 1`, "", "predictions of run", nil},
		{"predictions and their hash", `UPDATE predictions SET classes = X'000102030405', sha256 = '` + sum([]byte{0, 1, 2, 3, 4, 5}) + `' WHERE run = 1`, "record hash", "record hash", nil},
		{"no predictions", `DELETE FROM predictions WHERE run = 1`, "record hash", "record hash", nil},
		{"truth", `UPDATE truths SET classes = X'000102030405'`, "", "list of true classes", nil},
		{"truth of another run", `INSERT INTO truths VALUES ('` + sum([]byte{0}) + `', 1, X'00'); UPDATE predictions SET truth = '` + sum([]byte{0}) + `' WHERE run = 1`, "record hash", "record hash", nil},
		{"what a program printed", `UPDATE commands SET stderr = X'78' WHERE run = 1`, "", "program of run", nil},
		{"no program", `DELETE FROM commands WHERE run = 1`, "", "program of run", nil},
		{"no program and no hash of it", `DELETE FROM commands WHERE run = 1; UPDATE runs SET command_hash = '' WHERE id = 1`, "record hash", "record hash", nil},
		{"hash", `UPDATE runs SET record_hash = '' WHERE id = 1`, "record hash", "record hash", nil},
		{"superseded by nobody", `INSERT INTO replaced SELECT uid, 'ff' FROM runs WHERE id = 1`, "successor is run ff, which is missing", "", nil},
		{"superseded by another", `INSERT INTO replaced SELECT uid, (SELECT uid FROM runs WHERE id = 2) FROM runs WHERE id = 1`, "which does not say so", "", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "runs.db")
			s, jobs, uids := faultStore(t, path)
			if _, err := s.w.Exec("PRAGMA foreign_keys = off; PRAGMA ignore_check_constraints = on; " + c.query); err != nil {
				t.Fatal(err)
			}
			got, err := s.Finished(t.Context(), []string{jobs[0].Key(), jobs[1].Key(), jobs[2].Key()}, "accuracy")
			if err != nil {
				t.Fatal(err)
			}
			for i, j := range jobs {
				r := got[j.Key()]
				want := ""
				if i == 0 || slices.Contains(c.also, j.Method.Name) {
					want = c.cheap
				}
				switch {
				case want == "" && (r.Fault != nil || r.Metrics["accuracy"] != 1./3):
					t.Errorf("%s: %+v, %v", j.Method.Name, r, r.Fault)
				case want != "" && (r.Fault == nil || !strings.Contains(r.Fault.Error(), want) || r.Metrics != nil):
					t.Errorf("%s: fault %v, want %q", j.Method.Name, r.Fault, want)
				}
			}
			if c.whole != "" {
				_, _, err := s.RunByUID(t.Context(), uids[0])
				wantError(t, err, path, uids[0], c.whole)
			}
			faulty := map[string]bool{}
			if err := s.Each(t.Context(), nil, func(r RunRecord) error {
				faulty[r.Run.UID] = len(r.Faults) > 0
				return nil
			}); err != nil || len(faulty) != 4 || c.whole != "" && !faulty[uids[0]] || len(c.also) == 0 && c.name != "truth" && faulty[uids[1]] {
				t.Errorf("runs with faults: %v, %v", faulty, err)
			}
			report, err := s.Check(t.Context(), nil, nil)
			if err != nil || len(report.Faults) == 0 || report.Runs != 4 {
				t.Fatalf("%+v, %v", report, err)
			}
			if !slices.ContainsFunc(report.Faults, func(f Fault) bool { return strings.Contains(f.Error(), cmp.Or(c.whole, c.cheap)) }) {
				t.Errorf("faults: %v", report.Faults)
			}
		})
	}
}

// The record of a run says which run it superseded: deleting the entry, which would make the earlier run
// current again, is noticed.
func TestMissingSupersession(t *testing.T) {
	s, jobs, uids := faultStore(t, filepath.Join(t.TempDir(), "runs.db"))
	if got := finished(t, s, jobs[2]); got.UID != uids[3] || got.Fault != nil {
		t.Fatalf("%+v", got)
	}
	if _, err := s.w.Exec("DELETE FROM replaced"); err != nil {
		t.Fatal(err)
	}
	if got := finished(t, s, jobs[2]); got.Fault == nil || got.Fault.ID != uids[3] || got.Fault.What != "superseded run" {
		t.Errorf("%+v", got)
	}
}

// A whole file without a fault is counted.
func TestCheck(t *testing.T) {
	s, _, _ := faultStore(t, filepath.Join(t.TempDir(), "runs.db"))
	record(t, s, newJob("src", 1, 1), failed(newRun(start), StatusError, "line one\nline two \x1f"))
	var verified []string
	var done []int
	report, err := s.Check(t.Context(), func(r RunRecord) error {
		verified = append(verified, r.Job.Method.Name)
		if len(r.Run.Truth) > 0 && r.Dataset.Classes != 8 {
			t.Errorf("%+v", r)
		}
		return nil
	}, func(n, total int) { done = append(done, n, total) })
	want := Report{
		Datasets: 1, Splits: 1, Names: 2, Envs: 1, Truths: 1, Jobs: 4, Superseded: 1,
		Runs: 5, Metrics: 8, Points: 12, Predictions: 4, Faults: []Fault{},
	}
	if d := gocmp.Diff(want, report); err != nil || d != "" {
		t.Errorf("%v\n%s", err, d)
	}
	if d := gocmp.Diff([]int{5, 5}, done); d != "" || len(verified) != 5 {
		t.Errorf("progress %v, verified %v", done, verified)
	}

	// What the caller finds is a fault, as its text or as it is.
	mine := Fault{"metrics", "u", "accuracy", "0.9", "0.5"}
	report, err = s.Check(t.Context(), func(r RunRecord) error {
		switch r.Job.Method.Name {
		case "crc":
			return mine
		case "src":
			return os.ErrInvalid
		}
		return nil
	}, nil)
	if err != nil || len(report.Faults) != 2 || !slices.Contains(report.Faults, mine) ||
		!slices.ContainsFunc(report.Faults, func(f Fault) bool { return f.Is == os.ErrInvalid.Error() && f.Table == "runs" }) {
		t.Errorf("%+v, %v", report, err)
	}
}

// Check goes on after every fault, also after pages that cannot be read.
func TestCheckOfADamagedFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "runs.db")
	s, _, _ := faultStore(t, path)
	for i := range 40 {
		record(t, s, newJob("filler", uint64(i), 1), bigRun())
	}
	if _, err := s.w.Exec("PRAGMA wal_checkpoint(TRUNCATE)"); err != nil {
		t.Fatal(err)
	}
	s.Close()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for i := len(b) / 2; i < len(b)/2+3*4096; i++ {
		b[i] ^= 0xa5
	}
	if err := os.WriteFile(path, b, 0o644); err != nil {
		t.Fatal(err)
	}
	damaged, err := OpenReadOnly(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer damaged.Close()
	report, err := damaged.Check(t.Context(), nil, nil)
	if err != nil || len(report.Faults) < 2 || report.Runs < 30 || report.Jobs != 43 {
		t.Errorf("%d runs, %d faults, %v", report.Runs, len(report.Faults), err)
	}
}

// Predictions come with the true classes, and each list of these is read once.
func TestPredictions(t *testing.T) {
	s, _, uids := faultStore(t, filepath.Join(t.TempDir(), "runs.db"))
	none := newRun(start)
	none.Predictions, none.Truth = nil, nil
	record(t, s, newJob("none", 1, 1), none)
	got, err := s.Predictions(t.Context(), append(uids, none.UID, "unknown"))
	if err != nil || len(got) != 5 {
		t.Fatalf("%v, %v", got, err)
	}
	first := got[uids[0]]
	if d := gocmp.Diff(newRun(start).Truth, first.Truth); d != "" || first.Predictions[5] != 100000 || first.Classes != 8 || first.Fault != nil {
		t.Errorf("%+v\n%s", first, d)
	}
	if &first.Truth[0] != &got[uids[1]].Truth[0] {
		t.Error("the true classes are there twice")
	}
	if got[none.UID].Predictions != nil || got[none.UID].Fault != nil {
		t.Errorf("%+v", got[none.UID])
	}
	if _, err := s.w.Exec("UPDATE predictions SET classes = X'010102030405' WHERE run = 1"); err != nil {
		t.Fatal(err)
	}
	if got, err = s.Predictions(t.Context(), uids); err != nil || got[uids[0]].Fault == nil || got[uids[0]].Predictions != nil || got[uids[1]].Fault != nil {
		t.Errorf("%+v, %v", got, err)
	}
}

// Faults of a file are shown on one line, as text and short.
func TestFaultIsPlain(t *testing.T) {
	err := Fault{"jobs", "a\x1b[2J", "data set", strings.Repeat("x", 1000), "d\n"}
	wantError(t, err, `job "a\x1b[2J": its data set is xxx`, `expected "d\n"`)
	if n := len(err.Error()); n > 300 {
		t.Errorf("%d characters", n)
	}
}
