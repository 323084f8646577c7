// Package croissant describes a data-set folder as Croissant 1.0 metadata (JSON-LD), which search
// engines for data sets and loaders read. It writes no file.
//
// Specification: https://docs.mlcommons.org/croissant/docs/croissant-spec.html
package croissant

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"ssdl/experiments"
	"ssdl/harness/data"
)

// FileName is the name of the metadata file in the folder it describes.
const FileName = "croissant.json"

// Describe returns the content of croissant.json for the folder dir (features.npy, labels.npy,
// meta.json; official_split.npy if present). Licence, creators, address, date and citation come
// from meta.json (license, creators, url, date_published, citation), or else from the list of known
// data sets. missing names the required properties that neither has.
//
// The error wraps data.ErrData if the content is unusable or contradicts meta.json, and
// fs.ErrNotExist without a set.
func Describe(dir string) (content []byte, missing []string, err error) {
	d, err := describe(dir)
	if err != nil {
		return nil, nil, err
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(d); err != nil {
		return nil, nil, fmt.Errorf("%s: Croissant metadata: %w", dir, err)
	}
	return b.Bytes(), d.missing(), nil
}

// describe reads headers and meta.json and hashes the files.
func describe(dir string) (*dataset, error) {
	if st, err := os.Stat(dir); err != nil {
		return nil, err
	} else if !st.IsDir() {
		return nil, data.Invalid(dir, "is a file; Croissant describes folders with features.npy and labels.npy")
	}
	info, err := data.Inspect(dir)
	if err != nil {
		return nil, err
	}
	m, err := readMeta(filepath.Join(dir, "meta.json"))
	if err != nil {
		return nil, err
	}
	d := &dataset{
		Context: context, Type: "sc:Dataset", ConformsTo: "http://mlcommons.org/croissant/1.0",
		Name: m.Name, Description: m.description(info),
		License: m.License, Citation: m.Citation, URL: m.URL, Published: m.Published, Version: m.Version,
	}
	if d.Name == "" {
		d.Name = info.Name
	}
	creators := m.Creators
	// A different set under a known name does not get the licence of the known one.
	facts := experiments.Facts{Samples: info.Samples, Classes: info.Classes, Declared: m.Name}
	k, ok := experiments.Known(d.Name)
	if !ok {
		k, ok = experiments.Known(info.Name)
	}
	if ok && !k.Synthetic && len(k.Differences(facts)) == 0 {
		d.License = cmp.Or(d.License, k.Licence)
		d.Citation = cmp.Or(d.Citation, k.Citation)
		d.Published = cmp.Or(d.Published, k.Published)
		if strings.HasPrefix(k.Source, "http") {
			d.URL = cmp.Or(d.URL, k.Source)
		}
		if len(creators) == 0 {
			creators = k.Creators
		}
	}
	for _, name := range creators {
		d.Creators = append(d.Creators, person{Type: "sc:Person", Name: name})
	}
	for _, f := range files {
		o, err := describeFile(dir, f, m.SHA256)
		switch {
		case err == nil:
			d.Distribution = append(d.Distribution, o)
		case f.optional && errors.Is(err, os.ErrNotExist):
		default:
			return nil, err
		}
	}
	d.RecordSets = recordSets(info, m)
	return d, nil
}

// missing lists the required properties that d lacks, by their keys in meta.json.
func (d *dataset) missing() (out []string) {
	for _, p := range []struct {
		key    string
		absent bool
	}{
		{"license", d.License == ""},
		{"creators", len(d.Creators) == 0},
		{"url", d.URL == ""},
		{"date_published", d.Published == ""},
	} {
		if p.absent {
			out = append(out, p.key)
		}
	}
	return out
}
