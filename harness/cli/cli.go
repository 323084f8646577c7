// Package cli is the command line: one file per verb. It wires data, specs, store, runs
// and reports together and holds no logic of theirs.
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/alecthomas/kong"

	"ssdl/experiments"
	"ssdl/harness/data"
	"ssdl/harness/run"
	"ssdl/harness/spec"
	"ssdl/harness/store"
)

// The exit codes, printed by every help text.
const (
	exitOK          = 0
	exitInternal    = 1
	exitUsage       = 2
	exitMismatch    = 3
	exitFailedRuns  = 4
	exitNoData      = 5
	exitInterrupted = 130
)

const exitStatus = `Exit status: 0 ok, 1 internal error, 2 wrong usage or spec, 3 verification mismatch, 4 some runs failed, 5 data missing, 130 interrupted.`

// exitError is an error with its exit code.
type exitError struct {
	code int
	err  error
}

func (e *exitError) Error() string { return e.err.Error() }
func (e *exitError) Unwrap() error { return e.err }

func fail(code int, format string, args ...any) error {
	return &exitError{code, fmt.Errorf(format, args...)}
}

// common are the flags of all verbs.
type common struct {
	Data     []string `placeholder:"DIR" sep:"," type:"path" help:"Folders with data sets. Default: $$SSDL_DATA, then ./data."`
	Results  string   `placeholder:"DIR" default:"results" type:"path" help:"Folder of runs.db, tables and figures (default: results)."`
	Datasets []string `short:"d" sep:"," placeholder:"NAME" help:"Data sets, in place of those of the spec."`
	Methods  []string `short:"m" sep:"," placeholder:"NAME" help:"Only these rows, methods or compositions (pahl+ssdl)."`
	Seeds    string   `short:"s" placeholder:"SEEDS" help:"Seeds in place of the spec's, e.g. 1000..1007 or 1000,1003 (built-in data: the first two of the spec)."`
	Jobs     int      `short:"j" placeholder:"N" help:"Runs at once (default: one per processor)."`
	Format   string   `enum:"text,md,latex,html,csv,json" default:"text" help:"Form of tables: text, md, latex, html, csv or json; each verb says which it has."`
	DropZero bool     `help:"Leave out all-zero samples instead of refusing the data set."`
}

// Validate refuses what no verb can use.
func (c *common) Validate() error {
	if c.Jobs < 0 {
		return fmt.Errorf("--jobs: %d runs at once cannot be; leave it out for one per processor", c.Jobs)
	}
	return nil
}

// env is what a verb works with.
type env struct {
	ctx            context.Context
	stop           <-chan struct{} // closed by the first Ctrl-C where ctx is canceled by the second
	stdin          io.Reader
	stdout, stderr io.Writer
	common         *common
	code           *run.Code
	stages         *run.Stages // what the specs of one call share
}

type grammar struct {
	common

	Reproduce reproduceCmd `cmd:"" help:"The main job: check the machine and the data, run Tables 1 and 2, print them beside the paper's numbers, and the verdicts."`
	Run       runCmd       `cmd:"" help:"Run what a spec asks for and is not in the store yet."`
	Plan      planCmd      `cmd:"" help:"List the jobs of a spec by state, with the reason of each."`
	Status    statusCmd    `cmd:"" help:"Tell how much of the specs is in the store."`
	Report    reportCmd    `cmd:"" help:"Print the table of a spec from the store."`
	Figure    figureCmd    `cmd:"" help:"Draw the results of a spec as PNG and SVG, beside what the paper says about them."`
	Verify    verifyCmd    `cmd:"" help:"Compare every cell with the published one, and test the paper's claims."`
	Compare   compareCmd   `cmd:"" help:"Compare the methods of a spec with each other: paired tests, mean ranks, critical differences."`
	Explain   explainCmd   `cmd:"" help:"Show what lies behind one cell: seeds, chosen parameters, runs."`
	Methods   methodsCmd   `cmd:"" help:"List the methods, or show one with its parameters."`
	DataSets  dataCmd      `cmd:"" name:"data" help:"List, check, describe, split and fetch data sets."`
	Features  featuresCmd  `cmd:"" help:"Make a data set from photographs with a network in ONNX form."`
	Show      showCmd      `cmd:"" help:"Show everything that is recorded of a run."`
	Check     checkCmd     `cmd:"" help:"Compute finished runs again and compare them bit by bit."`
	GC        gcCmd        `cmd:"" name:"gc" help:"Remove runs that count for nothing any more."`
	Export    exportCmd    `cmd:"" help:"Write all runs, or those behind a spec, as CSV, JSON Lines or for MLflow."`
	Archive   archiveCmd   `cmd:"" help:"Write one zip with all runs, specs, splits, tables and figures, described as an RO-Crate."`
	Import    importCmd    `cmd:"" help:"Add the runs of archives and of other stores."`
	Doctor    doctorCmd    `cmd:"" help:"Check the machine: compiler, processor, memory, data."`
}

// Main runs the command line args and returns its exit code. sources is the source tree that the
// program was built of, from the top of the module; it may be nil.
func Main(ctx context.Context, sources fs.FS, args []string, stdin io.Reader, stdout, stderr io.Writer) (code int) {
	var g grammar
	type exited struct{ code int }
	parser, err := newParser(&g,
		kong.Writers(stdout, stderr),
		kong.Exit(func(code int) { panic(exited{code}) }), // --help ends here
	)
	if err != nil {
		fmt.Fprintln(stderr, "ssdl:", err)
		return exitInternal
	}
	defer func() {
		switch r := recover().(type) {
		case nil:
		case exited:
			code = r.code
		default:
			panic(r)
		}
	}()
	if len(args) == 0 {
		args = []string{"--help"}
	}
	kctx, err := parser.Parse(args)
	if err != nil {
		fmt.Fprintf(&plain{w: stderr}, "ssdl: %v\nssdl --help lists the verbs and flags\n", err)
		return exitUsage
	}
	verb := kctx.Selected().Path()
	ctx, stop, cleanup := interrupts(ctx, slices.Contains(unhurried, verb), stderr)
	defer cleanup()
	e := &env{ctx: ctx, stop: stop, stdin: stdin, stdout: &plain{w: stdout}, stderr: stderr, common: &g.common}
	if sources != nil {
		e.code = &run.Code{Sources: sources}
	}
	if err = g.refuse(verb); err == nil {
		err = kctx.Run(e)
	}
	return exitCode(ctx, &plain{w: stderr}, err)
}

// unhurried are the verbs that come to an end in order at the first Ctrl-C; it stops all others.
var unhurried = []string{"reproduce", "run", "check", "features"}

func newParser(g *grammar, options ...kong.Option) (*kong.Kong, error) {
	return kong.New(g, append(options,
		kong.Name("ssdl"),
		kong.Description("Re-runs the paper \"SSDL: Self-Supervised Dictionary Learning\" (ICME 2021) with its baselines, and tells cell by cell what of it holds.\n\n"+exitStatus),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true, NoExpandSubcommands: true}),
		kong.Help(helpWithExitStatus),
		kong.Vars{"specs": strings.Join(spec.Names(), ", ")},
	)...)
}

// helpWithExitStatus adds to the help of every verb what it makes of the common flags, and the exit codes.
func helpWithExitStatus(options kong.HelpOptions, ctx *kong.Context) error {
	if err := kong.DefaultHelpPrinter(options, ctx); err != nil {
		return err
	}
	if ctx.Selected() == nil { // the top-level help has them in its description
		return nil
	}
	if t, ok := verbs[ctx.Selected().Path()]; ok {
		fmt.Fprintf(ctx.Stdout, "\n%s\n", t.help())
	}
	fmt.Fprintf(ctx.Stdout, "\n%s\n", exitStatus)
	return nil
}

// exitCode prints err and finds its exit code.
func exitCode(ctx context.Context, stderr io.Writer, err error) int {
	if err == nil {
		return exitOK
	}
	var e *exitError
	var specErrs spec.Errors
	var noData *run.NoDataError
	code := exitInternal
	switch {
	case errors.As(err, &e) && e.code == exitInterrupted:
		code = e.code
	case ctx.Err() != nil:
		code, err = exitInterrupted, errors.New("interrupted")
	case errors.As(err, &e):
		code = e.code
	case errors.As(err, &specErrs):
		code = exitUsage
	case errors.As(err, &noData), errors.Is(err, data.ErrData):
		code = exitNoData
	}
	fmt.Fprintf(stderr, "ssdl: %v\n", err)
	return code
}

// interrupts makes the first Ctrl-C cancel ctx. Where there is something to be finished, it
// closes stop instead, so that running jobs finish and no others start, and the second one
// cancels. One more ends the process, whatever it is at.
func interrupts(parent context.Context, finish bool, stderr io.Writer) (ctx context.Context, stop <-chan struct{}, cleanup func()) {
	ctx, cancel := context.WithCancel(parent)
	soft := make(chan struct{})
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	go func() {
		if finish {
			select {
			case <-ctx.Done():
				return
			case <-signals:
			}
			fmt.Fprintln(stderr, "\nssdl: finishing the runs in flight; once more to stop them too")
			close(soft)
		}
		select {
		case <-ctx.Done():
		case <-signals:
			signal.Stop(signals)
			cancel()
		}
	}()
	return ctx, soft, func() {
		signal.Stop(signals)
		cancel()
	}
}

// roots are the folders in which data sets are looked for.
func (c *common) roots() []string {
	if len(c.Data) > 0 {
		return c.Data
	}
	roots := filepath.SplitList(os.Getenv("SSDL_DATA"))
	if st, err := os.Stat("data"); err == nil && st.IsDir() {
		roots = append(roots, "data")
	}
	return roots
}

func (c *common) library() *run.Library {
	return &run.Library{Roots: c.roots(), DropZero: c.DropZero}
}

// builtinSeeds is how many seeds the built-in sets get where none are asked for: they are
// there to see the program work, and no result comes of them.
const builtinSeeds = 2

// spec loads a spec and narrows it to the flags. Without -d it runs on what is found of
// the spec's data sets, as has tells, or on what stands in for them.
func (e *env) spec(name string, has func(string) bool) (*spec.Spec, error) {
	c := e.common
	s, err := spec.Load(name)
	if err != nil {
		return nil, &exitError{exitUsage, err}
	}
	f := spec.Filter{Datasets: c.Datasets, Methods: c.Methods}
	if len(f.Datasets) == 0 {
		f.Datasets = experiments.Available(s.Datasets, has)
	}
	synthetic := func(name string) bool { return column(name).Synthetic }
	switch {
	case c.Seeds != "":
		if f.Seeds, err = spec.ParseSeeds(c.Seeds); err != nil {
			return nil, &exitError{exitUsage, fmt.Errorf("--seeds: %w", err)}
		}
	case !slices.ContainsFunc(f.Datasets, func(d string) bool { return !synthetic(d) }):
		f.Seeds = s.Seeds[:min(builtinSeeds, len(s.Seeds))]
	}
	narrowed, err := s.Select(f)
	if err != nil {
		return nil, &exitError{exitUsage, err}
	}
	if err := e.checkNames(c.Datasets, s.Datasets); err != nil {
		return nil, err
	}
	return narrowed, nil
}

// store opens runs.db of the results folder, making both where they are missing.
func (e *env) store() (*store.Store, error) {
	if err := os.MkdirAll(e.common.Results, 0o755); err != nil {
		return nil, fmt.Errorf("results folder: %w", err)
	}
	return store.Open(e.ctx, e.dbPath())
}

// look opens the store to be read. Where it cannot be written, since it is somebody else's or lies on
// a medium that is read-only, it is read as it is.
func (e *env) look() (*store.Store, error) {
	if _, err := os.Stat(e.dbPath()); errors.Is(err, fs.ErrNotExist) {
		return nil, fail(exitNoData, "there are no finished runs: there is no %s; `ssdl run` makes it, --results names its folder", e.dbPath())
	}
	st, err := e.store()
	if err == nil || e.ctx.Err() != nil {
		return st, err
	}
	if as, err := store.OpenReadOnly(e.ctx, e.dbPath()); err == nil {
		return as, nil
	}
	return nil, err
}

// lookOrNothing is look, or an empty store where there is none yet: to look leaves no folder behind.
func (e *env) lookOrNothing() (st *store.Store, done func(), err error) {
	if _, err := os.Stat(e.dbPath()); !errors.Is(err, fs.ErrNotExist) {
		if st, err = e.look(); err != nil {
			return nil, nil, err
		}
		return st, func() { st.Close() }, nil
	}
	fmt.Fprintf(e.stderr, "there is no %s: nothing was run yet, or --results names another folder\n", e.dbPath())
	dir, err := os.MkdirTemp("", "ssdl-")
	if err != nil {
		return nil, nil, err
	}
	if st, err = store.Open(e.ctx, filepath.Join(dir, "runs.db")); err != nil {
		os.RemoveAll(dir)
		return nil, nil, err
	}
	return st, func() { st.Close(); os.RemoveAll(dir) }, nil
}

func (e *env) dbPath() string { return filepath.Join(e.common.Results, "runs.db") }

// resolve sees a spec against what the store has of it by name; no data are read.
func (e *env) resolve(name string) (*run.Plan, error) {
	st, done, err := e.lookOrNothing()
	if err != nil {
		return nil, err
	}
	defer done()
	recorded, err := st.Datasets(e.ctx)
	if err != nil {
		return nil, err
	}
	lib := e.common.library()
	s, err := e.spec(name, func(name string) bool {
		return lib.Has(name) || slices.ContainsFunc(recorded, func(d store.Dataset) bool { return d.Name == name && !d.Synthetic })
	})
	if err != nil {
		return nil, err
	}
	return run.Glance(e.ctx, lib, st, s)
}

// plan sees a spec against the store and the data at hand.
func (e *env) plan(name string) (*run.Plan, error) {
	lib := e.common.library()
	s, err := e.spec(name, lib.Has)
	if err != nil {
		return nil, err
	}
	st, done, err := e.lookOrNothing()
	if err != nil {
		return nil, err
	}
	defer done()
	return run.Resolve(e.ctx, lib, e.code, st, s)
}

func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	if !ok {
		return false
	}
	st, err := f.Stat()
	return err == nil && st.Mode()&os.ModeCharDevice != 0
}
