package cli

import (
	"fmt"
	"text/tabwriter"

	"ssdl/harness/report"
	"ssdl/harness/spec"
	"ssdl/methods/catalog"
)

type methodsCmd struct {
	List methodsListCmd `cmd:"" default:"1" help:"List all methods."`
	Show methodsShowCmd `cmd:"" help:"Show one method with its parameters."`
}

type methodsListCmd struct {
	listOutput
}

func (c methodsListCmd) Run(e *env) error {
	if c.Format == "json" {
		var names []map[string]any
		for _, m := range catalog.All() {
			names = append(names, map[string]any{"name": m.Name, "title": m.Title, "group": m.Group, "venue": m.Venue, "year": m.Year, "targets": m.Targets()})
		}
		return c.write(e, report.Document{Value: names})
	}
	w := tabwriter.NewWriter(e.stdout, 0, 4, 2, ' ', 0)
	fmt.Fprintln(w, "NAME\tTITLE\tGROUP\tPUBLISHED\tSOFT TARGETS")
	for _, m := range catalog.All() {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s %d\t%s\n", m.Name, m.Title, m.Group, m.Venue, m.Year, m.Targets())
	}
	return w.Flush()
}

type methodsShowCmd struct {
	Name string `arg:"" help:"Name of the method."`
}

func (c methodsShowCmd) Run(e *env) error {
	m, err := catalog.Lookup(c.Name)
	if err != nil {
		return &exitError{exitUsage, err}
	}
	fmt.Fprintf(e.stdout, "%s (%s, %s %d), version %d\n", m.Name, m.Title, m.Venue, m.Year, m.Version)
	if m.Note != "" {
		fmt.Fprintln(e.stdout, m.Note)
	}
	if text := targets(m); text != "" {
		fmt.Fprintln(e.stdout, "targets:", text)
	}
	w := tabwriter.NewWriter(e.stdout, 0, 4, 2, ' ', 0)
	fmt.Fprintln(w, "PARAMETER\tDEFAULT\tALLOWED\tMEANING")
	for _, p := range m.Params() {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", p.Name, spec.FormatValue(p.Default), p.Range(), p.Doc)
	}
	return w.Flush()
}

// targets says what a method learns from; "" for a pretext.
func targets(m catalog.Entry) string {
	switch m.Targets() {
	case catalog.Soft:
		return "soft"
	case catalog.Hardened:
		return "classes; soft pseudo labels are hardened"
	case catalog.HardenedThenSoft:
		return "classes in the first stage, for which soft pseudo labels are hardened; soft in the second"
	}
	if m.IsPretext() {
		return ""
	}
	return "classes; it cannot follow a pretext"
}
