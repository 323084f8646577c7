// Package experiments holds the experiments as data: the specs to run (*.yaml) and, in paper, what
// the paper printed. Both are compiled into the program.
package experiments

import "embed"

// Specs holds the built-in specs; package spec reads them and documents their grammar.
//
//go:embed alpha-gamma.yaml charity.yaml label-rate.yaml leak.yaml ladder.yaml model-agnostic.yaml multiverse.yaml multiverse-loss.yaml multiverse-loss-stanford40.yaml multiverse-stanford40.yaml p-lambda.yaml smoke.yaml table1.yaml table2.yaml
var Specs embed.FS
