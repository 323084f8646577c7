// Package catalog is the list of what can be run: one line per method, learner and
// pretext. A method's parameters are the tagged fields of its struct; the catalog
// reads them, checks values against them and builds the method. It runs nothing.
package catalog

import (
	"fmt"
	"slices"
	"strings"

	"ssdl/methods"
	"ssdl/methods/dictionary"
	"ssdl/methods/pretext"
	"ssdl/methods/represent"
)

// Group is a block of rows in the paper's tables.
type Group string

// The groups, in the order of the tables.
const (
	Traditional Group = "traditional"
	Dictionary  Group = "dictionary"
	Ours        Group = "ssdl"
	Pretexts    Group = "pretext"
)

// Entry describes one method, learner or pretext.
type Entry struct {
	// Name is how specs and the command line call it.
	Name string
	// Title is how tables call it; Venue, Year and Cite are as the paper cites it.
	Title, Venue string
	Year         int
	Cite         string
	Group        Group
	// Version is raised whenever the results of the same parameters change.
	Version int
	// Proto is a value of the method's struct; its tagged fields are the parameters.
	Proto any
	// Note says what a reader of a table must know, e.g. that the method is an interpretation.
	Note string
}

var entries = []Entry{
	{"src", "SRC", "TPAMI", 2009, "wright2009robust", Traditional, 2, represent.SRC{}, ""},
	{"crc", "CRC", "ICCV", 2011, "zhang2011sparse", Traditional, 2, represent.CRC{}, ""},
	{"nrc", "NRC", "PR", 2019, "xu2019sparse", Traditional, 2, represent.NRC{}, ""},
	{"slrc", "SLRC", "TPAMI", 2018, "deng2018face", Traditional, 1, represent.SLRC{}, ""},
	{"euler-src", "Euler-SRC", "AAAI", 2018, "liu2018euler", Traditional, 1, represent.EulerSRC{}, ""},
	{"addl", "ADDL", "TNNLS", 2018, "zhang2018jointly", Dictionary, 1, dictionary.ADDL{}, "an interpretation: the paper's code is not public and its formulas were not to be had"},
	{"fddl", "FDDL", "ICCV", 2011, "yang2011fisher", Dictionary, 2, dictionary.FDDL{}, ""},
	{"lcksvd", "LC-KSVD", "TPAMI", 2013, "jiang2013label", Dictionary, 2, dictionary.LCKSVD{}, ""},
	{"dksvd", "D-KSVD", "CVPR", 2010, "zhang2010discriminative", Dictionary, 2, dictionary.DKSVD{}, ""},
	{"dpl", "DPL", "NIPS", 2014, "", Dictionary, 1, dictionary.DPL{}, ""},
	{"lcpdl", "LC-PDL", "IJCAI", 2019, "zhang2019scalable", Dictionary, 1, dictionary.LCPDL{}, "an interpretation: the paper's code is not public and its formulas were not to be had"},
	{"csdl", "CSDL", "SP", 2020, "wang2020class", Dictionary, 1, dictionary.CSDL{}, ""},
	{"ledl", "LEDL", "NC", 2020, "shao2020label", Dictionary, 1, dictionary.LEDL{}, ""},
	{"cdlf", "CDLF", "SP", 2020, "wang2020class", Dictionary, 1, dictionary.CDLF{}, "how its two stages are joined is an interpretation: the paper's code is not public"},
	{"ssdl", "SSDL", "ICME", 2021, "", Ours, 2, dictionary.SSDL{}, ""},
	{"gl", "GL", "NIPS", 2003, "zhou2003learning", Pretexts, 2, pretext.GL{}, ""},
	{"hl", "HL", "NIPS", 2007, "zhou2007learning", Pretexts, 2, pretext.HL{}, ""},
	{"hlw", "HL-W", "TIP", 2012, "gao20123", Pretexts, 1, pretext.HLW{}, "weights per hyperedge are an interpretation: the source weighs several hypergraphs"},
	{"dhsl", "DHSL", "IJCAI", 2018, "zhang2018dynamic", Pretexts, 1, pretext.DHSL{}, ""},
	{"pahl", "pAHL", "ICME", 2021, "", Pretexts, 2, pretext.PAHL{}, ""},
}

// Targets is what a learner makes of soft pseudo labels.
type Targets string

// A learner takes them as they are, hardens them to classes, or does each in one of two stages.
const (
	Soft             Targets = "soft"
	Hardened         Targets = "hardened"
	HardenedThenSoft Targets = "hardened, then soft"
)

// hardening are the learners that do not take soft targets as they are.
var hardening = map[string]Targets{
	"addl": Hardened, "fddl": Hardened, "lcksvd": Hardened, "dksvd": Hardened, "dpl": Hardened,
	"lcpdl": Hardened, "csdl": Hardened, "cdlf": HardenedThenSoft,
}

// All returns the entries in the order of the tables.
func All() []Entry { return slices.Clone(entries) }

// Lookup finds an entry by name. Its error suggests the nearest name.
func Lookup(name string) (Entry, error) {
	for _, e := range entries {
		if e.Name == name {
			return e, nil
		}
	}
	names := make([]string, len(entries))
	for i, e := range entries {
		names[i] = e.Name
	}
	if s := Nearest(name, names); s != "" {
		return Entry{}, fmt.Errorf("unknown method %q; did you mean %q?", name, s)
	}
	return Entry{}, fmt.Errorf("unknown method %q; there are %s", name, strings.Join(names, ", "))
}

// IsPretext reports whether the entry makes pseudo labels.
func (e Entry) IsPretext() bool { _, ok := e.Proto.(methods.Pretext); return ok }

// IsLearner reports whether the entry can be given soft targets, so that it can follow a pretext.
func (e Entry) IsLearner() bool { _, ok := e.Proto.(methods.Learner); return ok }

// Targets tells what the entry makes of soft pseudo labels; empty if it is no learner.
func (e Entry) Targets() Targets {
	switch how, ok := hardening[e.Name]; {
	case ok:
		return how
	case e.IsLearner():
		return Soft
	}
	return ""
}

// Method builds the method from complete values (see Complete). A learner becomes the
// supervised method that sees the labelled columns only.
func (e Entry) Method(v Values) (methods.Method, error) {
	built, err := e.Build(v)
	if err != nil {
		return nil, err
	}
	switch m := built.(type) {
	case methods.Method:
		return m, nil
	case methods.Learner:
		return methods.Supervised(e.Name, m), nil
	}
	return nil, fmt.Errorf("%s is a pretext: it makes pseudo labels and predicts nothing; give it a learner", e.Name)
}

// Learner builds the learner from complete values.
func (e Entry) Learner(v Values) (methods.Learner, error) {
	built, err := e.Build(v)
	if err != nil {
		return nil, err
	}
	if l, ok := built.(methods.Learner); ok {
		return l, nil
	}
	return nil, fmt.Errorf("%s takes no soft targets, so it cannot follow a pretext", e.Name)
}

// Pretext builds the pretext from complete values.
func (e Entry) Pretext(v Values) (methods.Pretext, error) {
	built, err := e.Build(v)
	if err != nil {
		return nil, err
	}
	if p, ok := built.(methods.Pretext); ok {
		return p, nil
	}
	var names []string
	for _, other := range entries {
		if other.IsPretext() {
			names = append(names, other.Name)
		}
	}
	return nil, fmt.Errorf("%s is not a pretext; pretexts are %s", e.Name, strings.Join(names, ", "))
}
