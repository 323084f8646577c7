package cli

import (
	"fmt"
	"slices"
	"strings"

	"ssdl/experiments"
	"ssdl/harness/data"
	"ssdl/harness/executor"
	"ssdl/methods/catalog"
)

// checkDatasets refuses a selected data set by a name nobody knows: neither the program nor the
// spec, whose data sets are given, nor the data folders, nor the store.
func (e *env) checkDatasets(sel specSelection, ofSpec []string) error {
	known := slices.Concat(datasetNames(), ofSpec)
	lib := sel.library()
	for _, name := range sel.Datasets {
		if slices.Contains(known, name) || lib.Has(name) {
			continue
		}
		recorded, err := e.recordedDatasets(sel.resultsFlag)
		if err != nil {
			return err
		}
		if !slices.Contains(recorded, name) {
			return unknownDataset(sel.rootFlags, name, slices.Concat(known, recorded))
		}
	}
	return nil
}

// noDataError is why a data set could not be loaded: it is not there, or its name means nothing.
func noDataError(f rootFlags, name string) error {
	if known := datasetNames(); !slices.Contains(known, name) {
		return unknownDataset(f, name, known)
	}
	return &executor.NoDataError{Name: name, Roots: f.roots()}
}

// unknownDataset says that there is no data set of that name, and what was perhaps meant.
func unknownDataset(f rootFlags, name string, names []string) error {
	roots := f.roots()
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
	hint, looked := "", "no data folder is given"
	if s := catalog.Nearest(name, known); s != "" {
		hint = fmt.Sprintf("did you mean %q? ", s)
	}
	if len(roots) > 0 {
		looked = "looked in " + strings.Join(roots, ", ")
	}
	return fail(exitNoData, "data set %s was not found (%s); %sKnown names: %s. Other sets are found by name in the folders of --data or SSDL_DATA",
		name, looked, hint, strings.Join(known, ", "))
}

// datasetNames are the data sets that the program knows, whether or not they are there.
func datasetNames() []string {
	var names []string
	for _, d := range experiments.Datasets() {
		names = append(names, d.Name)
	}
	return names
}

// recordedDatasets are the data sets of the store; none where there is no store yet.
func (e *env) recordedDatasets(f resultsFlag) ([]string, error) {
	if f.missing() {
		return nil, nil
	}
	st, err := e.readStore(f)
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
