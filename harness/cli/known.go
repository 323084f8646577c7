package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"

	"ssdl/experiments"
	"ssdl/harness/data"
	"ssdl/harness/run"
	"ssdl/methods/catalog"
)

// checkNames refuses a data set that was asked for by a name nobody knows: neither the program nor the
// spec, whose data sets are given, nor the data folders, nor the store.
func (e *env) checkNames(asked, ofSpec []string) error {
	known := slices.Concat(builtinNames(), ofSpec)
	lib := e.common.library()
	for _, name := range asked {
		if slices.Contains(known, name) || lib.Has(name) {
			continue
		}
		recorded, err := e.recorded()
		if err != nil {
			return err
		}
		if !slices.Contains(recorded, name) {
			return e.unknown(name, slices.Concat(known, recorded))
		}
	}
	return nil
}

// noData is why a data set could not be loaded: it is not there, or its name means nothing.
func (e *env) noData(name string) error {
	if known := builtinNames(); !slices.Contains(known, name) {
		return e.unknown(name, known)
	}
	return &run.NoDataError{Name: name, Roots: e.common.roots()}
}

// unknown says that there is no data set of that name, and what was perhaps meant.
func (e *env) unknown(name string, names []string) error {
	roots := e.common.roots()
	found, err := data.Names(roots)
	if err != nil {
		return err
	}
	var known []string // each once
	for _, name := range slices.Concat(names, found) {
		if !slices.Contains(known, name) {
			known = append(known, name)
		}
	}
	hint, looked := "", "no folder is given"
	if s := catalog.Nearest(name, known); s != "" {
		hint = fmt.Sprintf("did you mean %q? ", s)
	}
	if len(roots) > 0 {
		looked = "looked in " + strings.Join(roots, ", ")
	}
	return fail(exitNoData, "data set %s was not found; %sknown are %s; others are found by name in the folders of --data or SSDL_DATA (%s)",
		name, hint, strings.Join(known, ", "), looked)
}

// builtinNames are the data sets that the program knows, whether or not they are there.
func builtinNames() []string {
	var names []string
	for _, d := range experiments.Datasets() {
		names = append(names, d.Name)
	}
	return names
}

// recorded are the data sets of the store; none where there is no store yet.
func (e *env) recorded() ([]string, error) {
	if _, err := os.Stat(e.dbPath()); errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	st, err := e.look()
	if err != nil {
		return nil, err
	}
	defer st.Close()
	sets, err := st.Datasets(e.ctx)
	var names []string
	for _, d := range sets {
		names = append(names, d.Name)
	}
	return names, err
}
