package archive

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"maps"
	"os"
	"path"
	"slices"
	"strconv"
	"time"

	"ssdl/harness/store"
)

// StoreFile is the store of an archive; metadataFile describes all others, and previewFile shows them, as
// RO-Crate wants it.
const (
	metadataFile = "ro-crate-metadata.json"
	previewFile  = "ro-crate-preview.html"
	StoreFile    = "runs.db"
)

// The specifications that the metadata follows: RO-Crate 1.1, and of the Workflow Run
// RO-Crate profiles version 0.5 that of processes and, where a spec is part of the
// archive, that of workflows, which is built on the profile of workflows themselves.
const (
	roCrate       = "https://w3id.org/ro/crate/1.1"
	processRun    = "https://w3id.org/ro/wfrun/process/0.5"
	workflowRun   = "https://w3id.org/ro/wfrun/workflow/0.5"
	workflowCrate = "https://w3id.org/workflowhub/workflow-ro-crate/1.0"
	license       = "https://spdx.org/licenses/MIT"
)

// entity is a node of the JSON-LD graph.
type entity map[string]any

func ref(id string) entity { return entity{"@id": id} }

func refs(ids ...string) []entity {
	list := make([]entity, len(ids))
	for i, id := range ids {
		list[i] = ref(id)
	}
	return list
}

// span is when runs took place.
type span struct{ start, end time.Time }

func (s *span) add(r store.Run) {
	end := r.Started.Add(r.Wall)
	if s.start.IsZero() || r.Started.Before(s.start) {
		s.start = r.Started
	}
	if end.After(s.end) {
		s.end = end
	}
}

// history is what the metadata tells of the runs of a store.
type history struct {
	runs     int
	failed   int
	all      span
	programs map[string]*program // by version
	datasets map[string]store.Dataset
	specs    map[string]*span           // by name
	uses     map[string]map[string]bool // hashes of the data sets by spec
}

// version is the commit of the program, with the hash of what differed from it, if
// anything; empty where unknown.
func version(env map[string]string) string {
	v := commit(env)
	if d := env["dirty"]; d != "" {
		v += "+dirty." + d[:min(len(d), 12)]
	}
	return v
}

// program is a state of the program and the runs that it made.
type program struct {
	span
	runs     int
	platform map[string]bool
	datasets map[string]bool
}

func newHistory() *history {
	return &history{
		programs: map[string]*program{}, datasets: map[string]store.Dataset{},
		specs: map[string]*span{}, uses: map[string]map[string]bool{},
	}
}

// add notes a run; specs are those of the archive that show it.
func (h *history) add(e store.RunRecord, specs []string) {
	h.runs++
	if e.Run.Status != store.StatusOK {
		h.failed++
	}
	h.all.add(e.Run)
	h.datasets[e.Dataset.Hash] = e.Dataset
	at := version(e.Run.Env)
	p := h.programs[at]
	if p == nil {
		p = &program{platform: map[string]bool{}, datasets: map[string]bool{}}
		h.programs[at] = p
	}
	p.add(e.Run)
	p.runs++
	p.platform[e.Run.Env["go"]+" "+e.Run.Env["os"]+"/"+e.Run.Env["arch"]] = true
	p.datasets[e.Dataset.Hash] = true
	for _, name := range specs {
		if h.specs[name] == nil {
			h.specs[name], h.uses[name] = &span{}, map[string]bool{}
		}
		h.specs[name].add(e.Run)
		h.uses[name][e.Dataset.Hash] = true
	}
}

// fileInfo is the size and the SHA-256 of a file.
type fileInfo struct {
	size int64
	hash string
}

// crate is the metadata of an archive: what its files are, what made them, of what and
// when. files lists all others by name.
func crate(specs []Spec, files map[string]fileInfo, h *history) ([]byte, error) {
	conforms := []string{processRun}
	descriptor := []string{roCrate}
	if len(specs) > 0 {
		conforms = append(conforms, workflowRun, workflowCrate)
		descriptor = append(descriptor, workflowCrate)
	}
	actions, contexts := h.describe(specs)
	var mentions []string
	for _, a := range actions {
		mentions = append(mentions, a["@id"].(string))
	}
	root := entity{
		"@id": "./", "@type": "Dataset",
		"name": "Runs of ssdl",
		"description": fmt.Sprintf("%d runs (%d of them failed) of methods of dictionary learning and their pretexts, with the specs that asked for them and the tables and figures made of them. "+
			"`ssdl import` adds the runs to another store. The licence is that of the runs, tables and figures; the data sets are no part of the archive.", h.runs, h.failed),
		"datePublished": h.all.end.Format(isoTime),
		"license":       ref(license),
		"conformsTo":    refs(conforms...),
		"hasPart":       refs(slices.Sorted(maps.Keys(files))...),
		"mentions":      refs(mentions...),
	}
	if len(specs) > 0 {
		root["mainEntity"] = ref(specs[0].File())
	}
	graph := []entity{
		{"@id": metadataFile, "@type": "CreativeWork", "about": ref("./"), "conformsTo": refs(descriptor...)},
		root,
	}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		graph = append(graph, describeFile(name, files[name], specs, h))
	}
	graph = append(graph, actions...)
	graph = append(graph, contexts...)
	graph = append(graph, entity{"@id": license, "@type": "CreativeWork", "name": "MIT License", "identifier": "MIT"})
	for _, p := range []struct{ id, name, version string }{
		{processRun, "Process Run Crate", "0.5"},
		{workflowRun, "Workflow Run Crate", "0.5"},
		{workflowCrate, "Workflow RO-Crate", "1.0"},
	} {
		if slices.Contains(conforms, p.id) {
			graph = append(graph, entity{"@id": p.id, "@type": "CreativeWork", "name": p.name, "version": p.version})
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

const isoTime = "2006-01-02T15:04:05.000Z"

// describeFile is the entity of a file.
func describeFile(name string, info fileInfo, specs []Spec, h *history) entity {
	e := entity{
		"@id": name, "@type": "File", "name": path.Base(name),
		"contentSize": strconv.FormatInt(info.size, 10), "sha256": info.hash,
	}
	if kind, ok := mediaTypes[path.Ext(name)]; ok {
		e["encodingFormat"] = kind
	}
	if name == previewFile {
		e["@type"], e["about"] = []string{"File", "CreativeWork"}, ref("./")
	}
	if name == StoreFile {
		e["name"], e["description"] = "Store of runs", "All runs with what they measured, in one SQLite file."
	}
	for _, s := range specs {
		if s.File() == name {
			e["@type"] = []string{"File", "SoftwareSourceCode", "ComputationalWorkflow"}
			e["name"], e["programmingLanguage"] = cmp.Or(s.Title, s.Name), ref("#spec-language")
			e["softwareRequirements"] = refs(h.programIDs()...)
		}
	}
	return e
}

var mediaTypes = map[string]string{
	".db": "application/vnd.sqlite3", ".yaml": "application/yaml", ".json": "application/json", ".csv": "text/csv",
	".md": "text/markdown", ".tex": "application/x-tex", ".bib": "application/x-bibtex", ".txt": "text/plain", ".html": "text/html", ".png": "image/png", ".svg": "image/svg+xml",
}

func programID(version string) string {
	if version == "" {
		return "#ssdl"
	}
	return "#ssdl-" + version
}

func (h *history) programIDs() []string {
	var ids []string
	for _, version := range slices.Sorted(maps.Keys(h.programs)) {
		ids = append(ids, programID(version))
	}
	return ids
}

func dataIDs(hashes map[string]bool) []string {
	var ids []string
	for _, hash := range slices.Sorted(maps.Keys(hashes)) {
		ids = append(ids, "#data-"+hash)
	}
	return ids
}

// describe makes an action of what each spec asked for and of what each state of the
// program ran, and the entities that these refer to.
func (h *history) describe(specs []Spec) (actions, contexts []entity) {
	for _, s := range specs {
		when := h.specs[s.Name]
		result := refs(s.results()...)
		object := append(refs(s.splitFiles()...), refs(dataIDs(h.uses[s.Name])...)...)
		action := entity{
			"@id": "#run-" + s.Name, "@type": "CreateAction", "name": "Runs, table and figures of " + s.Name,
			"description": "Made by: " + s.Command, "instrument": ref(s.File()), "object": object, "result": append(result, ref(StoreFile)),
			"startTime": when.start.Format(isoTime), "endTime": when.end.Format(isoTime),
			"actionStatus": ref("http://schema.org/CompletedActionStatus"),
		}
		if s.Missing > 0 { // neither completed nor failed, and there is no word for that
			delete(action, "actionStatus")
			action["description"] = fmt.Sprintf("%s; %d of its runs are not there yet", action["description"], s.Missing)
		}
		actions = append(actions, action)
	}
	for _, version := range slices.Sorted(maps.Keys(h.programs)) {
		p := h.programs[version]
		actions = append(actions, entity{
			"@id": "#runs-" + cmp.Or(version, "unknown"), "@type": "CreateAction", "name": fmt.Sprintf("%d runs of one state of the program", p.runs),
			"instrument": ref(programID(version)), "object": refs(dataIDs(p.datasets)...), "result": refs(StoreFile),
			"startTime": p.start.Format(isoTime), "endTime": p.end.Format(isoTime),
			"actionStatus": ref("http://schema.org/CompletedActionStatus"),
		})
		contexts = append(contexts, entity{
			"@id": programID(version), "@type": "SoftwareApplication", "name": "ssdl",
			"description":         "Re-runs the paper \"SSDL: Self-Supervised Dictionary Learning\" (ICME 2021) with its baselines.",
			"softwareVersion":     cmp.Or(version, "not recorded"),
			"runtimePlatform":     slices.Sorted(maps.Keys(p.platform)),
			"applicationCategory": "scientific",
		})
	}
	for _, hash := range slices.Sorted(maps.Keys(h.datasets)) {
		d := h.datasets[hash]
		what := "features"
		if d.Synthetic {
			what = "generated features"
		}
		contexts = append(contexts, entity{
			"@id": "#data-" + hash, "@type": "CreativeWork", "name": d.Name, "identifier": "sha256:" + hash,
			"description": fmt.Sprintf("%d samples of %d %s in %d classes. Not part of the archive.", d.Samples, d.Dim, what, d.Classes),
		})
	}
	if len(specs) > 0 {
		contexts = append(contexts, entity{"@id": "#spec-language", "@type": "ComputerLanguage", "name": "ssdl spec", "description": "A YAML file that says what is run on what; the grammar is that of package ssdl/harness/spec."})
	}
	return actions, contexts
}

// maxMetadata bounds the metadata and the manifest of an untrusted archive.
const maxMetadata = 64 << 20

// checkCrate compares what was unpacked with the metadata among it.
func checkCrate(root *os.Root, found map[string]fileInfo) error {
	info, ok := found[metadataFile]
	if !ok {
		return fmt.Errorf("it has no %s: it is no archive of this program", metadataFile)
	}
	if _, ok := found[StoreFile]; !ok {
		return fmt.Errorf("it has no %s: it is no archive of this program", StoreFile)
	}
	if info.size > maxMetadata {
		return fmt.Errorf("its %s has %d bytes; at most %d are read", metadataFile, info.size, maxMetadata)
	}
	raw, err := root.ReadFile(metadataFile)
	if err != nil {
		return err
	}
	var doc struct {
		Graph []struct {
			ID     string `json:"@id"`
			Type   any    `json:"@type"`
			Size   string `json:"contentSize"`
			SHA256 string `json:"sha256"`
		} `json:"@graph"`
	}
	if err := json.Unmarshal(raw, &doc); err != nil {
		return fmt.Errorf("its %s cannot be read: %w", metadataFile, err)
	}
	listed := map[string]bool{metadataFile: true}
	for _, e := range doc.Graph {
		if !isFile(e.Type) {
			continue
		}
		info, ok := found[e.ID]
		switch {
		case !ok:
			return fmt.Errorf("%q is missing", e.ID)
		case e.Size != strconv.FormatInt(info.size, 10) || e.SHA256 != info.hash:
			return fmt.Errorf("%q is not the file that its %s describes: it was changed or damaged", e.ID, metadataFile)
		}
		listed[e.ID] = true
	}
	for _, name := range slices.Sorted(maps.Keys(found)) {
		if !listed[name] && !isSeal(name) {
			return fmt.Errorf("%q is not described in its %s", name, metadataFile)
		}
	}
	return nil
}

// isFile reports whether the @type of an entity, a text or a list of them, has "File".
func isFile(kind any) bool {
	list, ok := kind.([]any)
	return kind == "File" || ok && slices.Contains(list, any("File"))
}

type sha struct{ hash.Hash }

func newHash() sha { return sha{sha256.New()} }

func (h sha) hex() string { return hex.EncodeToString(h.Sum(nil)) }

// infoOf is the size and the hash of a content.
func infoOf(content []byte) fileInfo {
	h := newHash()
	h.Write(content)
	return fileInfo{int64(len(content)), h.hex()}
}

// hashFile reads a file to its end.
func hashFile(name string) (fileInfo, error) {
	f, err := os.Open(name)
	if err != nil {
		return fileInfo{}, err
	}
	h := newHash()
	n, err := io.Copy(h, f)
	return fileInfo{n, h.hex()}, errors.Join(err, f.Close())
}
