package archive

import (
	"archive/zip"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"ssdl/harness/store"
)

// node is an entity of the metadata, as read.
type node map[string]any

func (n node) is(kind string) bool { return slices.Contains(texts(n["@type"]), kind) }

func (n node) id() string { s, _ := n["@id"].(string); return s }

// crateDoc is an unpacked archive.
type crateDoc struct {
	Context []any  `json:"@context"`
	Graph   []node `json:"@graph"`
	content map[string][]byte
}

func readCrate(t testing.TB, path string) *crateDoc {
	t.Helper()
	z, err := zip.OpenReader(path)
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	d := &crateDoc{content: map[string][]byte{}}
	for _, f := range z.File {
		r, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		if d.content[f.Name], err = io.ReadAll(r); err != nil {
			t.Fatal(err)
		}
	}
	if err := json.Unmarshal(d.content[metadataFile], d); err != nil {
		t.Fatal(err)
	}
	return d
}

func (d *crateDoc) get(id string) node {
	for _, n := range d.Graph {
		if n.id() == id {
			return n
		}
	}
	return nil
}

func (d *crateDoc) root() node { return d.get("./") }

// of are the entities of a type.
func (d *crateDoc) of(kind string) (list []node) {
	for _, n := range d.Graph {
		if n.is(kind) {
			list = append(list, n)
		}
	}
	return list
}

// all reports whether a property refers to something, and only to entities of these types.
func (d *crateDoc) all(v any, kinds ...string) bool {
	for _, id := range targets(v) {
		if !slices.ContainsFunc(kinds, d.get(id).is) {
			return false
		}
	}
	return len(targets(v)) > 0
}

// texts are the values of a property that is a text or a list of them.
func texts(v any) (list []string) {
	if s, ok := v.(string); ok {
		return []string{s}
	}
	all, _ := v.([]any)
	for _, x := range all {
		if s, ok := x.(string); ok {
			list = append(list, s)
		}
	}
	return list
}

// targets are the ids that a property refers to.
func targets(v any) (ids []string) {
	if m, ok := v.(map[string]any); ok {
		v = []any{m}
	}
	all, _ := v.([]any)
	for _, x := range all {
		if m, ok := x.(map[string]any); ok {
			ids = append(ids, m["@id"].(string))
		}
	}
	return ids
}

// packages are the packages that the rules check: with and without specs, each kind of author, imported runs,
// and every kind of program.
func packages(t testing.TB) map[string]*crateDoc {
	t.Helper()
	docs := map[string]*crateDoc{}
	add := func(name string, st *store.Store, p Package) {
		path := filepath.Join(t.TempDir(), "a.zip")
		if err := Write(t.Context(), path, st, p, right, nil); err != nil {
			t.Fatal(err)
		}
		docs[name] = readCrate(t, path)
	}
	st := newStore(t)
	record(t, st, someJob("src", "", 7), func(r *store.Run) {
		r.Env = map[string]string{"vcs.revision": someCommit, "vcs.modified": "true", "executable": "abcdef0123456789", "go": "go1.26", "os": "linux", "arch": "arm64"}
	})
	record(t, st, someJob("src", "", 8), func(r *store.Run) { r.Env = map[string]string{"executable": "123456789abcdef0"} })
	record(t, st, someJob("src", "", 9), func(r *store.Run) { r.Env = map[string]string{} })
	add("no specs, no author", st, Package{})
	add("specs by an organisation", st, Package{Specs: someSpecs(), Preview: []byte("<!DOCTYPE html>"), Documents: someDocuments, Author: someAuthor})

	other := filepath.Join(t.TempDir(), "other.db")
	newStoreAt(t, other)
	merged, err := store.Open(t.Context(), filepath.Join(t.TempDir(), "runs.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer merged.Close()
	if _, err := merged.Merge(t.Context(), store.MergeOptions{}, store.Source{Name: "/home/somebody/other.zip", Path: other, SHA256: strings.Repeat("a", 64), Signer: "somebody"}); err != nil {
		t.Fatal(err)
	}
	record(t, merged, someJob("src", "", 7), nil)
	add("imported, by a person", merged, Package{
		Specs: someSpecs(), Author: Agent{"A. Person", "https://orcid.org/0000-0002-1825-0097"}, Publisher: Agent{"A university", "https://ror.org/02mhbdp94"},
	})
	return docs
}

// Every archive keeps every rule.
func TestCrateKeepsTheRules(t *testing.T) {
	for name, d := range packages(t) {
		for _, r := range crateRules {
			if r.workflow && d.root()["mainEntity"] == nil {
				continue
			}
			for _, fault := range r.check(d) {
				t.Errorf("%s: %s, %s %s: %s", name, r.source, r.level, r.text, fault)
			}
		}
	}
}

// Every rule finds a violation of it.
func TestRulesNotice(t *testing.T) {
	intact := packages(t)
	for _, r := range crateRules {
		broken := false
		for _, d := range intact {
			copied := copyOf(t, d)
			if r.workflow && d.root()["mainEntity"] == nil || !r.spoil(copied) {
				continue
			}
			broken = true
			if len(r.check(copied)) == 0 {
				t.Errorf("%s: %s is not noticed when it is broken", r.source, r.text)
			}
		}
		if !broken {
			t.Errorf("%s: %s cannot be broken by the test", r.source, r.text)
		}
	}
}

func copyOf(t testing.TB, d *crateDoc) *crateDoc {
	t.Helper()
	raw, err := json.Marshal(d)
	if err != nil {
		t.Fatal(err)
	}
	c := &crateDoc{content: maps.Clone(d.content)}
	if err := json.Unmarshal(raw, c); err != nil {
		t.Fatal(err)
	}
	return c
}

// Properties of the metadata beyond the rules.
func TestCrateContent(t *testing.T) {
	d := packages(t)["specs by an organisation"]
	for name, c := range d.content {
		if e := d.get(name); name != metadataFile && !isSeal(name) && (e["sha256"] != sum(c) || e["contentSize"] != strconv.Itoa(len(c))) {
			t.Errorf("%s is described as %v", name, e)
		}
	}
	table1 := d.get("#run-table1")
	if table1["startTime"] != "2026-11-03T09:30:00.123+00:00" || table1["endTime"] != "2026-11-03T09:30:02.123+00:00" || table1["description"] != "Made by: ssdl run table1" {
		t.Errorf("table1: %v", table1)
	}
	if want := []string{"splits/sports8-1000-50.json", "#data-d0", "#datasets-table1", "#seeds-table1"}; !slices.Equal(targets(table1["object"]), want) {
		t.Errorf("table1 is made of %v", table1["object"])
	}
	if want := []string{"tables/table1.csv", "figures/table1.svg", "tables/table1.html", StoreFile}; !slices.Equal(targets(table1["result"]), want) {
		t.Errorf("table1 made %v", table1["result"])
	}
	if v := d.get("#seeds-table1"); v["value"] != "1000..1001" {
		t.Errorf("seeds %v", v)
	}
	if got := targets(d.root()["mainEntity"]); !slices.Equal(got, []string{"specs/table1.yaml"}) {
		t.Errorf("main entity %v", got)
	}
	// git hash-object gives the same name of this content.
	if e := d.get("specs/table1.yaml"); e["identifier"] != "swh:1:cnt:a767d6545ad2212d006400ffe8f6326dcf694d46" {
		t.Errorf("spec %v", e["identifier"])
	}

	// Each state of the program has its identifier.
	var got []string
	for _, e := range d.of("SoftwareApplication") {
		got = append(got, fmt.Sprintf("%s %v %v %v", e.id(), e["softwareVersion"], e["identifier"], targets(e["isBasedOn"])))
	}
	rev := "swh:1:rev:" + someCommit
	want := []string{
		"#ssdl not recorded <nil> []",
		"#ssdl-executable.123456789abc executable.123456789abc <nil> []",
		resolver + rev + " " + someCommit + " " + rev + " []",
		"#ssdl-" + someCommit + "+dirty.0123456789ab " + someCommit + "+dirty.0123456789ab <nil> [#" + rev + "]",
		"#ssdl-" + someCommit + "+modified.abcdef012345 " + someCommit + "+modified.abcdef012345 <nil> [#" + rev + "]",
	}
	if !slices.Equal(got, want) {
		t.Errorf("programs\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}

	// Nobody is said to have run what was imported.
	d = packages(t)["imported, by a person"]
	var agents []string
	for _, e := range d.of("CreateAction") {
		for _, id := range targets(e["agent"]) {
			agents = append(agents, fmt.Sprint(d.get(id)["name"]))
		}
	}
	if text := string(d.content[metadataFile]); strings.Contains(text, "/home/") || !strings.Contains(text, "Imported from other.zip: ") {
		t.Error("the metadata do not name the file that was imported, or say where it lay")
	}
	slices.Sort(agents)
	if got := slices.Compact(agents); !slices.Equal(got, []string{"A. Person", "somebody"}) {
		t.Errorf("agents %v", got)
	}
}

// The README names the commands that check an archive.
func TestReadme(t *testing.T) {
	text := string(packages(t)["specs by an organisation"].content[readmeFile])
	for _, want := range []string{
		"\n7 runs, 1 of them failed, recorded from 2026-11-03 to 2026-11-03.", "\n    sha256sum -c SHA256SUMS\n", "\n    ssh-keygen -Y verify -f allowed_signers -I AUTHOR -n ssdl -s SHA256SUMS.sig < SHA256SUMS\n",
		"--require-signature", "\n    ssdl fsck --results theirs\n", "\n    ssdl check specs/table1.yaml specs/table2.yaml --results theirs --sample 60\n", "\n| specs/ |", "\n| splits/ |", "\n| figures/ |", "\n    ssdl run table1\n    ssdl run table2\n",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the README does not say %q:\n%s", want, text)
		}
	}
	// Without specs there is none to check, and no folder but the store.
	text = string(packages(t)["no specs, no author"].content[readmeFile])
	for _, absent := range []string{"ssdl check", "specs/", "splits/", "figures/"} {
		if strings.Contains(text, absent) {
			t.Errorf("the README names %s:\n%s", absent, text)
		}
	}
}

func TestParseAgent(t *testing.T) {
	got, err := ParseAgent(" A University <https://ror.org/02mhbdp94> ")
	if want := (Agent{"A University", "https://ror.org/02mhbdp94"}); err != nil || got != want || got.IsPerson() {
		t.Errorf("%+v, %v", got, err)
	}
	for _, text := range []string{"", "A University", "<https://ror.org/02mhbdp94>", "A <ror.org>", "A <https://ror.org", "A <ftp://ror.org>", "A <https://>"} {
		_, err := ParseAgent(text)
		wantError(t, err, strconv.Quote(text), "expected \"NAME <URL>\"")
	}
}
