package cli

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"ssdl/experiments"
	"ssdl/harness/data"
	"ssdl/harness/executor"
	"ssdl/harness/results"
	"ssdl/harness/spec"
	"ssdl/methods/catalog"
)

// checkDatasets refuses a name of -d that is not known to ssdl, the spec, the data folders or the
// store. ofSpec are the data sets of the spec.
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

// refuseGenerated refuses to run a spec on generated data if the data folders hold other sets, or parts of one:
// the user probably means these. name is the spec as the command line names it, chosen its data sets.
func (e *env) refuseGenerated(sel specSelection, name string, chosen []string) error {
	s, err := spec.Load(name)
	if err != nil {
		return err
	}
	generated := func(d string) bool { return results.ColumnOf(d).Synthetic }
	if len(sel.Datasets) > 0 || !slices.ContainsFunc(chosen, generated) || slices.ContainsFunc(s.Datasets, generated) {
		return nil
	}
	roots := sel.roots()
	found, err := data.Names(roots)
	if err != nil {
		return err
	}
	if len(found) > 0 {
		return fail(exitNoData, "none of the data sets of %s (%s) is in %s, which has %s. Name one with -d, as in -d %s; -d %s uses generated data",
			s.Name, strings.Join(s.Datasets, ", "), strings.Join(roots, ", "), strings.Join(found, ", "), found[0], strings.Join(chosen, ","))
	}
	incomplete := data.Incomplete(roots)
	for _, name := range slices.Sorted(maps.Keys(incomplete)) {
		return fmt.Errorf("%w Or use generated data with -d %s", incomplete[name], strings.Join(chosen, ","))
	}
	return nil
}

// noDataError says why a data set could not be loaded: it is missing, incomplete, or has an unknown name.
func noDataError(f rootFlags, name string) error {
	if known := datasetNames(); !slices.Contains(known, name) {
		return unknownDataset(f, name, known)
	}
	if err := data.Incomplete(f.roots())[name]; err != nil {
		return err
	}
	return &executor.NoDataError{Name: name, Roots: f.roots()}
}

// unknownDataset says that no data set has the name, and suggests the nearest of names and the data folders.
func unknownDataset(f rootFlags, name string, names []string) error {
	roots := f.roots()
	found, err := data.Names(roots)
	if err != nil {
		return err
	}
	if incomplete := data.Incomplete(roots); incomplete[name] != nil {
		return incomplete[name]
	} else if incomplete[""] != nil && len(found) == 0 {
		return incomplete[""]
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

// datasetNames lists the data sets that ssdl knows, found or not.
func datasetNames() []string {
	var names []string
	for _, d := range experiments.Datasets() {
		names = append(names, d.Name)
	}
	return names
}

// recordedDatasets lists the data sets of the store; none if there is no store yet.
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
