//go:build race

package run

// underRace says that the race detector watches, which needs memory of its own: a limit strikes it first.
const underRace = true
