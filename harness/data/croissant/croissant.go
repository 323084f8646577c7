// Package croissant describes a data-set folder as Croissant 1.0 metadata (JSON-LD), the
// form in which data-set search engines and loaders read what a set holds, where it comes
// from and under which terms. It describes files that are there; it makes none of them.
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

// FileName is the name of the metadata in the folder they describe.
const FileName = "croissant.json"

// Describe makes the content of DIR/croissant.json for the data-set folder dir (features.npy,
// labels.npy and meta.json, official_split.npy if there is one). Licence, creators, address,
// date and citation come from meta.json (license, creators, url, date_published, citation),
// else, for a set of the paper, from the list of known data sets. What the specification
// requires and neither knows is left out, never made up: missing lists these properties.
//
// The error wraps data.ErrData if the folder's content is unusable or not what meta.json
// says, fs.ErrNotExist if there is no set.
func Describe(dir string) (content []byte, missing []string, err error) {
	d, err := describe(dir)
	if err != nil {
		return nil, nil, fmt.Errorf("describing a data set: %w", err)
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(d); err != nil {
		return nil, nil, fmt.Errorf("describing %s: %w", dir, err)
	}
	return b.Bytes(), d.missing(), nil
}

// describe reads headers and meta.json, hashes the files and puts the metadata together.
func describe(dir string) (*dataset, error) {
	if st, err := os.Stat(dir); err != nil {
		return nil, err
	} else if !st.IsDir() {
		return nil, fmt.Errorf("%s: %w: is a file; Croissant metadata are written for folders with features.npy and labels.npy", dir, data.ErrData)
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
	if k, ok := known(d.Name, info); ok {
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

// known returns the entry of the list of known data sets, if the folder holds what it says:
// another set under the same name does not get its licence.
func known(name string, info data.Info) (experiments.Dataset, bool) {
	for _, k := range experiments.Datasets() {
		if k.Name == name && !k.Synthetic && k.Samples == info.Samples && (info.Classes == 0 || k.Classes == info.Classes) {
			return k, true
		}
	}
	return experiments.Dataset{}, false
}

// missing lists what the specification requires and d does not say, by the key of meta.json
// that would.
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
