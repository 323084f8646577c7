// Command ssdl re-runs the experiments of the paper "SSDL: Self-Supervised
// Dictionary Learning" (ICME 2021) and tells, cell by cell, what of it holds.
package main

import (
	"context"
	"embed"
	"os"

	"ssdl/harness/cli"
	"ssdl/methods/linalg"
)

// The program contains the sources of what decides results: a run records fingerprints of them. Archives have
// its licence and its citation.
//
//go:embed methods/*.go methods/*/*.go methods/*/*.s harness/protocol/*.go LICENSE CITATION.cff
var sources embed.FS

func main() {
	linalg.Register() // from here on gonum computes with the kernels of this program
	os.Exit(cli.Main(context.Background(), sources, os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}
