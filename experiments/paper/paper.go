// Package paper holds what the paper "SSDL: Self-Supervised Dictionary Learning" (ICME 2021)
// printed: its two tables, cell by cell, and its claims about them. It holds no result of ours.
package paper

import (
	"bytes"
	"embed"
	"fmt"
	"math"
	"slices"
	"sync"

	"go.yaml.in/yaml/v4"
)

//go:embed table1.yaml table2.yaml claims.yaml operating.yaml references.yaml
var files embed.FS

// Layout is a published table: its heads, its rows in the printed order, and its values.
type Layout struct {
	ID    string `yaml:"id"`
	Title string `yaml:"title"`
	// Caption and RowHead are plain text; Label is the LaTeX label.
	Caption string `yaml:"caption"`
	Label   string `yaml:"label"`
	RowHead string `yaml:"row_head"`
	// Metric is the metric of the values, by its name in specs.
	Metric string `yaml:"metric"`
	// Unit is "%" or empty. Decimals is the number of printed decimals.
	Unit          string `yaml:"unit"`
	Decimals      int    `yaml:"decimals"`
	LowerIsBetter bool   `yaml:"lower_is_better"`
	// Tolerance is the largest difference between our value and the published one at which they
	// match, in the unit of the table.
	Tolerance float64  `yaml:"tolerance"`
	Columns   []Column `yaml:"columns"`
	// Groups are the blocks of rows between the horizontal rules.
	Groups [][]Row `yaml:"groups"`
}

// Column is a data set of a published table.
type Column struct {
	ID    string `yaml:"id"`
	Title string `yaml:"title"`
}

// Row is a method of a published table.
type Row struct {
	ID    string `yaml:"id"`
	Title string `yaml:"title"`
	Venue string `yaml:"venue"`
	Year  int    `yaml:"year"`
	Cite  string `yaml:"cite"`
	// Bold says that the title is printed in bold. Best lists the columns with values in bold.
	Bold bool     `yaml:"bold"`
	Best []string `yaml:"best"`
	// Of is the method, or "pretext+method", if it differs from the id.
	Of string `yaml:"of"`
	// Values maps a column to the printed value, in the unit of the table.
	Values map[string]float64 `yaml:"values"`
}

// Composition is the method of the row, or "pretext+method".
func (r Row) Composition() string {
	if r.Of != "" {
		return r.Of
	}
	return r.ID
}

// Rows returns all rows in the printed order.
func (l Layout) Rows() []Row { return slices.Concat(l.Groups...) }

// HalfUnit is half of the last printed decimal, the rounding error of a printed value.
func (l Layout) HalfUnit() float64 { return 0.5 * math.Pow10(-l.Decimals) }

// Kind is how a claim is tested; claims.yaml describes each.
type Kind string

// The kinds of claims.
const (
	Best    Kind = "best"
	Margin  Kind = "margin"
	Similar Kind = "similar"
	Minimum Kind = "minimum"
	Flat    Kind = "flat"
	Slower  Kind = "slower"
)

// Claim is a statement of the paper that a table of results can test.
type Claim struct {
	ID    string `yaml:"id"`
	Quote string `yaml:"quote"`
	Where string `yaml:"where"`
	Note  string `yaml:"note"`
	// Table is the id of the table with the results.
	Table string `yaml:"table"`
	Kind  Kind   `yaml:"kind"`
	Row   string `yaml:"row"`
	// Over lists the rows that Row is compared with; empty means all others of the paper's table.
	Over []string `yaml:"over"`
	// Readings says that a claim of kind Best, Margin or Similar is tested at every point of the
	// row's sweep, and counted.
	Readings bool `yaml:"readings"`
	// Variant says that the row is not in the paper: the claim is tested beyond its meaning.
	Variant bool `yaml:"variant"`
	// Columns maps a data set to the claimed number.
	Columns map[string]float64 `yaml:"columns"`
	// Setting is the swept setting of a claim of kind Minimum or Slower. From and To bound the
	// values at which the minimum is claimed.
	Setting string  `yaml:"setting"`
	From    float64 `yaml:"from"`
	To      float64 `yaml:"to"`
}

// Reference is a publication that a row of a table cites.
type Reference struct {
	Key     string   `yaml:"key"`
	Title   string   `yaml:"title"`
	Authors []string `yaml:"authors"`
	// In is the journal of an article (if Journal is true) or the proceedings.
	In      string `yaml:"in"`
	Journal bool   `yaml:"journal"`
	Year    int    `yaml:"year"`
}

// Tables returns the layouts of the paper's two tables, in order. All callers share them and must
// not change them.
func Tables() []Layout { return tables() }

// OperatingPoint returns the paper's value of a setting on a data set.
func OperatingPoint(dataset, setting string) (float64, bool) {
	v, ok := operating()[dataset][setting]
	return v, ok
}

// References returns the publications that the rows of the tables cite, shared like the tables.
func References() []Reference { return references() }

// Claims returns the paper's claims, shared like the tables.
func Claims() []Claim { return claims() }

var (
	tables = sync.OnceValue(func() []Layout {
		return []Layout{load[Layout]("table1.yaml"), load[Layout]("table2.yaml")}
	})
	references = sync.OnceValue(func() []Reference { return load[[]Reference]("references.yaml") })
	claims     = sync.OnceValue(func() []Claim { return load[[]Claim]("claims.yaml") })
	operating  = sync.OnceValue(func() map[string]map[string]float64 {
		return load[map[string]map[string]float64]("operating.yaml")
	})
)

// load reads an embedded file. Tests read all of them, so a fault in one is found before a release.
func load[T any](name string) T {
	raw, err := files.ReadFile(name)
	if err != nil {
		panic(fmt.Sprintf("paper: %v", err))
	}
	dec := yaml.NewDecoder(bytes.NewReader(raw))
	dec.KnownFields(true)
	var v T
	if err := dec.Decode(&v); err != nil {
		panic(fmt.Sprintf("paper: %s: %v", name, err))
	}
	return v
}
