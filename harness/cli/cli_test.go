package cli

import (
	"archive/zip"
	"bytes"
	"context"
	"crypto/ed25519"
	"database/sql"
	"encoding/pem"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	"golang.org/x/crypto/ssh"

	"ssdl/experiments"
	"ssdl/harness/job"
	"ssdl/harness/spec"
	"ssdl/harness/store"
)

func TestMain(m *testing.M) {
	if os.Getenv("SSDL_TEST_MAIN") != "" { // a child of a test that is killed from outside
		os.Exit(Main(context.Background(), nil, os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
	}
	if len(os.Args) > 1 && (os.Args[1] == "confine" || os.Args[1] == "worker") { // a program, or a job, that a test runs
		os.Exit(Main(context.Background(), nil, os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
	}
	testscript.Main(m, map[string]func(){
		"ssdl": func() {
			sources := os.DirFS(os.Getenv("SSDL_TEST_SOURCES"))
			os.Exit(Main(context.Background(), sources, os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
		},
	})
}

// withoutData is the environment of scripts: no data folder, and the sources of the program.
func withoutData(t *testing.T) func(*testscript.Env) error {
	sources, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	return func(env *testscript.Env) error {
		env.Setenv("SSDL_DATA", "")
		env.Setenv("SSDL_TEST_SOURCES", sources)
		return nil
	}
}

// TestScripts runs testdata/*.txt: each reads like a shell session.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:   "testdata",
		Setup: withoutData(t),
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"mkdata":  mkdata,
			"without": without,
			"strike":  strike,
			"uid":     uid,
			"age":     age,
			"edit":    edit,
			"forget":  forget,
			"sql":     execSQL,
			"keygen":  keygen,
			"lie":     lie,
			"unzip":   unzip,
		},
	})
}

// mkdata DIR NAME writes a small three-class data set as DIR/NAME.csv. With a third word it has the samples and
// classes of the known set of that name.
func mkdata(ts *testscript.TestScript, _ bool, args []string) {
	dir := ts.MkAbs(args[0])
	ts.Check(os.MkdirAll(dir, 0o755))
	samples, classes := 90, 3
	if len(args) > 2 {
		known, ok := experiments.Known(args[1])
		if !ok {
			ts.Fatalf("%s is not known", args[1])
		}
		samples, classes = known.Samples, known.Classes
	}
	ts.Check(os.WriteFile(filepath.Join(dir, args[1]+".csv"), someSet(samples, classes), 0o644))
}

// tinySet is a data set of 90 samples in three classes, as CSV.
func tinySet() []byte { return someSet(90, 3) }

// someSet is a data set of 12 features, as CSV.
func someSet(samples, classes int) []byte {
	r := rand.New(rand.NewPCG(1, 2))
	var b bytes.Buffer
	for i := range samples {
		y := i % classes
		for f := range 12 {
			v := 1 + 0.8*r.Float64()
			if f%classes == y {
				v += 1.5 * r.Float64()
			}
			fmt.Fprintf(&b, "%.6f,", v)
		}
		fmt.Fprintf(&b, "%d\n", y)
	}
	return b.Bytes()
}

// without TEXT FILE OUT copies a file without the lines that have the text.
func without(ts *testscript.TestScript, _ bool, args []string) {
	var kept []string
	for line := range strings.Lines(ts.ReadFile(args[1])) {
		if !strings.Contains(line, args[0]) {
			kept = append(kept, line)
		}
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[2]), []byte(strings.Join(kept, "")), 0o644))
}

// strike MILLISECONDS ARGS... starts ssdl and kills it (SIGKILL) after that time.
func strike(ts *testscript.TestScript, _ bool, args []string) {
	after, err := time.ParseDuration(args[0] + "ms")
	ts.Check(err)
	ctx, cancel := context.WithTimeout(context.Background(), after)
	defer cancel()
	for _, dir := range filepath.SplitList(ts.Getenv("PATH")) {
		exe := filepath.Join(dir, "ssdl")
		if _, err := os.Stat(exe); err != nil {
			continue
		}
		cmd := exec.CommandContext(ctx, exe, args[1:]...) // killed at the deadline
		cmd.Dir, cmd.Env = ts.MkAbs("."), append(os.Environ(), "SSDL_DATA=")
		if err := cmd.Run(); err == nil {
			ts.Logf("it had ended before it was struck")
		}
		return
	}
	ts.Fatalf("ssdl is not on the PATH of the script")
}

// age RESULTS changes the recorded code of the runs of a store, so that they are stale.
func age(ts *testscript.TestScript, _ bool, args []string) {
	ts.Check(replaceRuns(ts.MkAbs(args[0]), func(store.RunRecord) bool { return true }, func(r *store.Run) { r.Code.Method = "0123456789abcdef" }))
}

// forget UID RESULTS METRIC replaces a run by one without the metric.
func forget(ts *testscript.TestScript, _ bool, args []string) {
	uid := ""
	ts.Check(replaceRuns(ts.MkAbs(args[1]), func(r store.RunRecord) bool { return r.Run.UID == args[0] }, func(r *store.Run) {
		delete(r.Metrics, args[2])
		uid = r.UID
	}))
	ts.Setenv("UID", uid)
}

// lie RESULTS VALUE replaces CRC's runs under seed 1000 by runs of that accuracy with matching hashes. With a third
// word they have no true classes and no code, and began in 2001.
func lie(ts *testscript.TestScript, _ bool, args []string) {
	value, err := strconv.ParseFloat(args[1], 64)
	ts.Check(err)
	ts.Check(replaceRuns(ts.MkAbs(args[0]), func(r store.RunRecord) bool { return r.Job.Name() == "crc" && r.Job.Seed == 1000 }, func(r *store.Run) {
		r.Metrics["accuracy"] = value
		if len(args) > 2 {
			r.Truth, r.Code, r.Started = nil, job.Fingerprints{}, time.Date(2001, 1, 1, 0, 0, 0, 0, time.UTC)
		}
	}))
}

// sql FILE STATEMENTS changes a store by SQL.
func execSQL(ts *testscript.TestScript, _ bool, args []string) {
	db, err := sql.Open("sqlite3", "file:"+ts.MkAbs(args[0]))
	ts.Check(err)
	defer db.Close()
	_, err = db.Exec(args[1])
	ts.Check(err)
}

// keygen FILE writes a private ssh key, and the public one to FILE.pub.
func keygen(ts *testscript.TestScript, _ bool, args []string) {
	public, private, err := ed25519.GenerateKey(nil)
	ts.Check(err)
	block, err := ssh.MarshalPrivateKey(private, "")
	ts.Check(err)
	key, err := ssh.NewPublicKey(public)
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), pem.EncodeToMemory(block), 0o600))
	ts.Check(os.WriteFile(ts.MkAbs(args[0]+".pub"), ssh.MarshalAuthorizedKey(key), 0o644))
}

// replaceRuns replaces the runs of a store that change accepts.
func replaceRuns(dir string, of func(store.RunRecord) bool, edit func(*store.Run)) (err error) {
	ctx := context.Background()
	st, err := store.Open(ctx, filepath.Join(dir, "runs.db"))
	if err != nil {
		return err
	}
	defer closeStore(st, &err)
	var records []store.RunRecord
	if err := st.Each(ctx, nil, func(r store.RunRecord) error {
		if of(r) {
			records = append(records, r)
		}
		return nil
	}); err != nil {
		return err
	}
	for _, r := range records {
		r.Run.Replaces, r.Run.UID, r.Run.Started = r.Run.UID, store.NewUID(), time.Now()
		edit(&r.Run)
		if err := st.Record(ctx, r.Job, r.Run); err != nil {
			return err
		}
	}
	_, err = st.Prune(ctx)
	return err
}

// edit FILE changes the first number of a data set in CSV.
func edit(ts *testscript.TestScript, _ bool, args []string) {
	_, rest, _ := strings.Cut(ts.ReadFile(args[0]), ",")
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte("0.5,"+rest), 0o644))
}

// unzip ARCHIVE NAME takes a file out of an archive.
func unzip(ts *testscript.TestScript, _ bool, args []string) {
	z, err := zip.OpenReader(ts.MkAbs(args[0]))
	ts.Check(err)
	defer z.Close()
	content, err := fs.ReadFile(z, args[1])
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), content, 0o644))
}

// uid SPEC ROW RESULTS sets $UID to the run of the row's first seed.
func uid(ts *testscript.TestScript, _ bool, args []string) {
	ts.Check(ts.Exec("ssdl", "explain", args[0], args[1], "--results", args[2]))
	m := regexp.MustCompile(`(?m) ([0-9a-f]{32})$`).FindStringSubmatch(ts.ReadFile("stdout"))
	if m == nil {
		ts.Fatalf("ssdl explain lists no run")
	}
	ts.Setenv("UID", m[1])
}

// The help of every verb with specs lists the built-in ones.
func TestHelpListsSpecs(t *testing.T) {
	for _, verb := range strings.Fields("reproduce run plan status report figure verify claims compare explain check export archive serve site") {
		var out bytes.Buffer
		Main(t.Context(), nil, []string{verb, "--help"}, nil, &out, &out)
		text := strings.Join(strings.Fields(out.String()), " ") // it is wrapped
		if !strings.Contains(text, "("+strings.Join(spec.Names(), ", ")+")") {
			t.Errorf("%s:\n%s", verb, &out)
		}
	}
}
