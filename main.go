// Command ssdl re-runs the experiments of the paper "SSDL: Self-Supervised
// Dictionary Learning" (ICME 2021) and tells, cell by cell, what of it holds.
package main

import (
	"context"
	"embed"
	"os"

	"ssdl/harness/cli"
)

// The sources of the methods are in the program, so that a run can be known by its code.
//
//go:embed methods/*.go methods/*/*.go methods/*/*.s
var sources embed.FS

func main() {
	os.Exit(cli.Main(context.Background(), sources, os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}
