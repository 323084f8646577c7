package cli

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"ssdl": func() {
			os.Exit(Main(context.Background(), os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
		},
	})
}

// TestScripts runs testdata/*.txt: each reads like a shell session.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir: "testdata",
		Setup: func(env *testscript.Env) error {
			env.Setenv("SSDL_DATA", "")
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"mkdata": mkdata,
			"strike": strike,
		},
	})
}

// mkdata DIR NAME writes a small three-class data set as DIR/NAME.csv.
func mkdata(ts *testscript.TestScript, _ bool, args []string) {
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
	dir := ts.MkAbs(args[0])
	ts.Check(os.MkdirAll(dir, 0o755))
	ts.Check(os.WriteFile(filepath.Join(dir, args[1]+".csv"), b.Bytes(), 0o644))
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
