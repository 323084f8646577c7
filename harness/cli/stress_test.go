package cli

import (
	"bytes"
	"database/sql"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	_ "github.com/mattn/go-sqlite3"
)

const stressSpec = `name: stress
datasets: [tiny]
seeds: 1000..1007
split: {kind: class, train: 0.7, labels: 0.4}
rows:
  - method: crc
    tune: {lambda: {log2: [-6, 0]}}
  - method: slrc
    tune: {lambda: {log2: [-6, 0]}}
  - method: src
    tune: {lambda: {log2: [-6, -3]}}
  - id: ssdl
    method: ssdl
    pretext: hl
    tune: {alpha: {log2: [-12, -6]}}
    params: {K: 12, iterations: 10}
    pretext_params: {k: 4}
`

// stress is a folder with a data set and a spec, in which tests run the program as a child.
type stress struct {
	t   *testing.T
	dir string
}

func (s *stress) command(args ...string) *exec.Cmd {
	exe, err := os.Executable()
	if err != nil {
		s.t.Fatal(err)
	}
	cmd := exec.Command(exe, args...)
	cmd.Dir = s.dir
	cmd.Env = append(os.Environ(), "SSDL_TEST_MAIN=1", "SSDL_DATA=")
	return cmd
}

// run runs the program to its end and returns what it printed.
func (s *stress) run(args ...string) []byte {
	s.t.Helper()
	cmd := s.command(args...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		s.t.Fatalf("ssdl %s: %v\n%s", strings.Join(args, " "), err, stderr.Bytes())
	}
	return out
}

// finished checks a store and lists its finished runs, as "uid key".
func (s *stress) finished(results string) map[string]string {
	s.t.Helper()
	path := filepath.Join(s.dir, results, "runs.db")
	if _, err := os.Stat(path); err != nil {
		return nil // killed before the file was made
	}
	db, err := sql.Open("sqlite3", "file:"+path+"?_busy_timeout=10000")
	if err != nil {
		s.t.Fatal(err)
	}
	defer db.Close()
	var verdict string
	if err := db.QueryRow("PRAGMA integrity_check").Scan(&verdict); err != nil || verdict != "ok" {
		s.t.Fatalf("integrity: %s, %v", verdict, err)
	}
	var tables int
	if err := db.QueryRow("SELECT count(*) FROM sqlite_schema WHERE name = 'predictions'").Scan(&tables); err != nil || tables == 0 {
		return nil // killed before the tables were made
	}
	for what, query := range map[string]string{
		"rows that refer to none": `SELECT count(*) FROM pragma_foreign_key_check`,
		"finished runs without metrics, predictions or trace": `SELECT count(*) FROM runs r WHERE status = 'ok' AND (
			(SELECT count(*) FROM metrics WHERE run = r.id) < 2 OR NOT EXISTS (SELECT 1 FROM predictions WHERE run = r.id))`,
		"jobs that were finished twice": `SELECT count(*) FROM (SELECT 1 FROM runs WHERE status = 'ok' GROUP BY job HAVING count(*) > 1)`,
	} {
		var n int
		if err := db.QueryRow(query).Scan(&n); err != nil || n != 0 {
			s.t.Fatalf("%d %s, %v", n, what, err)
		}
	}
	rows, err := db.Query(`SELECT r.uid, j.key FROM runs r JOIN jobs j ON j.id = r.job WHERE r.status = 'ok'`)
	if err != nil {
		s.t.Fatal(err)
	}
	defer rows.Close()
	out := map[string]string{}
	for rows.Next() {
		var uid, key string
		if err := rows.Scan(&uid, &key); err != nil {
			s.t.Fatal(err)
		}
		out[uid] = key
	}
	return out
}

// TestKills kills two processes that share a store, again and again, at moments drawn from a seed. No
// finished run may be lost or run twice, no half run may be recorded, and the table at the end must equal
// that of an undisturbed call. $SSDL_KILLS says how often; `make stress` asks for a hundred.
func TestKills(t *testing.T) {
	kills := 5
	if text := os.Getenv("SSDL_KILLS"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil {
			t.Fatalf("SSDL_KILLS=%s is no number", text)
		}
		kills = n
	} else if testing.Short() {
		t.Skip("kills and restarts take some seconds")
	}
	s := &stress{t: t, dir: t.TempDir()}
	if err := os.WriteFile(filepath.Join(s.dir, "spec.yaml"), []byte(stressSpec), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(s.dir, "data"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(s.dir, "data", "tiny.csv"), tinySet(), 0o644); err != nil {
		t.Fatal(err)
	}
	start := time.Now()
	want := s.run("run", "spec.yaml", "--results", "whole")
	whole := time.Since(start)
	jobs := len(s.finished("whole"))

	draw := rand.New(rand.NewPCG(1, 1))
	struck, rounds := 0, 0
	for struck < kills {
		rounds++
		results := fmt.Sprint("cut", rounds)
		before := map[string]string{}
		for struck < kills && len(before) < jobs {
			var children []*exec.Cmd
			for range 2 {
				cmd := s.command("run", "spec.yaml", "--results", results, "-j", "2")
				if err := cmd.Start(); err != nil {
					t.Fatal(err)
				}
				children = append(children, cmd)
			}
			time.Sleep(time.Duration(draw.Int64N(int64(whole))))
			for _, cmd := range children {
				if cmd.ProcessState == nil {
					cmd.Process.Kill()
				}
				if err := cmd.Wait(); err != nil {
					struck++ // it had not ended before
				}
			}
			after := s.finished(results)
			for uid, key := range before {
				if after[uid] != key {
					t.Fatalf("after %d kills the finished run %s is lost", struck, uid)
				}
			}
			before = after
		}
		if got := s.run("run", "spec.yaml", "--results", results); !bytes.Equal(got, want) {
			t.Fatalf("after %d kills the table is\n%s\nand undisturbed it is\n%s", struck, got, want)
		}
		if n := len(s.finished(results)); n != jobs {
			t.Fatalf("%d finished runs of %d jobs", n, jobs)
		}
	}
	t.Logf("%d kills survived in %d stores of %d jobs each; undisturbed the work takes %v", struck, rounds, jobs, whole.Round(time.Millisecond))
}
