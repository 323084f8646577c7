package store

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

const (
	hashD = "d0d0d0d0"
	hashS = "50505050"
)

// merge merges the files at paths.
func merge(t testing.TB, s *Store, paths ...string) (Merged, error) {
	t.Helper()
	var files []Source
	for _, p := range paths {
		files = append(files, Source{Name: filepath.Base(p), Path: p})
	}
	return s.Merge(t.Context(), MergeOptions{}, files...)
}

// realJob is a job of the data set and split that shard registers.
func realJob(method string, seed uint64) Job {
	j := newJob(method, seed, 1)
	j.DatasetHash, j.SplitHash = hashD, hashS
	return j
}

// shard makes a store that can be merged: data set, split, and what fill records.
func shard(t testing.TB, path string, fill func(s *Store)) string {
	t.Helper()
	s, err := Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	d, p := dataset, split
	d.Hash, p.Hash, p.Dataset = hashD, hashS, hashD
	if err := s.Register(t.Context(), []Dataset{d}, []NamedSplit{p}); err != nil {
		t.Fatal(err)
	}
	fill(s)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}

func openStore(t testing.TB, path string) *Store {
	t.Helper()
	s, err := Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// content is the content of a store without row ids.
func content(t testing.TB, s *Store) (all []RunRecord) {
	t.Helper()
	if err := s.Each(t.Context(), nil, func(r RunRecord) error {
		all = append(all, r)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return all
}

// contentOfAll is content without times of import.
func contentOfAll(t testing.TB, s *Store) []RunRecord {
	all := content(t, s)
	for i := range all {
		if all[i].Run.Origin == nil {
			t.Errorf("run %s has no origin", all[i].Run.UID)
		}
		all[i].Run.Origin = nil
	}
	return all
}

func TestMerge(t *testing.T) {
	dir := t.TempDir()
	common := newRun(start)
	fillA := func(s *Store) {
		record(t, s, realJob("ssdl", 1000), common)
		record(t, s, realJob("ssdl", 1001), failed(newRun(start.Add(time.Minute)), StatusTimeout, "too long"))
	}
	fillB := func(s *Store) {
		other := newRun(start.Add(-time.Hour))
		other.Env = map[string]string{"commit": "def"}
		record(t, s, realJob("src", 1000), other) // other row numbers than in a
		record(t, s, realJob("ssdl", 1000), common)
		record(t, s, realJob("ssdl", 1001), newRun(start.Add(time.Hour)))
		better := newRun(start.Add(2 * time.Hour))
		better.Replaces = common.UID
		record(t, s, realJob("ssdl", 1000), better)
	}
	a, b := shard(t, filepath.Join(dir, "a.db"), fillA), shard(t, filepath.Join(dir, "b.db"), fillB)

	s := openStore(t, filepath.Join(dir, "into.db"))
	m, err := merge(t, s, a, b)
	if want := (Merged{Runs: 5, Jobs: 3, Datasets: 1, Splits: 1}); err != nil || cmp.Diff(want, m) != "" {
		t.Fatalf("merged %+v, %v; want %+v", m, err, want)
	}
	if n := count(t, s, "SELECT count(*) FROM metrics") + count(t, s, "SELECT count(*) FROM series") + count(t, s, "SELECT count(*) FROM predictions"); n != 4*(2+3+1) {
		t.Errorf("there are %d parts of four runs", n)
	}
	m, err = merge(t, s, b, a, filepath.Join(dir, "into.db"))
	if want := (Merged{Known: 5}); err != nil || cmp.Diff(want, m) != "" {
		t.Errorf("merged again: %+v, %v; want %+v", m, err, want)
	}

	// One after the other, in the other order, gives the same store.
	r := openStore(t, filepath.Join(dir, "reverse.db"))
	for _, path := range []string{b, a} {
		if _, err := merge(t, r, path); err != nil {
			t.Fatal(err)
		}
	}
	one, two := contentOfAll(t, s), contentOfAll(t, r)
	if d := cmp.Diff(one, two); d != "" {
		t.Errorf("the order of the files matters:\n%s", d)
	}
	if n := count(t, s, "SELECT count(*) FROM replaced WHERE uid = '"+common.UID+"'"); n != 1 {
		t.Errorf("run %s is replaced %d times, want once", common.UID, n)
	}
	states, err := s.State(t.Context(), []string{realJob("ssdl", 1001).Key()})
	if err != nil || states[0].UID == "" || states[0].Failed != 1 {
		t.Errorf("state after the merge: %+v, %v", states, err)
	}
}

// A live store, with its log beside it, can be imported from: nothing is missing.
func TestMergeFromStoreInUse(t *testing.T) {
	dir := t.TempDir()
	live := openStore(t, shard(t, filepath.Join(dir, "live.db"), func(*Store) {}))
	record(t, live, realJob("ssdl", 1), newRun(start))
	if isEmpty(filepath.Join(dir, "live.db-wal")) {
		t.Fatal("the log is empty: nothing is tested")
	}
	s := openStore(t, filepath.Join(dir, "into.db"))
	if m, err := merge(t, s, filepath.Join(dir, "live.db")); err != nil || m.Runs != 1 {
		t.Errorf("merged %+v, %v", m, err)
	}
}

// Every table of the schema is merged, belongs to a run, or stays in its store: the test finds a new table
// that is none of these.
func TestMergeKnowsAllTables(t *testing.T) {
	s := newStore(t, filepath.Join(t.TempDir(), "runs.db"))
	if err := s.read(t.Context(), "look", func(tx *sql.Tx) error {
		parts, err := partsOfRuns(t.Context(), tx)
		if err != nil {
			return err
		}
		all, err := texts(t.Context(), tx, `SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name`)
		known := append(parts, "datasets", "splits", "envs", "truths", "jobs", "origins", "runs", "replaced", "dataset_names", "split_names", "repetitions")
		merged := slices.Sorted(slices.Values(known))
		if d := cmp.Diff(all, merged); d != "" {
			t.Errorf("tables of the schema and tables that are known:\n%s", d)
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
}

// tamper changes a closed file by SQL.
func tamper(t testing.TB, path string, statements ...string) {
	t.Helper()
	db, err := sql.Open("sqlite3", dsn(path, lockWait, "_foreign_keys=off", "_ignore_check_constraints=1"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	db.SetMaxOpenConns(1)
	for _, q := range statements {
		if _, err := db.Exec(q); err != nil {
			t.Fatalf("%s: %v", q, err)
		}
	}
}

// rehash gives all runs of a closed file valid hashes again, as a forger can.
func rehash(t testing.TB, path string) {
	t.Helper()
	s := openStore(t, path)
	defer s.Close()
	if err := s.write(t.Context(), "rehash", func(tx *sql.Tx) error {
		rehash, err := hashMigrated(t.Context(), tx)
		if err != nil {
			return err
		}
		return rehash()
	}); err != nil {
		t.Fatal(err)
	}
}

// A faulty untrusted file is refused with the reason, and the store is unchanged.
func TestMergeRefuses(t *testing.T) {
	dir := t.TempDir()
	run := newRun(start)
	run.Command = nil // rehash is of schema 4
	fill := func(s *Store) {
		record(t, s, realJob("ssdl", 1000), run)
	}
	good := shard(t, filepath.Join(dir, "good.db"), fill)
	plain, err := os.ReadFile(good)
	if err != nil {
		t.Fatal(err)
	}
	write := func(content []byte) func(string) {
		return func(path string) {
			if err := os.WriteFile(path, content, 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	change := func(statements ...string) func(string) {
		return func(path string) {
			write(plain)(path)
			tamper(t, path, statements...)
		}
	}
	rehashed := func(statements ...string) func(string) {
		return func(path string) {
			change(statements...)(path)
			rehash(t, path)
		}
	}
	cut := slices.Clone(plain[:len(plain)-len(plain)/3])
	torn := slices.Clone(plain)
	for i := len(torn) / 2; i < len(torn)*3/4; i++ {
		torn[i] ^= 0xa5
	}

	for name, tc := range map[string]struct {
		make  func(path string)
		wants []string
	}{
		"missing":        {func(string) {}, []string{"there is no"}},
		"folder":         {func(path string) { os.Mkdir(path, 0o755) }, []string{"but a folder"}},
		"empty":          {write(nil), []string{"is empty"}},
		"no database":    {write(bytes.Repeat([]byte("not a database\n"), 300)), []string{"not an SQLite database"}},
		"cut short":      {write(cut), []string{"damaged"}},
		"torn":           {write(torn), []string{"damaged"}},
		"other program":  {change("PRAGMA application_id = 7"), []string{"another program"}},
		"newer":          {change("PRAGMA user_version = 999"), []string{"newer version"}},
		"never made":     {change("PRAGMA user_version = 0"), []string{"never made"}},
		"trigger":        {change("CREATE TRIGGER evil AFTER INSERT ON runs BEGIN DELETE FROM runs; END"), []string{"trigger evil", "no part of schema"}},
		"other view":     {change("DROP VIEW results", "CREATE VIEW results AS SELECT 1"), []string{"view results", "not that of schema"}},
		"missing table":  {change("DROP TABLE split_names"), []string{"split_names"}},
		"further table":  {change("CREATE TABLE more (x)"), []string{"table more"}},
		"uid":            {change("UPDATE runs SET uid = '../../etc'"), []string{"32 hexadecimal"}},
		"short uid":      {change("UPDATE runs SET uid = 'abc'"), []string{"32 hexadecimal"}},
		"time":           {change("UPDATE runs SET started = 'yesterday'"), []string{"yesterday", "a time in the form of"}},
		"wall":           {change("UPDATE runs SET wall = 1e300"), []string{"1e+300 s", run.UID}},
		"infinite":       {change("UPDATE metrics SET value = 9e999 WHERE name = 'accuracy'"), []string{"accuracy", run.UID, "+Inf, expected a finite number"}},
		"infinite trace": {change("UPDATE series SET value = -9e999 WHERE iteration = 2"), []string{"objective at iteration 2 is -Inf", run.UID}},
		"escape in name": {change("UPDATE datasets SET name = 'x' || char(27) || '[2J'"), []string{"control characters", `\x1b`}},
		"escape in facts": {change(fmt.Sprintf(`UPDATE envs SET facts = '{"go":"\u001b[2J"}', id = '%s'`, sum([]byte(`{"go":"\u001b[2J"}`))),
			"UPDATE runs SET env = (SELECT id FROM envs)"), []string{"control characters"}},
		"facts":           {change(`UPDATE envs SET facts = '{"commit":"abd"}'`), []string{"environment ", "its hash is"}},
		"key":             {change(`UPDATE jobs SET identity = json_set(identity, '$.seed', 7)`), []string{"job " + realJob("ssdl", 1000).Key(), "its identity is that of job"}},
		"predictions":     {change("UPDATE predictions SET classes = x'0102'"), []string{"predictions of run " + run.UID, "its hash is"}},
		"few predictions": {change("UPDATE predictions SET samples = 1000000000000"), []string{"its number is 1000000000000, expected at most 9"}},
		"orphan":          {change("DELETE FROM jobs"), []string{"of runs is without its row of jobs"}},
		"truth":           {change("UPDATE truths SET classes = x'000102030405'"), []string{"list of true classes", "its hash is"}},
		"class name":      {change(`UPDATE datasets SET class_names = '["\u001b[2J"]'`), []string{"class of data set", `\x1b`}},
		"class names":     {change(`UPDATE datasets SET class_names = '{}'`), []string{"class names is unreadable"}},
		"code":            {change("UPDATE runs SET method_code = '\u202e'"), []string{"no hash or uid"}},
		"replaced by none": {
			change("INSERT INTO replaced VALUES ('" + run.UID + "', '" + strings.Repeat("0", 32) + "')"),
			[]string{run.UID, "which is missing"},
		},
		"replaced by itself": {
			change("INSERT INTO replaced VALUES ('" + run.UID + "', '" + run.UID + "')"),
			[]string{run.UID, "which does not say so"},
		},
		"replaced in a circle": {
			change("INSERT INTO replaced VALUES ('"+run.UID+"', '"+strings.Repeat("0", 32)+"')", "INSERT INTO replaced VALUES ('"+strings.Repeat("0", 32)+"', '"+run.UID+"')"),
			[]string{run.UID, "which does not say so"},
		},
		"replaced by another job": {
			change("INSERT INTO jobs SELECT 99, '"+realJob("src", 1).Key()+"', '"+string(realJob("src", 1).Encode())+"', dataset, dataset_hash, split_hash, 'src', pretext, eval, 1 FROM jobs",
				"INSERT INTO runs (id, uid, job, status, error, started, wall, cpu, env) SELECT 99, '"+strings.Repeat("0", 32)+"', 99, status, error, started, wall, cpu, env FROM runs",
				"INSERT INTO replaced VALUES ('"+run.UID+"', '"+strings.Repeat("0", 32)+"')"),
			[]string{run.UID, "which does not say so"},
		},
		"job of another method":         {change("UPDATE jobs SET method = 'src'"), []string{realJob("ssdl", 1000).Key(), `its method is "src", expected "ssdl"`}},
		"job without a pretext":         {change("UPDATE jobs SET pretext = ''"), []string{"its pretext"}},
		"job of another seed":           {change("UPDATE jobs SET seed = -1"), []string{"its seed", "18446744073709551615"}},
		"job of another part":           {change("UPDATE jobs SET eval = 'val'"), []string{"its evaluation"}},
		"job of another split":          {change("INSERT INTO splits SELECT '51', dataset, kind, seed, train, labeled, test FROM splits", "UPDATE jobs SET split_hash = '51'"), []string{"its split"}},
		"name of no data set":           {change("UPDATE dataset_names SET dataset = 'd9'"), []string{"of dataset_names is without its row of datasets"}},
		"name with an escape":           {change("UPDATE split_names SET asked = char(27)"), []string{"control characters"}},
		"changed metric":                {change("UPDATE metrics SET value = 0.9 WHERE name = 'accuracy'"), []string{"run " + run.UID, "its record hash is"}},
		"changed metric, with its hash": {rehashed("UPDATE metrics SET value = 0.9 WHERE name = 'accuracy'"), []string{run.UID, "different metrics"}},
		"further metric":                {change("INSERT INTO metrics SELECT run, 'more', 1 FROM metrics LIMIT 1"), []string{"run " + run.UID, "its record hash is"}},
		"further metric, with its hash": {rehashed("INSERT INTO metrics SELECT run, 'more', 1 FROM metrics LIMIT 1"), []string{run.UID, "different metrics"}},
		"fewer points":                  {change("DELETE FROM series WHERE iteration = 2"), []string{"series of run " + run.UID, "its hash is"}},
		"fewer points, with its hash":   {rehashed("DELETE FROM series WHERE iteration = 2"), []string{run.UID, "different content"}},
		"replaced in a circle, beside a run": {
			change("INSERT INTO replaced VALUES ('"+run.UID+"', '"+strings.Repeat("0", 32)+"')", "INSERT INTO replaced VALUES ('"+strings.Repeat("0", 32)+"', '"+strings.Repeat("1", 32)+"')",
				"INSERT INTO replaced VALUES ('"+strings.Repeat("1", 32)+"', '"+strings.Repeat("0", 32)+"')"),
			[]string{strings.Repeat("0", 32), "which is missing", "2 more faults"},
		},
		"changed run":                {change("UPDATE runs SET wall = 1"), []string{"run " + run.UID, "its record hash is"}},
		"changed run, with its hash": {rehashed("UPDATE runs SET wall = 1"), []string{run.UID, "different content"}},
		"other data":                 {change("UPDATE datasets SET dim = 3"), []string{"data set " + hashD}},
		"other split":                {change("UPDATE splits SET test = 3"), []string{"split " + hashS}},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			into := shard(t, filepath.Join(dir, "into.db"), fill)
			s := openStore(t, into)
			before := content(t, s)
			path := filepath.Join(dir, "strange.db")
			tc.make(path)
			strange, _ := os.ReadFile(path)
			fresh := shard(t, filepath.Join(dir, "fresh.db"), func(s *Store) { record(t, s, realJob("src", 1), newRun(start)) })
			for _, paths := range [][]string{{path}, {fresh, path}} {
				m, err := merge(t, s, paths...)
				wantError(t, err, append(tc.wants, "strange.db")...)
				if strings.Contains(err.Error(), "\x1b") {
					t.Errorf("the message has control characters: %q", err)
				}
				if cmp.Diff(Merged{}, m) != "" {
					t.Errorf("merged %+v and an error", m)
				}
			}
			if d := cmp.Diff(before, content(t, s)); d != "" {
				t.Errorf("a refused file left something behind:\n%s", d)
			}
			if after, _ := os.ReadFile(path); !bytes.Equal(strange, after) {
				t.Error("the untrusted file was changed")
			}
		})
	}
}

// The same key with another identity, in the store itself: only a changed file has that.
func TestMergeRefusesOtherIdentity(t *testing.T) {
	dir := t.TempDir()
	fill := func(s *Store) { record(t, s, realJob("ssdl", 1), newRun(start)) }
	path, into := shard(t, filepath.Join(dir, "a.db"), fill), shard(t, filepath.Join(dir, "into.db"), fill)
	tamper(t, into, `UPDATE jobs SET identity = '{}'`)
	s := openStore(t, into)
	_, err := merge(t, s, path)
	wantError(t, err, "a.db", "job "+realJob("ssdl", 1).Key(), "not the one that is recorded")
	if n := count(t, s, "SELECT count(*) FROM runs"); n != 1 {
		t.Errorf("there are %d runs, want the one that was there", n)
	}
}

// Two files that contradict each other are refused before the store is touched.
func TestMergeRefusesContradictingFiles(t *testing.T) {
	dir := t.TempDir()
	run := newRun(start)
	a := shard(t, filepath.Join(dir, "a.db"), func(s *Store) { record(t, s, realJob("ssdl", 1), run) })
	run.Metrics = map[string]float64{"accuracy": 0.25}
	b := shard(t, filepath.Join(dir, "b.db"), func(s *Store) { record(t, s, realJob("ssdl", 1), run) })
	s := openStore(t, filepath.Join(dir, "into.db"))
	_, err := merge(t, s, a, b)
	wantError(t, err, "a.db", "b.db", run.UID)
	if n := count(t, s, "SELECT count(*) FROM datasets"); n != 0 {
		t.Errorf("%d data sets were imported", n)
	}
}

// A file of an older schema is converted on a copy and stays as it is.
func TestMergeConvertsOlderSchema(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "old.db")
	db, err := sql.Open("sqlite3", dsn(path, lockWait, "mode=rwc", "_txlock=immediate"))
	if err != nil {
		t.Fatal(err)
	}
	if err := migrate(t.Context(), db, migrations()[:1]); err != nil {
		t.Fatal(err)
	}
	job, uid, facts := realJob("ssdl", 1), NewUID(), `{"go":"go1.26"}`
	for _, q := range []struct {
		query string
		args  []any
	}{
		{`INSERT INTO datasets VALUES (?, 'sports8', 1579, 2048, 8, 'made for the test', 1)`, []any{hashD}},
		{`INSERT INTO splits VALUES (?, ?, 'random', 1000, 1105, 442, 474)`, []any{hashS, hashD}},
		{`INSERT INTO jobs VALUES (7, ?, ?, ?, 'sports8', ?, ?, 'ssdl', 'pahl', 'test', 1)`, []any{job.Key(), sum(nil), string(job.Encode()), hashD, hashS}},
		{`INSERT INTO envs VALUES (?, ?)`, []any{sum([]byte(facts)), facts}},
		{`INSERT INTO runs VALUES (3, ?, 7, 'ok', '', '2026-11-03T09:30:00.123456Z', 1, 1, NULL, ?)`, []any{uid, sum([]byte(facts))}},
		{`INSERT INTO metrics VALUES (3, 'accuracy', 0.5)`, nil},
	} {
		if _, err := db.Exec(q.query, q.args...); err != nil {
			t.Fatalf("%s: %v", q.query, err)
		}
	}
	db.Close()
	before, _ := os.ReadFile(path)
	s := openStore(t, filepath.Join(dir, "into.db"))
	for range 2 {
		if _, err := merge(t, s, path); err != nil {
			t.Fatal(err)
		}
	}
	if after, _ := os.ReadFile(path); !bytes.Equal(before, after) {
		t.Error("the older file was changed")
	}
	got, run, err := s.RunByUID(t.Context(), uid)
	if err != nil || run.Metrics["accuracy"] != 0.5 || got.Key() != job.Key() {
		t.Errorf("read back %+v of %+v, %v", run, got, err)
	}
}

func TestMergeNeedsWriter(t *testing.T) {
	path := shard(t, filepath.Join(t.TempDir(), "a.db"), func(*Store) {})
	s, err := OpenReadOnly(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	_, err = merge(t, s, path)
	wantError(t, err, "reading only")
}

func TestMergeStopsWithItsContext(t *testing.T) {
	dir := t.TempDir()
	path := shard(t, filepath.Join(dir, "a.db"), func(*Store) {})
	s := openStore(t, filepath.Join(dir, "into.db"))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.Merge(ctx, MergeOptions{}, Source{Name: "a.db", Path: path}); !errors.Is(err, context.Canceled) {
		t.Errorf("error is %v", err)
	}
}

func TestEach(t *testing.T) {
	path := shard(t, filepath.Join(t.TempDir(), "a.db"), func(s *Store) {
		for seed := range uint64(3) {
			record(t, s, realJob("src", 1002-seed), newRun(start))
			record(t, s, realJob("crc", 1000+seed), newRun(start.Add(time.Hour)))
		}
		record(t, s, realJob("crc", 1001), failed(newRun(start), StatusError, "no"))
		record(t, s, realJob("crc", 1002), newRun(start.Add(2*time.Hour)))
	})
	s := openStore(t, path)
	list := func(keys []string) (got []string) {
		t.Helper()
		if err := s.Each(t.Context(), keys, func(e RunRecord) error {
			got = append(got, fmt.Sprintf("%s %d %s %d %v", e.Job.Method.Name, e.Job.Seed, e.Run.Status, len(e.Run.Metrics), e.Current))
			if e.Dataset.Hash != hashD || e.Split.Train != 1105 || e.Run.JobKey != e.Job.Key() {
				t.Errorf("entry %+v", e)
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		return got
	}
	if d := cmp.Diff([]string{
		"crc 1000 ok 2 true", "crc 1001 error 0 false", "crc 1001 ok 2 true", "crc 1002 ok 2 true", "crc 1002 ok 2 false",
		"src 1000 ok 2 true", "src 1001 ok 2 true", "src 1002 ok 2 true",
	}, list(nil)); d != "" {
		t.Errorf("all runs:\n%s", d)
	}
	if d := cmp.Diff([]string{"src 1000 ok 2 true", "src 1001 ok 2 true", "src 1002 ok 2 true"}, list([]string{realJob("src", 1002).Key(), realJob("src", 1000).Key(), realJob("src", 1001).Key(), "nope"})); d != "" {
		t.Errorf("runs of some jobs:\n%s", d)
	}
	if got := list([]string{}); got != nil {
		t.Errorf("runs of no job: %v", got)
	}
	if err := s.Each(t.Context(), nil, func(RunRecord) error { return fs.ErrClosed }); err != fs.ErrClosed {
		t.Errorf("the caller's error came back as %v", err)
	}
}
