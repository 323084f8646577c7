package archive

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"
)

// Files of an archive: its store, and the files that RO-Crate requires: metadataFile describes all other files,
// previewFile is their page.
const (
	metadataFile = "ro-crate-metadata.json"
	previewFile  = "ro-crate-preview.html"
	readmeFile   = "README.md"
	StoreFile    = "runs.db"
)

// The metadata follows RO-Crate 1.1 and Process Run Crate 0.5. With a spec it also follows Workflow Run Crate
// 0.5 and Workflow RO-Crate 1.0. Change the versions only together: the profiles 0.5 need RO-Crate 1.1, and 0.6
// need 1.3.
const (
	roCrate            = "https://w3id.org/ro/crate/1.1"
	processRun         = "https://w3id.org/ro/wfrun/process/0.5"
	workflowRun        = "https://w3id.org/ro/wfrun/workflow/0.5"
	workflowCrate      = "https://w3id.org/workflowhub/workflow-ro-crate/1.0"
	bioschemasWorkflow = "https://bioschemas.org/profiles/ComputationalWorkflow/1.0-RELEASE"
	license            = "https://spdx.org/licenses/MIT"
)

// entity is a node of the JSON-LD graph.
type entity map[string]any

func ref(id string) entity { return entity{"@id": id} }

// refs refers to entities: see compact.
func refs(ids ...string) any {
	list := make([]entity, len(ids))
	for i, id := range ids {
		list[i] = ref(id)
	}
	return compact(list)
}

// compact returns the list, or its only element, which RO-Crate wants without a list.
func compact[T any](list []T) any {
	if len(list) == 1 {
		return list[0]
	}
	return list
}

// crate makes the metadata of an archive: its files, and the actions, programs, inputs, times and people that
// made them. files has all other files by name.
func crate(p Package, files map[string]fileInfo, h *history) ([]byte, error) {
	conforms, descriptor := []string{processRun}, []string{roCrate}
	if len(p.Specs) > 0 {
		conforms = append(conforms, workflowRun, workflowCrate)
		descriptor = append(descriptor, workflowCrate)
	}
	actions, contexts := h.describe(p)
	var mentions, names []string
	for _, a := range actions {
		mentions = append(mentions, a["@id"].(string))
	}
	for _, s := range p.Specs {
		names = append(names, s.Name)
	}
	root := entity{
		"@id": "./", "@type": "Dataset",
		"name": strings.TrimSuffix("Runs of ssdl: "+strings.Join(names, ", "), ": "),
		"description": fmt.Sprintf("%d runs (%d of them failed) of methods of dictionary learning and their pretexts, with their specs, tables and figures. "+
			"`ssdl import` adds the runs to another store. The licence is that of the runs, tables and figures; the archive has no data sets.", h.runs, h.failed),
		"datePublished": h.all.end.Format(isoTime),
		"license":       ref(license),
		"author":        ref(p.Author.id()),
		"publisher":     ref(p.publisher().id()),
		"conformsTo":    refs(conforms...),
		"hasPart":       refs(slices.Sorted(maps.Keys(files))...),
		"mentions":      refs(mentions...),
	}
	if len(p.Specs) > 0 {
		root["mainEntity"] = ref(p.Specs[0].File())
	}
	graph := []entity{
		{"@id": metadataFile, "@type": "CreativeWork", "about": ref("./"), "conformsTo": refs(descriptor...)},
		root,
	}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		graph = append(graph, describeFile(name, files[name], p, h))
	}
	graph = append(graph, actions...)
	graph = append(graph, contexts...)
	graph = append(graph, entity{
		"@id": license, "@type": "CreativeWork", "name": "MIT License", "identifier": "MIT",
		"description": "Everybody may use, change and pass on the work, with the notice of copyright.",
	})
	for _, is := range []struct{ id, name, version string }{
		{processRun, "Process Run Crate", "0.5"},
		{workflowRun, "Workflow Run Crate", "0.5"},
		{workflowCrate, "Workflow RO-Crate", "1.0"},
		{bioschemasWorkflow, "Bioschemas ComputationalWorkflow", "1.0-RELEASE"},
	} {
		if slices.Contains(conforms, is.id) || is.id == bioschemasWorkflow && len(p.Specs) > 0 {
			graph = append(graph, entity{"@id": is.id, "@type": "CreativeWork", "name": is.name, "version": is.version})
		}
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	err := enc.Encode(entity{
		"@context": []any{roCrate + "/context", entity{"sha256": "https://w3id.org/ro/terms/workflow-run#sha256"}},
		"@graph":   graph,
	})
	return b.Bytes(), err
}

// isoTime has an offset in digits, as the profiles require.
const isoTime = "2006-01-02T15:04:05.000-07:00"

// describeFile is the entity of a file.
func describeFile(name string, info fileInfo, p Package, h *history) entity {
	e := entity{
		"@id": name, "@type": "File", "name": path.Base(name),
		"description": fileDescriptions[cmp.Or(path.Dir(name), ".")],
		"contentSize": strconv.FormatInt(info.size, 10), "sha256": info.hash,
		"encodingFormat": cmp.Or(mediaTypes[path.Ext(name)], "text/plain"),
	}
	if what, ok := fileDescriptions[name]; ok {
		e["description"] = what
	}
	switch name {
	case readmeFile:
		e["about"] = ref("./")
	case previewFile:
		e["@type"], e["about"] = []string{"File", "CreativeWork"}, ref("./")
	case StoreFile:
		e["name"] = "Store of runs"
		if len(p.Specs) > 0 {
			e["exampleOfWork"] = ref(outputRuns)
		}
	}
	for _, s := range p.Specs {
		if s.File() == name {
			id := contentID(s.Source)
			maps.Copy(e, entity{
				"@type": []string{"File", "SoftwareSourceCode", "ComputationalWorkflow"},
				"name":  cmp.Or(s.Title, s.Name), "identifier": id, "url": resolver + id, "version": shortHash(id),
				"conformsTo": ref(bioschemasWorkflow), "programmingLanguage": ref(specLanguage),
				"creator": ref(p.Author.id()), "sdPublisher": ref(p.publisher().id()), "license": ref(license),
				"dateCreated": h.specs[s.Name].end.Format(isoTime),
				"input":       refs(inputDatasets, inputSeeds), "output": ref(outputRuns),
				"softwareRequirements": refs(h.programIDs()...),
			})
		}
	}
	return e
}

// fileDescriptions describes a file, or the files of a folder.
var fileDescriptions = map[string]string{
	StoreFile:      "All runs with their measurements, in one SQLite file.",
	readmeFile:     "The contents of the archive, and the commands that check it.",
	previewFile:    "A page that shows the contents of the archive.",
	"LICENSE":      "The licence of the program, the runs, the tables and the figures.",
	"CITATION.cff": "How to cite the program, and the paper that it runs again.",
	"specs":        "A spec: rows, settings, data sets and seeds.",
	"splits":       "The training, labelled and test samples of one seed.",
	"tables":       "The table of a spec.",
	"figures":      "A figure of a spec.",
	".":            "A document of the program.",
}

var mediaTypes = map[string]string{
	".db": "application/vnd.sqlite3", ".yaml": "application/yaml", ".cff": "application/yaml", ".json": "application/json", ".csv": "text/csv",
	".md": "text/markdown", ".tex": "application/x-tex", ".bib": "application/x-bibtex", ".html": "text/html", ".png": "image/png", ".svg": "image/svg+xml",
}
