package cli

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"ssdl/harness/command"
	"ssdl/harness/report"
	"ssdl/methods/catalog"
)

type execCmd struct {
	Check execCheckCmd `cmd:"" help:"Try an external program on small data against every rule of the protocol ssdl-exec/1."`
}

type execCheckCmd struct {
	Program []string          `arg:"" passthrough:"" help:"The program and its arguments, as in the exec of a row. Arguments that name files are files of the row."`
	Targets bool              `help:"The program makes pseudo labels: it is asked for targets.npy."`
	Params  map[string]string `placeholder:"NAME=VALUE" mapsep:"," help:"Parameters, as in the params of a row."`
	Files   []string          `sep:"," placeholder:"PATH" help:"Further files of the row."`
	Timeout time.Duration     `default:"5m" placeholder:"DURATION" help:"Time limit of the whole trial (default: 5m)."`
	Memory  float64           `placeholder:"GIB" help:"Memory for the program (default: no bound)."`
	listOutput
}

// Help is printed below the flags.
func (execCheckCmd) Help() string {
	return "Flags stand before the program, as in: ssdl exec check --params lambda=0.1 -- python3 scripts/exec/crc.py\n\nThe protocol is in docs/exec.md. Status 4 if the program breaks a rule."
}

// Validate refuses impossible limits, and an unknown flag: the parser takes it for the program.
func (c *execCheckCmd) Validate() error {
	switch {
	case len(c.Program) > 0 && c.Program[0] != "--" && strings.HasPrefix(c.Program[0], "-"):
		return fmt.Errorf("unknown flag %s", c.Program[0])
	case c.Timeout <= 0:
		return fmt.Errorf("--timeout must be positive, got %v", c.Timeout)
	case !(c.Memory >= 0): // NaN too
		return fmt.Errorf("--memory must be at least 0, got %v", c.Memory)
	}
	return nil
}

func (c *execCheckCmd) Run(e *env) error {
	args := c.Program
	if args[0] == "--" {
		args = args[1:]
	}
	if len(args) == 0 {
		return fail(exitUsage, "name the program to try, e.g. ssdl exec check -- python3 my.py")
	}
	var files []string
	for _, f := range c.Files {
		if !filepath.IsLocal(f) {
			return fail(exitUsage, "--files: %q must be a path below the folder that ssdl is called in, e.g. scripts/my.py", f)
		}
		files = append(files, filepath.ToSlash(filepath.Clean(f)))
	}
	for _, a := range args {
		path := filepath.ToSlash(filepath.Clean(a))
		if st, err := os.Stat(path); err == nil && st.Mode().IsRegular() && filepath.IsLocal(path) {
			files = append(files, path)
		}
	}
	slices.Sort(files)
	files = slices.Compact(files)
	runner := programs()
	runner.Memory = int64(c.Memory * (1 << 30))
	is, err := runner.Identify(e.ctx, args, files)
	if err != nil {
		return &exitError{exitNoData, err}
	}
	params := map[string]any{}
	for name, text := range c.Params {
		params[name] = value(text)
	}
	ctx, cancel := context.WithTimeout(e.ctx, c.Timeout)
	defer cancel()
	findings, err := command.Trial{Runner: runner, Command: is, Params: params, Targets: c.Targets}.Check(ctx)
	if err != nil {
		return err
	}
	if err := c.write(e, report.OfTrial(is, findings)); err != nil {
		return err
	}
	broken := 0
	for _, f := range findings {
		if !f.OK {
			broken++
		}
	}
	if broken > 0 {
		return fail(exitFailedRuns, "the program breaks %d of %d rules", broken, len(findings))
	}
	return nil
}

// value reads a parameter as YAML would: a number, true, false or a text.
func value(text string) any {
	if v, err := catalog.ParseNumber(text); err == nil {
		return v
	}
	switch text {
	case "true", "True", "TRUE":
		return true
	case "false", "False", "FALSE":
		return false
	}
	return text
}
