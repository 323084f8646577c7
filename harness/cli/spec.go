package cli

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"ssdl/docs"
	"ssdl/harness/report"
	"ssdl/harness/spec"
)

type specCmd struct {
	Help specHelpCmd `cmd:"" help:"Print the grammar of specs."`
	Init specInitCmd `cmd:"" help:"Write a commented example."`
	Show specShowCmd `cmd:"" help:"Print a built-in spec, to copy rows from."`
}

type specShowCmd struct {
	Spec string `arg:"" help:"Built-in spec: ${specs}."`
}

func (c specShowCmd) Run(e *env) error {
	content, err := spec.Source(c.Spec)
	if err != nil {
		return &exitError{exitUsage, err}
	}
	_, err = e.stdout.Write(content)
	return err
}

type specHelpCmd struct{}

func (specHelpCmd) Run(e *env) error {
	_, err := io.WriteString(e.stdout, docs.Specs)
	return err
}

type specInitCmd struct {
	File string `arg:"" help:"YAML file to write; one that exists is left alone."`
}

func (c specInitCmd) Run(e *env) error {
	f, err := os.OpenFile(c.File, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if errors.Is(err, fs.ErrExist) {
		return fail(exitUsage, "%s exists. Give the name of a new file", c.File)
	}
	if err != nil {
		return fail(exitUsage, "%w. Give a file in a folder that exists and can be written", err)
	}
	if _, err := io.WriteString(f, docs.ExampleSpec); err != nil {
		f.Close()
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	fmt.Fprintf(e.stdout, "%s: change it, then `%s`\n", c.File, report.Command("ssdl", "run", c.File))
	return nil
}
