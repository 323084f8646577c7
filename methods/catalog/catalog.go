// Package catalog is the list of what can be run: one line per method, learner and
// pretext. It completes and checks the values of a method's parameters, the tagged fields of
// its struct (see package param), and builds the method. It runs nothing.
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
	// Proto is the zero value of the method's struct; its tagged fields are the parameters.
	Proto any
	// Hardening is what a learner does to soft targets, if it does not take them as they are.
	Hardening Targets
	// Note says what a reader of a table must know, e.g. that the method is our interpretation.
	Note string
}

// Targets is how a learner takes soft pseudo labels.
type Targets string

// A learner takes them as they are, hardens them to classes, or does each in one of two stages.
const (
	Soft             Targets = "soft"
	Hardened         Targets = "hardened"
	HardenedThenSoft Targets = "hardened, then soft"
)

var entries = []Entry{
	{Name: "src", Title: "SRC", Venue: "TPAMI", Year: 2009, Cite: "wright2009robust", Group: Traditional, Version: 2, Proto: represent.SRC{}},
	{Name: "crc", Title: "CRC", Venue: "ICCV", Year: 2011, Cite: "zhang2011sparse", Group: Traditional, Version: 2, Proto: represent.CRC{}},
	{Name: "nrc", Title: "NRC", Venue: "PR", Year: 2019, Cite: "xu2019sparse", Group: Traditional, Version: 2, Proto: represent.NRC{}},
	{Name: "slrc", Title: "SLRC", Venue: "TPAMI", Year: 2018, Cite: "deng2018face", Group: Traditional, Version: 1, Proto: represent.SLRC{}},
	{Name: "euler-src", Title: "Euler-SRC", Venue: "AAAI", Year: 2018, Cite: "liu2018euler", Group: Traditional, Version: 1, Proto: represent.EulerSRC{}},
	{
		Name: "addl", Title: "ADDL", Venue: "TNNLS", Year: 2018, Cite: "zhang2018jointly", Group: Dictionary, Version: 1, Proto: dictionary.ADDL{}, Hardening: Hardened,
		Note: "Our interpretation: neither code nor formulas are public.",
	},
	{Name: "fddl", Title: "FDDL", Venue: "ICCV", Year: 2011, Cite: "yang2011fisher", Group: Dictionary, Version: 2, Proto: dictionary.FDDL{}, Hardening: Hardened},
	{Name: "lcksvd", Title: "LC-KSVD", Venue: "TPAMI", Year: 2013, Cite: "jiang2013label", Group: Dictionary, Version: 2, Proto: dictionary.LCKSVD{}, Hardening: Hardened},
	{Name: "dksvd", Title: "D-KSVD", Venue: "CVPR", Year: 2010, Cite: "zhang2010discriminative", Group: Dictionary, Version: 2, Proto: dictionary.DKSVD{}, Hardening: Hardened},
	{Name: "dpl", Title: "DPL", Venue: "NIPS", Year: 2014, Group: Dictionary, Version: 1, Proto: dictionary.DPL{}, Hardening: Hardened},
	{
		Name: "lcpdl", Title: "LC-PDL", Venue: "IJCAI", Year: 2019, Cite: "zhang2019scalable", Group: Dictionary, Version: 1, Proto: dictionary.LCPDL{}, Hardening: Hardened,
		Note: "Our interpretation: neither code nor formulas are public.",
	},
	{Name: "csdl", Title: "CSDL", Venue: "SP", Year: 2020, Cite: "wang2020class", Group: Dictionary, Version: 1, Proto: dictionary.CSDL{}, Hardening: Hardened},
	{Name: "ledl", Title: "LEDL", Venue: "NC", Year: 2020, Cite: "shao2020label", Group: Dictionary, Version: 1, Proto: dictionary.LEDL{}},
	{
		Name: "cdlf", Title: "CDLF", Venue: "SP", Year: 2020, Cite: "wang2020class", Group: Dictionary, Version: 1, Proto: dictionary.CDLF{}, Hardening: HardenedThenSoft,
		Note: "Our interpretation of how the two stages are joined: the code is not public.",
	},
	{Name: "ssdl", Title: "SSDL", Venue: "ICME", Year: 2021, Group: Ours, Version: 2, Proto: dictionary.SSDL{}},
	{Name: "gl", Title: "GL", Venue: "NIPS", Year: 2003, Cite: "zhou2003learning", Group: Pretexts, Version: 2, Proto: pretext.GL{}},
	{Name: "hl", Title: "HL", Venue: "NIPS", Year: 2007, Cite: "zhou2007learning", Group: Pretexts, Version: 2, Proto: pretext.HL{}},
	{
		Name: "hlw", Title: "HL-W", Venue: "TIP", Year: 2012, Cite: "gao20123", Group: Pretexts, Version: 1, Proto: pretext.HLW{},
		Note: "Our interpretation: the source learns weights of hypergraphs, HL-W weights of hyperedges.",
	},
	{Name: "dhsl", Title: "DHSL", Venue: "IJCAI", Year: 2018, Cite: "zhang2018dynamic", Group: Pretexts, Version: 1, Proto: pretext.DHSL{}},
	{Name: "pahl", Title: "pAHL", Venue: "ICME", Year: 2021, Group: Pretexts, Version: 2, Proto: pretext.PAHL{}},
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

// Targets returns how the entry takes soft pseudo labels; empty if it is not a learner.
func (e Entry) Targets() Targets {
	if e.IsLearner() && e.Hardening == "" {
		return Soft
	}
	return e.Hardening
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
