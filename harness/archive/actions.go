package archive

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Entities that every spec refers to.
const (
	specLanguage  = "#spec-language"
	inputDatasets = "#input-datasets"
	inputSeeds    = "#input-seeds"
	outputRuns    = "#output-runs"
)

const completed = "http://schema.org/CompletedActionStatus"

// describe makes an action for each spec and for each batch, and the entities that they refer to.
func (h *history) describe(p Package) (actions, contexts []entity) {
	known := map[string]bool{}
	add := func(list ...entity) {
		for _, e := range list {
			if id := e["@id"].(string); !known[id] {
				known[id], contexts = true, append(contexts, e)
			}
		}
	}
	add(p.people()...)
	for _, s := range p.Specs {
		action, values := h.specAction(s, p.Author)
		actions = append(actions, action)
		add(values...)
	}
	for _, b := range h.sortedBatches() {
		action, agents := h.batchAction(b, p.Author)
		actions = append(actions, action)
		add(agents...)
	}
	for _, is := range h.sortedStates() {
		add(is.describe(slices.Sorted(maps.Keys(h.platforms[is])))...)
	}
	for _, hash := range slices.Sorted(maps.Keys(h.datasets)) {
		d := h.datasets[hash]
		what := "features"
		if d.Synthetic {
			what = "generated features"
		}
		add(entity{
			"@id": "#data-" + hash, "@type": "CreativeWork", "name": d.Name, "identifier": "sha256:" + hash,
			"description": fmt.Sprintf("%d samples of %d %s in %d classes. Not part of the archive.", d.Samples, d.Dim, what, d.Classes),
		})
	}
	if len(p.Specs) == 0 {
		return actions, contexts
	}
	parameter := func(id, name, kind, what string) entity {
		return entity{"@id": id, "@type": "FormalParameter", "additionalType": kind, "name": name, "description": what}
	}
	add(
		parameter(inputDatasets, "datasets", "Text", "The data sets, by name (flag -d)."),
		parameter(inputSeeds, "seeds", "Text", "The seeds (flag -s)."),
		parameter(outputRuns, "runs", "File", "The store of runs."),
		entity{"@id": specLanguage, "@type": "ComputerLanguage", "name": "ssdl spec", "description": "A YAML file that describes an experiment; the grammar is that of package ssdl/harness/spec."},
	)
	return actions, contexts
}

// specAction is the action that made the results of a spec, and the values of its parameters.
func (h *history) specAction(s Spec, author Agent) (action entity, values []entity) {
	when := h.specs[s.Name]
	value := func(name, v, parameter string) string {
		id := "#" + name + "-" + s.Name
		values = append(values, entity{"@id": id, "@type": "PropertyValue", "name": name, "value": v, "exampleOfWork": ref(parameter)})
		return id
	}
	object := append(fileNames(s.Splits), dataIDs(h.uses[s.Name])...)
	object = append(object, value("datasets", strings.Join(s.Datasets, ","), inputDatasets), value("seeds", s.Seeds, inputSeeds))
	action = entity{
		"@id": "#run-" + s.Name, "@type": "CreateAction", "name": "Runs, table and figures of " + s.Name,
		"description": "Made by: " + s.Command, "instrument": ref(s.File()), "agent": ref(author.id()),
		"object": refs(object...), "result": refs(append(fileNames(s.Results), StoreFile)...),
		"startTime": when.start.Format(isoTime), "endTime": when.end.Format(isoTime),
		"actionStatus": completed,
	}
	if s.Missing > 0 { // schema.org has no status for an unfinished action
		delete(action, "actionStatus")
		action["description"] = fmt.Sprintf("%s; %d of its runs are missing", action["description"], s.Missing)
	}
	return action, values
}

// batchAction is the action that made the runs of a batch. agents has the maker of imported runs, named only if
// the file was signed.
func (h *history) batchAction(b batch, author Agent) (action entity, agents []entity) {
	is, by := h.batches[b], author.id()
	id, how := "#runs-"+cmp.Or(b.version(), "unknown"), "Made here"
	if b.origin != (origin{}) {
		sum := sha256.Sum256([]byte(b.origin.file + "\x00" + b.origin.signer))
		from := hex.EncodeToString(sum[:6])
		how, by = "Imported from "+b.origin.file, "#origin-"+from
		agents = []entity{{
			"@id": by, "@type": "Organization", "name": cmp.Or(b.origin.signer, "Not named: who made "+b.origin.file),
			"description": "Who made the runs of " + b.origin.file + ".", "url": ref(readmeFile),
		}}
		id += "-from-" + from
	}
	return entity{
		"@id": id, "@type": "CreateAction", "name": fmt.Sprintf("%d runs of one state of the program", is.runs),
		"description": fmt.Sprintf("%s: %d runs, of which %d failed. %s has the machine and the modules of each.", how, is.runs, is.failed, StoreFile),
		"instrument":  ref(b.state.id()), "agent": ref(by), "object": refs(dataIDs(is.datasets)...), "result": ref(StoreFile),
		"startTime": is.start.Format(isoTime), "endTime": is.end.Format(isoTime),
		"actionStatus": completed,
	}, agents
}

func dataIDs(hashes map[string]bool) []string {
	var ids []string
	for _, hash := range slices.Sorted(maps.Keys(hashes)) {
		ids = append(ids, "#data-"+hash)
	}
	return ids
}
