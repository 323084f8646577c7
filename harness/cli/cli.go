// Package cli is the command line: one file per verb. It parses flags, calls the other packages and
// prints their values; it has no logic of its own.
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"
	"sync"
	"syscall"

	"github.com/alecthomas/kong"

	"ssdl/harness/command"
	"ssdl/harness/data"
	"ssdl/harness/executor"
	"ssdl/harness/provenance"
	"ssdl/harness/report"
	"ssdl/harness/run"
	"ssdl/harness/sanitize"
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

const exitStatus = `Exit status: 0 ok, 1 internal error, 2 wrong usage or spec, or a file that cannot be read or written, 3 verification mismatch, 4 some runs failed, 5 data missing, 130 interrupted.`

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

// env has what verbs work with.
type env struct {
	ctx            context.Context
	stop           <-chan struct{} // closed by the first Ctrl-C of a verb in finishing
	stdin          io.Reader
	stdout, stderr io.Writer
	rawout         io.Writer // stdout for a program, without sanitizing
	code           *provenance.Code
	stages         *executor.Stages // shared by the specs of one call

	noting sync.Mutex
	noted  map[string]bool // data sets that noteRecorded has named
}

type grammar struct {
	Reproduce reproduceCmd `cmd:"" help:"Check the machine and the data, run Tables 1 and 2, and print them beside the paper's numbers, with the verdicts."`
	Run       runCmd       `cmd:"" help:"Run the jobs of a spec that are not in the store yet."`
	Submit    submitCmd    `cmd:"" help:"Submit the jobs of a spec that are not in the store yet as job arrays of Slurm."`
	Plan      planCmd      `cmd:"" help:"List the jobs of a spec by state, with the reason of each."`
	Status    statusCmd    `cmd:"" help:"Count the jobs of specs by state."`
	Report    reportCmd    `cmd:"" help:"Print the table of a spec from the store."`
	Figure    figureCmd    `cmd:"" help:"Draw the results of a spec as PNG and SVG, beside what the paper says about them."`
	Verify    verifyCmd    `cmd:"" help:"Compare every cell with the published one, and test the paper's claims."`
	Claims    claimsCmd    `cmd:"" help:"List the paper's claims: the command for each, its time, memory and disk, and the verdict."`
	Compare   compareCmd   `cmd:"" help:"Compare the methods of a spec with each other: paired tests, mean ranks, critical differences."`
	Explain   explainCmd   `cmd:"" help:"Show what lies behind one cell: seeds, chosen parameters, runs."`
	Serve     serveCmd     `cmd:"" help:"Show results in a browser, also while runs go on."`
	Site      siteCmd      `cmd:"" help:"Write the pages of serve as one file that needs nothing else."`
	Spec      specCmd      `cmd:"" help:"Print the grammar of specs, or write an example."`
	Methods   methodsCmd   `cmd:"" help:"List the methods, or show one with its parameters."`
	DataSets  dataCmd      `cmd:"" name:"data" help:"List, check, describe, split and fetch data sets."`
	Features  featuresCmd  `cmd:"" help:"Make a data set from photographs with a network in ONNX form."`
	Show      showCmd      `cmd:"" help:"Show everything that is recorded of a run."`
	Check     checkCmd     `cmd:"" help:"Compute finished runs again and compare them bit by bit."`
	Fsck      fsckCmd      `cmd:"" help:"Check that every record of the store is as it was written."`
	GC        gcCmd        `cmd:"" name:"gc" help:"Delete superseded runs, or bring them back."`
	Export    exportCmd    `cmd:"" help:"Write all runs, or those behind a spec, as CSV, JSON Lines or for MLflow."`
	Archive   archiveCmd   `cmd:"" help:"Write one zip with all runs, specs, splits, tables and figures, described as an RO-Crate."`
	Import    importCmd    `cmd:"" help:"Add the runs of archives and of other stores."`
	Doctor    doctorCmd    `cmd:"" help:"Check the machine: compiler, processor, memory, data."`
	Worker    workerCmd    `cmd:"" hidden:""`
	Exec      execCmd      `cmd:"" help:"Try an external program that a row can name."`
	Confine   confineCmd   `cmd:"" hidden:""`
	Version   versionCmd   `cmd:"" help:"Print the version of the program."`
	Help      helpCmd      `cmd:"" help:"Show the help of a verb."`

	ShowVersion kong.VersionFlag `name:"version" help:"Print the version of the program."`
}

// helpCmd is another way to write --help.
type helpCmd struct {
	Verb []string `arg:"" optional:"" help:"The verb, e.g. run, or data check."`
}

func (c helpCmd) Run(k *kong.Kong) error {
	_, err := k.Parse(append(c.Verb, "--help"))
	return &exitError{exitUsage, err} // --help itself ends the program
}

// exited is the panic by which --help and --version end the program.
type exited struct{ code int }

// Main runs the command line args and returns its exit code. sources is the source tree that the
// program was built from, with the top of the module as its root; it may be nil.
func Main(ctx context.Context, sources fs.FS, args []string, stdin io.Reader, stdout, stderr io.Writer) (code int) {
	parser, err := newParser(
		kong.Writers(stdout, stderr),
		kong.Exit(func(code int) { panic(exited{code}) }),
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
	if e := (*exitError)(nil); errors.As(err, &e) { // the flags are well formed
		return exitCode(ctx, sanitize.NewWriter(stderr), e)
	}
	if err != nil {
		fmt.Fprintf(sanitize.NewWriter(stderr), "ssdl: %v\n`ssdl help` lists the verbs, `ssdl help VERB` its flags\n", err)
		return exitUsage
	}
	ctx, stop, cleanup := interrupts(ctx, slices.Contains(finishing, kctx.Selected().Path()), stderr)
	defer cleanup()
	e := &env{ctx: ctx, stop: stop, stdin: stdin, stdout: sanitize.NewWriter(stdout), rawout: stdout, stderr: stderr}
	if sources != nil {
		e.code = &provenance.Code{Sources: sources}
	}
	return exitCode(ctx, sanitize.NewWriter(stderr), kctx.Run(e, parser, kctx))
}

func newParser(options ...kong.Option) (*kong.Kong, error) {
	return kong.New(&grammar{}, append(options,
		kong.Name("ssdl"),
		kong.Description("Re-runs the paper \"SSDL: Self-Supervised Dictionary Learning\" (ICME 2021) with its baselines, and says cell by cell what of it holds.\n\n"+exitStatus),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true, NoExpandSubcommands: true}),
		kong.Help(helpWithExitStatus),
		kong.Vars{"specs": strings.Join(spec.Names(), ", "), "formats": strings.Join(report.FormatNames(), ","), "version": version()},
	)...)
}

// helpWithExitStatus adds the exit codes to the help of every verb.
func helpWithExitStatus(options kong.HelpOptions, ctx *kong.Context) error {
	err := kong.DefaultHelpPrinter(options, ctx)
	if err == nil && ctx.Selected() != nil { // the top-level help has them in its description
		fmt.Fprintf(ctx.Stdout, "\n%s\n", exitStatus)
	}
	return err
}

// exitCode prints err and returns its exit code.
func exitCode(ctx context.Context, stderr io.Writer, err error) int {
	if err == nil {
		return exitOK
	}
	var e *exitError
	var specErrs spec.Errors
	var noData *executor.NoDataError
	var noFile *command.FileError
	var fault store.Fault
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
	case errors.As(err, &noData), errors.As(err, &noFile), errors.Is(err, data.ErrData), errors.Is(err, run.ErrOtherInput):
		code = exitNoData
	case errors.As(err, &fault):
		code = exitMismatch
	case isFileError(err):
		code = exitUsage
	}
	fmt.Fprintf(stderr, "ssdl: %v\n", err)
	return code
}

// isFileError reports whether the cause of err is a file, a folder or a disk of the user.
func isFileError(err error) bool {
	var ofStore *store.FileError
	var ofPath *fs.PathError
	var ofLink *os.LinkError
	return errors.As(err, &ofStore) || errors.As(err, &ofPath) || errors.As(err, &ofLink) || errors.Is(err, syscall.ENOSPC)
}

func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	if !ok {
		return false
	}
	st, err := f.Stat()
	return err == nil && st.Mode()&os.ModeCharDevice != 0
}
