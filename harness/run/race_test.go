//go:build race

package run

// underRace says that the race detector is on: it needs memory of its own, so that limits are reached early.
const underRace = true
