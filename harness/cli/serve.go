package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"time"

	"ssdl/harness/executor"
	"ssdl/harness/run"
	"ssdl/harness/spec"
	"ssdl/harness/store"
	"ssdl/harness/web"
)

// pageFlags select what the pages show.
type pageFlags struct {
	rootFlags
	resultsFlag
	datasetsFlag
	seedsFlag
}

// explorer makes the pages of specs from the store alone. It reads local data only for the pages of data sets.
func (f pageFlags) explorer(e *env, specs []string) (*web.Explorer, error) {
	always := len(specs) > 0
	if !always {
		specs = spec.Names()
	}
	by := map[string]string{}
	for _, name := range specs {
		s, err := spec.Load(name)
		if err != nil {
			return nil, &exitError{exitUsage, err}
		}
		if other, ok := by[s.Name]; ok {
			return nil, fail(exitUsage, "%s and %s are both called %s; name one, or give one of them another name", other, name, s.Name)
		}
		by[s.Name] = name
	}
	sel := specSelection{dataFlags: dataFlags{rootFlags: f.rootFlags}, resultsFlag: f.resultsFlag, datasetsFlag: f.datasetsFlag, seedsFlag: f.seedsFlag}
	lib := sel.library()
	plan := func(ctx context.Context, st *store.Store, name string) (*run.Plan, error) {
		s, err := e.specOn(ctx, st, lib, sel, name)
		if err != nil {
			return nil, err
		}
		return run.Resolve(ctx, &executor.Library{RecordedOnly: true}, e.code, st, s)
	}
	return &web.Explorer{Path: f.dbPath(), Specs: specs, Plan: plan, Roots: f.roots(), Always: always}, nil
}

type serveCmd struct {
	Specs []string `arg:"" optional:"" help:"Built-in specs (${specs}) or paths of YAML files (default: the built-in ones that have results)."`
	Addr  string   `default:"127.0.0.1:8765" placeholder:"HOST:PORT" help:"Address to listen on (default: 127.0.0.1:8765). Other machines need the token that is printed."`
	pageFlags
}

// Help is printed below the flags.
func (serveCmd) Help() string {
	return "Shows results in a browser and follows them while other programs run: tables, cells, runs, comparisons, readings, figures, data. " +
		"It reads the store and changes nothing. Ctrl-C ends it."
}

func (c *serveCmd) Run(e *env) error {
	host, _, err := net.SplitHostPort(c.Addr)
	if err != nil {
		return fail(exitUsage, "--addr %s: want HOST:PORT, e.g. 127.0.0.1:8765", c.Addr)
	}
	x, err := c.explorer(e, c.Specs)
	if err != nil {
		return err
	}
	defer x.Close()
	token := ""
	if !web.Loopback(host) {
		token = web.NewToken()
	}
	handler, err := web.NewServer(x, host, token)
	if err != nil {
		return err
	}
	l, err := new(net.ListenConfig).Listen(e.ctx, "tcp", c.Addr)
	if err != nil {
		return fail(exitUsage, "cannot listen on %s: %w. Another program may use it; --addr names another", c.Addr, err)
	}
	address := "http://" + l.Addr().String() + "/"
	if token != "" {
		address += "?token=" + token
	}
	fmt.Fprintf(e.stdout, "%s\n", address)
	fmt.Fprintf(e.stderr, "shows %s; Ctrl-C ends it\n", c.dbPath())
	server := &http.Server{Handler: handler, ReadHeaderTimeout: 10 * time.Second, ReadTimeout: 30 * time.Second, IdleTimeout: 2 * time.Minute, BaseContext: func(net.Listener) context.Context { return e.ctx }}
	go func() {
		<-e.ctx.Done()
		server.Close()
	}()
	if err := server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

type siteCmd struct {
	Specs  []string `arg:"" optional:"" help:"Built-in specs (${specs}) or paths of YAML files (default: the built-in ones that have results)."`
	Output string   `short:"o" required:"" type:"path" placeholder:"FILE" help:"The page to write, e.g. results.html."`
	pageFlags
}

// Help is printed below the flags.
func (siteCmd) Help() string {
	return "Writes the pages of ssdl serve as one file that opens by a double click and loads nothing. It has the runs behind tables; tuning runs are in the archive."
}

func (c *siteCmd) Run(e *env) error {
	if c.missing() {
		return fail(exitNoData, "%s not found: nothing was run yet. `ssdl run` makes it; --results names its folder", c.dbPath())
	}
	x, err := c.explorer(e, c.Specs)
	if err != nil {
		return err
	}
	defer x.Close()
	err = replaceFile(c.Output, func(w io.Writer) error { return x.WriteFile(e.ctx, w) })
	if errors.Is(err, web.ErrNoResults) {
		return &exitError{exitNoData, err}
	}
	if err != nil {
		return err
	}
	fmt.Fprintf(e.stdout, "%s\n", c.Output)
	return nil
}
