package croissant

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"ssdl/harness/data"
)

// context is the JSON-LD context recommended in Appendix 1 of the specification, with the prefixes
// that its text uses.
var context = json.RawMessage(`{
  "@language": "en",
  "@vocab": "https://schema.org/",
  "citeAs": "cr:citeAs",
  "column": "cr:column",
  "conformsTo": "dct:conformsTo",
  "cr": "http://mlcommons.org/croissant/",
  "data": {"@id": "cr:data", "@type": "@json"},
  "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
  "dct": "http://purl.org/dc/terms/",
  "examples": {"@id": "cr:examples", "@type": "@json"},
  "extract": "cr:extract",
  "field": "cr:field",
  "fileObject": "cr:fileObject",
  "fileProperty": "cr:fileProperty",
  "fileSet": "cr:fileSet",
  "format": "cr:format",
  "includes": "cr:includes",
  "isLiveDataset": "cr:isLiveDataset",
  "jsonPath": "cr:jsonPath",
  "key": "cr:key",
  "md5": "cr:md5",
  "parentField": "cr:parentField",
  "path": "cr:path",
  "rai": "http://mlcommons.org/croissant/RAI/",
  "recordSet": "cr:recordSet",
  "references": "cr:references",
  "regex": "cr:regex",
  "repeated": "cr:repeated",
  "replace": "cr:replace",
  "sc": "https://schema.org/",
  "separator": "cr:separator",
  "source": "cr:source",
  "subField": "cr:subField",
  "transform": "cr:transform"
}`)

type dataset struct {
	Context      json.RawMessage `json:"@context"`
	Type         string          `json:"@type"`
	ConformsTo   string          `json:"conformsTo"`
	Name         string          `json:"name"`
	Description  string          `json:"description"`
	License      string          `json:"license,omitempty"`
	Citation     string          `json:"citeAs,omitempty"`
	URL          string          `json:"url,omitempty"`
	Creators     []person        `json:"creator,omitempty"`
	Published    string          `json:"datePublished,omitempty"` // ISO 8601: a day, a month or a year
	Version      string          `json:"version,omitempty"`
	Distribution []fileObject    `json:"distribution"`
	RecordSets   []recordSet     `json:"recordSet"`
}

type person struct {
	Type string `json:"@type"`
	Name string `json:"name"`
}

type fileObject struct {
	Type        string `json:"@type"`
	ID          string `json:"@id"`
	Name        string `json:"name"`
	Description string `json:"description"`
	ContentURL  string `json:"contentUrl"` // relative to croissant.json
	ContentSize string `json:"contentSize"`
	Encoding    string `json:"encodingFormat"`
	SHA256      string `json:"sha256"`
}

type ref struct {
	ID string `json:"@id"`
}

type recordSet struct {
	Type        string           `json:"@type"`
	ID          string           `json:"@id"`
	Name        string           `json:"name"`
	Description string           `json:"description"`
	DataType    string           `json:"dataType,omitempty"`
	Key         *ref             `json:"key,omitempty"`
	Fields      []field          `json:"field"`
	Data        []map[string]any `json:"data,omitempty"`
}

type field struct {
	Type        string   `json:"@type"`
	ID          string   `json:"@id"`
	Name        string   `json:"name"`
	Description string   `json:"description"`
	DataType    string   `json:"dataType"`
	Repeated    bool     `json:"repeated,omitempty"`
	References  *fieldOf `json:"references,omitempty"`
	Source      *source  `json:"source,omitempty"`
}

type fieldOf struct {
	Field ref `json:"field"`
}

type source struct {
	FileObject ref     `json:"fileObject"`
	Extract    extract `json:"extract"`
}

type extract struct {
	FileProperty string `json:"fileProperty,omitempty"`
	JSONPath     string `json:"jsonPath,omitempty"`
}

// file is one file of a data-set folder.
type file struct {
	name, encoding, about string
	optional              bool
}

const npy = "application/x-npy"

var files = []file{
	{"features.npy", npy, "One row of features per sample, in the NumPy array format.", false},
	{"labels.npy", npy, "The class of each sample, counted from 0, in the NumPy array format.", false},
	{"official_split.npy", npy, "The part of each sample in the authors' own split: 1 training, 2 test.", true},
	{"meta.json", "application/json", "Class names, file names, hashes and how the features were made.", true},
}

// describeFile returns size and hash of a file. It refuses a hash that differs from meta.json.
func describeFile(dir string, f file, sums map[string]string) (fileObject, error) {
	path := filepath.Join(dir, f.name)
	r, err := os.Open(path)
	if err != nil {
		return fileObject{}, err
	}
	defer r.Close()
	h := sha256.New()
	n, err := io.Copy(h, r)
	if err != nil {
		return fileObject{}, fmt.Errorf("%s: %w", path, err)
	}
	sum := hex.EncodeToString(h.Sum(nil))
	if want := sums[f.name]; want != "" && !strings.EqualFold(want, sum) {
		return fileObject{}, data.Invalid(path, "has a SHA-256 that begins with %.12s, meta.json says %.12s. Get the file again, or correct meta.json.", sum, want)
	}
	return fileObject{
		Type: "cr:FileObject", ID: f.name, Name: f.name, Description: f.about,
		ContentURL: f.name, ContentSize: fmt.Sprintf("%d B", n), Encoding: f.encoding, SHA256: sum,
	}, nil
}

// recordSets describes the samples, and the classes if meta.json names them.
func recordSets(info data.Info, m meta) []recordSet {
	content := func(name string) *source {
		return &source{ref{name}, extract{FileProperty: "content"}}
	}
	samples := recordSet{
		Type: "cr:RecordSet", ID: "samples", Name: "samples",
		Description: fmt.Sprintf("%d samples; record i is row i of the arrays, counted from 0.", info.Samples),
		Fields: []field{
			{
				ID: "samples/features", Name: "features", DataType: "sc:Float", Repeated: true, Source: content("features.npy"),
				Description: fmt.Sprintf("%d numbers, stored as %s.", info.Dim, info.DType),
			},
			{ID: "samples/label", Name: "label", DataType: "sc:Integer", Source: content("labels.npy"), Description: "The class, counted from 0."},
		},
	}
	if info.Official {
		samples.Fields = append(samples.Fields, field{
			ID: "samples/split", Name: "split", DataType: "sc:Integer", Source: content("official_split.npy"),
			Description: "The authors' own split: 1 training, 2 test.",
		})
	}
	if len(m.Files) > 0 {
		samples.Fields = append(samples.Fields, field{
			ID: "samples/file", Name: "file", DataType: "sc:Text", Description: "The file the features were made from.",
			Source: &source{ref{"meta.json"}, extract{JSONPath: "$.files[*]"}},
		})
	}
	var out []recordSet
	if len(m.Classes) > 0 {
		samples.Fields[1].References = &fieldOf{ref{"classes/index"}}
		classes := recordSet{
			Type: "cr:RecordSet", ID: "classes", Name: "classes", Description: fmt.Sprintf("The %d classes.", len(m.Classes)),
			DataType: "sc:Enumeration", Key: &ref{"classes/index"},
			Fields: []field{
				{ID: "classes/index", Name: "index", DataType: "sc:Integer", Description: "The number of the class, from 0."},
				{ID: "classes/name", Name: "name", DataType: "sc:Text", Description: "The name of the class."},
			},
		}
		for i, name := range m.Classes {
			classes.Data = append(classes.Data, map[string]any{"classes/index": i, "classes/name": name})
		}
		out = append(out, classes)
	}
	out = append(out, samples)
	for _, r := range out {
		for i := range r.Fields {
			r.Fields[i].Type = "cr:Field"
		}
	}
	return out
}

// meta holds the keys of meta.json that are read. Source, Backbone and Preprocessing may have any
// type; only text is used.
type meta struct {
	Name      string            `json:"name"`
	Classes   []string          `json:"classes"`
	Files     []string          `json:"files"`
	SHA256    map[string]string `json:"sha256"`
	License   string            `json:"license"`
	Creators  []string          `json:"creators"`
	URL       string            `json:"url"`
	Published string            `json:"date_published"`
	Citation  string            `json:"citation"`
	Version   string            `json:"version"`

	Source        any `json:"source"`
	Backbone      any `json:"backbone"`
	Preprocessing any `json:"preprocessing"`
}

// readMeta reads meta.json; without the file, meta is empty.
func readMeta(path string) (m meta, err error) {
	b, err := data.ReadText(path)
	if errors.Is(err, fs.ErrNotExist) {
		return m, nil
	}
	if err != nil {
		return m, err
	}
	if err := json.Unmarshal(b, &m); err != nil {
		return m, data.Invalid(path, "%v", err)
	}
	return m, nil
}

// description describes the set and its features in sentences.
func (m meta) description(info data.Info) string {
	classes := ""
	if info.Classes > 0 {
		classes = fmt.Sprintf(" in %d classes", info.Classes)
	}
	parts := []string{fmt.Sprintf("%d samples%s, each of %d features.", info.Samples, classes, info.Dim)}
	for _, p := range []struct {
		head string
		text any
	}{{"", m.Source}, {"Features: ", m.Backbone}, {"Preprocessing: ", m.Preprocessing}} {
		if s, ok := p.text.(string); ok && strings.TrimSpace(s) != "" {
			parts = append(parts, p.head+strings.TrimSuffix(strings.TrimSpace(s), ".")+".")
		}
	}
	return strings.Join(parts, " ")
}
