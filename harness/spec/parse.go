package spec

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"ssdl/harness/job"
	"ssdl/harness/metric"
	"ssdl/methods/catalog"
)

// How the candidate of a cell is chosen: see docs/specs.md.
const (
	SelectPaper = "paper"
	SelectFixed = "fixed"
	SelectVal   = "val"
	SelectTest  = "test"
)

var selects = []string{SelectPaper, SelectFixed, SelectVal, SelectTest}

// pretextPrefix begins the names of a pretext's parameters where those of the method are allowed too.
const pretextPrefix = "pretext."

// Parse reads a spec. The error is of type Errors and has all faults; file is the name of the spec in them.
func Parse(file string, src []byte) (*Spec, error) {
	p := &parser{faults: faults{file: file}}
	root := p.document(src)
	if root == nil {
		return nil, p.err()
	}
	s := p.spec(root)
	if err := p.err(); err != nil {
		return nil, err
	}
	sum := sha256.Sum256(src)
	s.Hash = hex.EncodeToString(sum[:])
	return s, nil
}

type parser struct {
	faults
	settings int // of all cells so far, against maxSettings
}

// document parses the YAML and returns its root; nil if it is faulty.
func (p *parser) document(src []byte) *yaml.Node {
	if len(src) > maxSize {
		p.note(1, 1, fmt.Sprintf("the file is larger than %d bytes; is it a spec?", maxSize))
		return nil
	}
	var doc yaml.Node
	if err := yaml.Load(src, &doc); err != nil {
		var e *yaml.LoadError
		if !errors.As(err, &e) {
			p.note(1, 1, err.Error())
			return nil
		}
		message := strings.TrimPrefix(e.Message, "yaml: ")
		switch {
		case strings.Contains(message, "no documents"):
			message = "the file is empty; a spec has at least name, datasets, seeds, split and rows"
		case strings.Contains(message, "found multiple"):
			message = "the file holds several YAML documents; a spec is one"
		}
		if e.ContextMsg != "" {
			message += " (" + e.ContextMsg + ")"
		}
		p.note(e.Mark.Line, e.Mark.Column, message)
		return nil
	}
	root := doc.Content[0]
	if p.extras(root); len(p.list) > 0 {
		return nil
	}
	return root
}

// extras refuses aliases, anchors and tags of YAML: a reader should see a value where it is used, and a
// few lines should not expand to a million.
func (p *parser) extras(n *yaml.Node) {
	switch {
	case n.Kind == yaml.AliasNode:
		p.at(n, "YAML aliases (*%s) are not supported. Write the value out", n.Value)
	case n.Anchor != "":
		p.at(n, "YAML anchors (&%s) are not supported. Write the value where it is used", n.Anchor)
	case n.Style&yaml.TaggedStyle != 0:
		p.at(n, "YAML tags (%s) are not supported. Write the plain value", n.Tag)
	}
	for _, c := range n.Content {
		p.extras(c)
	}
}

func (p *parser) spec(root *yaml.Node) *Spec {
	f := p.fields(root, "the spec", "name", "title", "table", "datasets", "seeds", "split",
		"tune_seeds", "metric", "score", "select", "rows", "exclude")
	for _, name := range []string{"name", "datasets", "seeds", "split", "rows"} {
		if f[name] == nil && root.Kind == yaml.MappingNode {
			p.at(root, "the spec has no %q", name)
		}
	}
	s := &Spec{
		Name:    p.name(f["name"], "name"),
		Title:   p.text(f["title"], "title"),
		Table:   p.choice(f["table"], "table", "", "table1", "table2"),
		Metrics: p.choices(f["metric"], "metric", metric.Default, metric.Names(metric.PseudoLabels), metric.Names(metric.Predictions)...),
		Scores:  p.choices(f["score"], "score", job.ScoreOOS, []string{job.ScoreOOS, job.ScoreTransductive}),
	}
	if n := f["datasets"]; n != nil {
		s.Datasets = p.names(n, "datasets")
	}
	if n := f["seeds"]; n != nil {
		s.Seeds = p.seeds(n)
	}
	if n := f["tune_seeds"]; n != nil {
		s.TuneSeeds = p.tuneSeeds(n)
	}
	if n := f["split"]; n != nil {
		s.Split, s.LabelRates = p.split(n)
	}
	def := p.choice(f["select"], "select", SelectVal, selects...)
	if n := f["rows"]; n != nil {
		s.Rows = p.rows(n, s, def)
	}
	if !slices.ContainsFunc(s.Rows, func(r Row) bool { return r.Method == "" }) {
		if n := f["score"]; n != nil && len(s.Rows) > 0 {
			p.at(n, "score applies to rows without a method, and there is none")
		}
		s.Scores = nil
	}
	if n := f["exclude"]; n != nil {
		s.Excludes = p.excludes(n, s)
	}
	return s
}

// choices reads one of the words of sweep and alone, or a sweep {grid: [..]} over words of sweep.
func (p *parser) choices(n *yaml.Node, what, def string, sweep []string, alone ...string) []string {
	if n == nil || n.Kind != yaml.MappingNode {
		return []string{p.choice(n, what, def, slices.Concat(sweep, alone)...)}
	}
	f := p.fields(n, "a sweep over "+what, "grid")
	if f["grid"] == nil {
		p.at(n, "a sweep over %s is {grid: [..]}", what)
		return []string{def}
	}
	var out []string
	for _, item := range p.items(f["grid"], "a grid") {
		v := p.choice(item, what, def, sweep...)
		if slices.Contains(out, v) {
			p.at(item, "%s is twice in the sweep over %s", v, what)
		}
		out = append(out, v)
	}
	return out
}

// seeds reads one seed, a range or list in a string, or a YAML list of these.
func (p *parser) seeds(n *yaml.Node) []uint64 {
	items := []*yaml.Node{n}
	if n.Kind == yaml.SequenceNode {
		items = p.items(n, "seeds")
	}
	var out []uint64
	for _, item := range items {
		if item.Kind != yaml.ScalarNode || octal.MatchString(item.Value) {
			p.at(item, "%s is not a seed. Write whole numbers from 0, e.g. 1000..1007 or 1000,1003", kind(item))
			continue
		}
		list, err := ParseSeeds(item.Value)
		if err != nil {
			p.at(item, "%v", err)
		}
		for _, seed := range list {
			if slices.Contains(out, seed) {
				p.at(item, "seed %d is given twice", seed)
				break
			}
			out = append(out, seed)
		}
		if len(out) > maxSeeds {
			p.at(item, "more than %d seeds", maxSeeds)
			break
		}
	}
	return out
}

// tuneSeeds reads the seeds of the tuning by data set.
func (p *parser) tuneSeeds(n *yaml.Node) map[string][]uint64 {
	out := map[string][]uint64{}
	for _, item := range p.items(n, "tune_seeds") {
		f := p.fields(item, "an entry of tune_seeds", "datasets", "seeds")
		if f["datasets"] == nil || f["seeds"] == nil {
			p.at(item, "an entry of tune_seeds is {datasets: [..], seeds: ..}")
			continue
		}
		seeds := p.seeds(f["seeds"])
		for _, d := range p.names(f["datasets"], "datasets") {
			if out[d] != nil {
				p.at(f["datasets"], "tune_seeds has %s twice", d)
			}
			out[d] = seeds
		}
	}
	return out
}

// split reads how samples are divided. The kind decides which fields it must have. A sweep over the share of
// labels is returned as a list.
func (p *parser) split(n *yaml.Node) (Split, []float64) {
	f := p.fields(n, "split", "kind", "train", "labels", "file")
	if n.Kind != yaml.MappingNode {
		return Split{}, nil
	}
	s := Split{Kind: p.choice(f["kind"], "kind", "", "class", "official", "file")}
	takes := map[string][]string{"class": {"train", "labels"}, "official": {"labels"}, "file": {"file"}}[s.Kind]
	switch {
	case f["kind"] == nil:
		p.at(n, "split has no \"kind\"; it is one of class, official, file")
		return s, nil
	case s.Kind == "":
		return s, nil
	}
	for _, name := range []string{"train", "labels", "file"} {
		switch wanted := slices.Contains(takes, name); {
		case f[name] == nil && wanted:
			p.at(n, "a split of kind %s needs %q", s.Kind, name)
		case f[name] != nil && !wanted:
			p.at(f[name], "a split of kind %s has no %q", s.Kind, name)
			delete(f, name)
		}
	}
	if n := f["train"]; n != nil {
		s.Train = p.share(n, "train, the share of training samples,")
		if s.Train == 1 {
			p.at(n, "train, the share of training samples, must be below 1: the rest is the test part")
		}
	}
	const labels = "labels, the share of training samples that keep their label,"
	var rates []float64
	if n := f["labels"]; n != nil && n.Kind == yaml.MappingNode {
		rates = p.shares(n, labels)
	} else if n != nil {
		s.Labels = p.share(n, labels)
	}
	if s.File = p.text(f["file"], "file"); strings.ContainsAny(strings.ReplaceAll(s.File, seedMark, ""), "{}") {
		p.at(f["file"], "file is %q: braces may stand only in %s, which becomes the seed, as in \"splits/NAME-%[2]s.json\"", s.File, seedMark)
	}
	return s, rates
}

// shares reads a sweep over shares.
func (p *parser) shares(n *yaml.Node, what string) []float64 {
	forms := p.fields(n, "a sweep", "grid", "range")
	var out []float64
	if list := forms["grid"]; list != nil && len(forms) == 1 {
		for _, item := range p.items(list, "a grid") {
			out = append(out, p.share(item, what))
		}
	} else if list := forms["range"]; list != nil && len(forms) == 1 {
		values, err := spread(list)
		if err != nil {
			p.at(list, "%v", err)
		}
		for _, v := range values {
			if v <= 0 || v > 1 {
				p.at(list, "%s must be above 0 and at most 1, not %g", what, v)
			}
		}
		out = values
	} else {
		p.at(n, "a sweep over labels is {grid: [..]} or {range: [low, high, step]}")
	}
	for i, v := range out {
		if slices.Contains(out[:i], v) {
			p.at(n, "%g is twice in the sweep over labels", v)
		}
	}
	return out
}

// share reads a number above 0 and at most 1.
func (p *parser) share(n *yaml.Node, what string) float64 {
	v, err := number(n)
	switch {
	case err != nil:
		p.at(n, "%s: %v", what[:strings.IndexByte(what, ',')], err)
	case v <= 0 || v > 1:
		p.at(n, "%s must be above 0 and at most 1, not %s", what, n.Value)
	}
	return v
}

func (p *parser) excludes(n *yaml.Node, s *Spec) []Exclude {
	var out []Exclude
	for _, item := range p.items(n, "exclude") {
		f := p.fields(item, "an exclude", "dataset", "row", "reason")
		e := Exclude{p.name(f["dataset"], "dataset"), p.name(f["row"], "row"), p.text(f["reason"], "reason")}
		if item.Kind == yaml.MappingNode {
			for _, name := range []string{"dataset", "row", "reason"} {
				if f[name] == nil {
					p.at(item, "an exclude needs a %q", name)
				}
			}
		}
		if e.Dataset != "" && !slices.Contains(s.Datasets, e.Dataset) {
			p.at(f["dataset"], "this excludes nothing: %s", missing("data set", e.Dataset, s.Datasets))
		}
		ids := make([]string, len(s.Rows))
		for i, r := range s.Rows {
			ids[i] = r.ID
		}
		if e.Row != "" && !slices.Contains(ids, e.Row) {
			p.at(f["row"], "this excludes nothing: %s", missing("row", e.Row, ids))
		}
		same := func(o Exclude) bool { return o.Dataset == e.Dataset && o.Row == e.Row }
		if e.Dataset != "" && e.Row != "" && slices.ContainsFunc(out, same) {
			p.at(item, "row %s is excluded twice on %s", e.Row, e.Dataset)
		}
		out = append(out, e)
	}
	return out
}

// missing says that the spec lacks a name, and suggests the nearest one.
func missing(what, name string, known []string) string {
	if s := catalog.Nearest(name, known); s != "" {
		return fmt.Sprintf("the spec has no %s %q; did you mean %q?", what, name, s)
	}
	return fmt.Sprintf("the spec has no %s %q; it has %s", what, name, strings.Join(known, ", "))
}
