package croissant

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ssdl/harness/data"
)

// npyFile is a .npy file of zeros with the given type and shape, or of the labels.
func npyFile(descr, shape string, size int, values []byte) []byte {
	header := fmt.Sprintf("{'descr': '%s', 'fortran_order': False, 'shape': %s, }", descr, shape)
	header += strings.Repeat(" ", 63-(10+len(header))%64) + "\n"
	b := append([]byte("\x93NUMPY\x01\x00"), binary.LittleEndian.AppendUint16(nil, uint16(len(header)))...)
	b = append(b, header...)
	if values == nil {
		values = make([]byte, size)
	}
	return append(b, values...)
}

// folder writes a data set of three samples with two features, and its meta.json.
func folder(t *testing.T, name string, meta map[string]any) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), name)
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	put := func(name string, b []byte) {
		if err := os.WriteFile(filepath.Join(dir, name), b, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	put("features.npy", npyFile("<f4", "(3, 2)", 24, nil))
	put("labels.npy", npyFile("|i1", "(3,)", 3, []byte{0, 1, 1}))
	if meta != nil {
		b, err := json.Marshal(meta)
		if err != nil {
			t.Fatal(err)
		}
		put("meta.json", b)
	}
	return dir
}

// save writes the description of a folder into it.
func save(dir string) (missing []string, err error) {
	content, missing, err := Describe(dir)
	if err != nil {
		return nil, err
	}
	return missing, os.WriteFile(filepath.Join(dir, FileName), content, 0o644)
}

// written reads croissant.json back.
func written(t *testing.T, dir string) map[string]any {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(dir, FileName))
	if err != nil {
		t.Fatal(err)
	}
	var v map[string]any
	if err := json.Unmarshal(b, &v); err != nil {
		t.Fatal(err)
	}
	return v
}

var complete = map[string]any{
	"name": "mine", "classes": []string{"rowing", "polo"}, "files": []string{"a.jpg", "b.jpg", "c.jpg"},
	"license": "https://creativecommons.org/licenses/by/4.0/", "creators": []string{"A. Author", "B. Author"},
	"url": "https://example.org/mine", "date_published": "2026-11-21", "citation": "A. Author: Mine", "version": "1.0.0",
	"source": "Three <photographs>.", "backbone": "ResNet-50", "preprocessing": map[string]int{"crop": 224},
}

// TestRequiredProperties checks the properties that the specification requires of a data set, a
// file, a record set and a field.
func TestRequiredProperties(t *testing.T) {
	dir := folder(t, "mine", complete)
	missing, err := save(dir)
	if err != nil || len(missing) > 0 {
		t.Fatalf("missing %v: %v", missing, err)
	}
	d := written(t, dir)
	need := func(what string, v any, properties ...string) map[string]any {
		t.Helper()
		m, ok := v.(map[string]any)
		if !ok {
			t.Fatalf("%s is %T, expected an object", what, v)
		}
		for _, p := range properties {
			if s, text := m[p].(string); m[p] == nil || text && s == "" {
				t.Errorf("%s has no %s", what, p)
			}
		}
		return m
	}
	need("the data set", d, "@context", "@type", "conformsTo", "description", "license", "name", "url", "creator", "datePublished", "distribution", "recordSet", "citeAs", "version")
	if d["@type"] != "sc:Dataset" || d["conformsTo"] != "http://mlcommons.org/croissant/1.0" {
		t.Errorf("type %v, conforms to %v", d["@type"], d["conformsTo"])
	}
	c := need("the context", d["@context"], "@language", "@vocab", "conformsTo", "citeAs", "cr", "sc", "dct", "recordSet", "field", "dataType")
	if c["cr"] != "http://mlcommons.org/croissant/" || c["conformsTo"] != "dct:conformsTo" {
		t.Errorf("context %v", c)
	}
	ids := map[string]bool{}
	for _, v := range d["distribution"].([]any) {
		o := need("a file", v, "@type", "@id", "name", "contentUrl", "contentSize", "encodingFormat", "sha256")
		b, err := os.ReadFile(filepath.Join(dir, o["contentUrl"].(string)))
		if err != nil {
			t.Fatal(err)
		}
		sum := sha256.Sum256(b)
		if o["@type"] != "cr:FileObject" || o["sha256"] != hex.EncodeToString(sum[:]) || o["contentSize"] != fmt.Sprintf("%d B", len(b)) {
			t.Errorf("file %v", o)
		}
		ids[o["@id"].(string)] = true
	}
	if !ids["features.npy"] || !ids["labels.npy"] || !ids["meta.json"] || len(ids) != 3 {
		t.Errorf("files %v", ids)
	}
	fields, refs := map[string]bool{}, []string{}
	for _, v := range d["recordSet"].([]any) {
		r := need("a record set", v, "@type", "@id", "name", "field")
		if r["@type"] != "cr:RecordSet" {
			t.Errorf("record set %v", r)
		}
		for _, v := range r["field"].([]any) {
			f := need("a field", v, "@type", "@id", "name", "dataType")
			if f["@type"] != "cr:Field" {
				t.Errorf("field %v", f)
			}
			fields[f["@id"].(string)] = true
			if r["data"] == nil { // the data are in a source of the field or in its record set
				s := need("a field of samples", f, "source")["source"].(map[string]any)
				refs = append(refs, need("a source", s["fileObject"], "@id")["@id"].(string))
				need("a source", s, "extract")
			}
			if ref, ok := f["references"].(map[string]any); ok {
				if id := ref["field"].(map[string]any)["@id"]; id != "classes/index" {
					t.Errorf("a label refers to %v", id)
				}
			}
		}
	}
	for _, id := range refs {
		if !ids[id] {
			t.Errorf("a field is taken from %s, which is not distributed", id)
		}
	}
	for _, id := range []string{"samples/features", "samples/label", "samples/file", "classes/index", "classes/name"} {
		if !fields[id] {
			t.Errorf("there is no field %s", id)
		}
	}
	classes := d["recordSet"].([]any)[0].(map[string]any)["data"]
	want := []any{map[string]any{"classes/index": 0.0, "classes/name": "rowing"}, map[string]any{"classes/index": 1.0, "classes/name": "polo"}}
	if diff := cmp.Diff(want, classes); diff != "" {
		t.Errorf("classes: %s", diff)
	}
	if want := "3 samples in 2 classes, each of 2 features. Three <photographs>. Features: ResNet-50."; d["description"] != want {
		t.Errorf("description %q, want %q", d["description"], want)
	}
}

// The same folder gives the same bytes, also when it already has croissant.json.
func TestDescribeIsReproducible(t *testing.T) {
	dir := folder(t, "mine", complete)
	var had []byte
	for range 2 {
		if _, err := save(dir); err != nil {
			t.Fatal(err)
		}
		b, err := os.ReadFile(filepath.Join(dir, FileName))
		if err != nil || had != nil && string(b) != string(had) {
			t.Errorf("differs from the first: %v\n%s", err, b)
		}
		had = b
	}
	names, err := os.ReadDir(dir)
	if err != nil || len(names) != 4 {
		t.Errorf("the folder has %v", names)
	}
}

// Properties without a source are left out, and named as missing.
func TestDescribeNamesMissingProperties(t *testing.T) {
	dir := folder(t, "mine", nil)
	missing, err := save(dir)
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"license", "creators", "url", "date_published"}; !slices.Equal(missing, want) {
		t.Errorf("missing %v, want %v", missing, want)
	}
	d := written(t, dir)
	for _, p := range []string{"license", "creator", "url", "datePublished", "citeAs", "version"} {
		if _, ok := d[p]; ok {
			t.Errorf("%s is %v", p, d[p])
		}
	}
	if d["name"] != "mine" {
		t.Errorf("name %v", d["name"])
	}
}

// A set with only the name of one of the paper's sets does not get its authors.
func TestDescribeOtherSetUnderKnownName(t *testing.T) {
	for _, meta := range []map[string]any{nil, {"name": "stanford40"}, {"name": "mine"}} {
		missing, err := save(folder(t, "stanford40", meta))
		if err != nil || len(missing) != 4 {
			t.Errorf("%v: missing %v: %v", meta, missing, err)
		}
	}
}

func TestDescribeRefuses(t *testing.T) {
	for name, c := range map[string]struct {
		change func(dir string)
		is     error
		want   string
	}{
		"no folder":       {func(dir string) { os.RemoveAll(dir) }, fs.ErrNotExist, "mine"},
		"a file":          {func(dir string) { os.RemoveAll(dir); os.WriteFile(dir, nil, 0o644) }, data.ErrData, "is a file"},
		"no labels":       {func(dir string) { os.Remove(filepath.Join(dir, "labels.npy")) }, fs.ErrNotExist, "labels.npy"},
		"broken features": {func(dir string) { os.WriteFile(filepath.Join(dir, "features.npy"), []byte("x"), 0o644) }, data.ErrData, "features.npy"},
		"broken meta":     {func(dir string) { os.WriteFile(filepath.Join(dir, "meta.json"), []byte("{"), 0o644) }, data.ErrData, "meta.json"},
		"another hash": {func(dir string) {
			os.WriteFile(filepath.Join(dir, "meta.json"), []byte(`{"sha256":{"labels.npy":"00"}}`), 0o644)
		}, data.ErrData, "labels.npy"},
		"meta of another kind": {func(dir string) { os.WriteFile(filepath.Join(dir, "meta.json"), []byte(`{"license":[1]}`), 0o644) }, data.ErrData, "license"},
		"giant meta": {func(dir string) {
			os.WriteFile(filepath.Join(dir, "meta.json"), []byte(`{"a":"`+strings.Repeat(" ", 64<<20)+`"}`), 0o644)
		}, data.ErrData, "expected at most"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := folder(t, "mine", complete)
			c.change(dir)
			if _, err := save(dir); !errors.Is(err, c.is) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want one with %q", err, c.want)
			}
			if _, err := os.Stat(filepath.Join(dir, FileName)); err == nil {
				t.Error("metadata were written")
			}
		})
	}
}

// The features of the paper's own set get its licence, authors and official split.
func TestDescribeKnownSet(t *testing.T) {
	root := os.Getenv("SSDL_DATA")
	from, ok := data.Find("stanford40", []string{root})
	if root == "" || !ok {
		t.Skip("no stanford40 in $SSDL_DATA")
	}
	dir := filepath.Join(t.TempDir(), "stanford40")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		path, err := filepath.Abs(filepath.Join(from, f.name))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(path, filepath.Join(dir, f.name)); err != nil {
			t.Fatal(err)
		}
	}
	missing, err := save(dir)
	if err != nil || len(missing) > 0 {
		t.Fatalf("missing %v: %v", missing, err)
	}
	d := written(t, dir)
	if len(d["distribution"].([]any)) != 4 || len(d["creator"].([]any)) != 6 || d["datePublished"] != "2011" {
		t.Errorf("distribution %v, creators %v, date %v", d["distribution"], d["creator"], d["datePublished"])
	}
}
