// Package spec reads experiments: a YAML file says what is run on what, and becomes a list of jobs. docs/specs.md
// is the grammar.
//
// Parse reports every fault at once, each with file, line and column, in the order of the file. Cells lists the numbers
// of the table and Jobs what is run for them: a [Job] for each seed of a candidate. The identity of a job is canonical:
// it does not depend on the order of keys, rows or data sets, on how a number is written, or on whether a default is
// spelled out.
package spec
