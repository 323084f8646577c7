// Package spec reads specs: YAML files that describe experiments. docs/specs.md is the grammar.
//
// Parse reports all faults at once, each with file, line and column, in the order of the file. Cells lists the cells of
// the table, and Jobs their jobs: a [Job] for each seed of a candidate. The identity of a job does not depend on the
// order of keys, rows or data sets, on how a number is written, or on whether a default is written out.
package spec
