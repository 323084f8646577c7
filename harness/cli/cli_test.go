package cli

import (
	"archive/zip"
	"bytes"
	"context"
	"database/sql"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"ssdl/harness/spec"
)

func TestMain(m *testing.M) {
	if os.Getenv("SSDL_TEST_MAIN") != "" { // a child of a test that is killed from outside
		os.Exit(Main(context.Background(), nil, os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
	}
	testscript.Main(m, map[string]func(){
		"ssdl": func() {
			sources := os.DirFS(os.Getenv("SSDL_TEST_SOURCES"))
			os.Exit(Main(context.Background(), sources, os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
		},
	})
}

// TestScripts runs testdata/*.txt: each reads like a shell session.
func TestScripts(t *testing.T) {
	sources, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir: "testdata",
		Setup: func(env *testscript.Env) error {
			env.Setenv("SSDL_DATA", "")
			env.Setenv("SSDL_TEST_SOURCES", sources)
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"mkdata": mkdata,
			"strike": strike,
			"uid":    uid,
			"age":    age,
			"edit":   edit,
			"forget": forget,
			"unzip":  unzip,
		},
	})
}

// mkdata DIR NAME writes a small three-class data set as DIR/NAME.csv.
func mkdata(ts *testscript.TestScript, _ bool, args []string) {
	dir := ts.MkAbs(args[0])
	ts.Check(os.MkdirAll(dir, 0o755))
	ts.Check(os.WriteFile(filepath.Join(dir, args[1]+".csv"), tinySet(), 0o644))
}

// tinySet is a data set of 90 samples in three classes, as CSV.
func tinySet() []byte {
	r := rand.New(rand.NewPCG(1, 2))
	var b bytes.Buffer
	for i := range 90 {
		y := i % 3
		for f := range 12 {
			v := 1 + 0.8*r.Float64()
			if f%3 == y {
				v += 1.5 * r.Float64()
			}
			fmt.Fprintf(&b, "%.6f,", v)
		}
		fmt.Fprintf(&b, "%d\n", y)
	}
	return b.Bytes()
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

// age RESULTS makes the runs of a store those of other code.
func age(ts *testscript.TestScript, _ bool, args []string) {
	db, err := sql.Open("sqlite3", "file:"+ts.MkAbs(filepath.Join(args[0], "runs.db")))
	ts.Check(err)
	defer db.Close()
	_, err = db.Exec(`UPDATE runs SET method_code = '0123456789abcdef'`)
	ts.Check(err)
}

// forget UID RESULTS METRIC takes a metric from a run.
func forget(ts *testscript.TestScript, _ bool, args []string) {
	db, err := sql.Open("sqlite3", "file:"+ts.MkAbs(filepath.Join(args[1], "runs.db")))
	ts.Check(err)
	defer db.Close()
	_, err = db.Exec(`DELETE FROM metrics WHERE name = ? AND run = (SELECT id FROM runs WHERE uid = ?)`, args[2], args[0])
	ts.Check(err)
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

// The help of every verb that takes specs lists those that are built in.
func TestHelpListsSpecs(t *testing.T) {
	for _, verb := range strings.Fields("reproduce run plan status report figure verify compare explain check export archive serve site") {
		var out bytes.Buffer
		Main(t.Context(), nil, []string{verb, "--help"}, nil, &out, &out)
		text := strings.Join(strings.Fields(out.String()), " ") // it is wrapped
		if !strings.Contains(text, "("+strings.Join(spec.Names(), ", ")+")") {
			t.Errorf("%s:\n%s", verb, &out)
		}
	}
}
