// Command ssdl re-runs the experiments of the paper "SSDL: Self-Supervised
// Dictionary Learning" (ICME 2021) and tells, cell by cell, what of it holds.
package main

import (
	"context"
	"os"

	"ssdl/harness/cli"
)

func main() {
	os.Exit(cli.Main(context.Background(), os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}
