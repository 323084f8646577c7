package spec

import (
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v4"

	"ssdl/harness/job"
	"ssdl/methods/catalog"
)

// externalVersion is the version of external parts. Raise it when the protocol of programs, or the reading of
// predictions, changes results.
const externalVersion = 1

// datasetMark stands for the name of the data set in the path of a file of predictions.
const datasetMark = "{dataset}"

// Predictions are the paths of a file of predictions and of its index file. In a row, {dataset} and {seed} stand
// for the name of the data set and the seed.
type Predictions struct {
	File   string `json:"file,omitempty"`
	Splits string `json:"splits,omitempty"`
}

// of replaces the marks in the paths by a data set and a seed.
func (p Predictions) of(dataset string, seed uint64) Predictions {
	marks := strings.NewReplacer(datasetMark, dataset, seedMark, strconv.FormatUint(seed, 10))
	return Predictions{marks.Replace(p.File), marks.Replace(p.Splits)}
}

// external reads the external part of a row: exec or predictions. n is the row, f its fields.
func (r *rowParser) external(n *yaml.Node, f map[string]*yaml.Node) {
	exec, predictions := f["exec"], f["predictions"]
	for _, only := range []struct {
		field, with string
		there       bool
	}{{"files", "exec", exec != nil}, {"splits", "predictions", predictions != nil}} {
		if f[only.field] != nil && !only.there {
			r.at(f[only.field], "%s belongs to %s, which the row lacks", only.field, only.with)
		}
	}
	switch {
	case exec != nil && predictions != nil:
		r.at(predictions, "a row has exec or predictions, not both")
	case exec != nil:
		r.exec(exec, f)
	case predictions != nil:
		r.predictions(n, f)
	}
}

// exec reads a program. In a row with a method it is the pretext, else the method.
func (r *rowParser) exec(n *yaml.Node, f map[string]*yaml.Node) {
	row := r.row
	for _, item := range r.items(n, "exec") {
		row.Exec = append(row.Exec, r.text(item, "an argument of exec"))
	}
	if f["files"] != nil {
		row.Files = r.paths(f["files"])
	}
	open := component{entry: catalog.Entry{Name: job.ExecName, Version: externalVersion}, defaults: catalog.Values{}, open: true}
	switch {
	case f["pretext"] != nil:
		r.at(f["pretext"], "exec takes no pseudo labels, so it cannot follow a pretext. Drop pretext, or give a method to exec")
	case f["method"] == nil:
		row.Method, row.method = job.ExecName, open
		return
	case row.Method != "" && !row.method.entry.IsLearner():
		r.at(f["method"], "%s takes no pseudo labels, so it cannot follow exec; %s can", row.Method, listed(catalog.Entry.IsLearner))
	}
	row.Pretext, row.pretext = job.ExecName, open
}

// paths reads the files of a program, in alphabetical order.
func (r *rowParser) paths(n *yaml.Node) []string {
	var out []string
	for _, item := range r.items(n, "files") {
		path := r.text(item, "a path in files")
		switch {
		case path == "":
		case !filepath.IsLocal(path) || filepath.ToSlash(filepath.Clean(path)) != path:
			r.at(item, "file %q must be a plain path below the folder that the program is called in, e.g. scripts/my.py", path)
		case slices.Contains(out, path):
			r.at(item, "files has %q twice", path)
		default:
			out = append(out, path)
		}
	}
	slices.Sort(out)
	return out
}

// predictions reads a row of predictions, which has no parameters since nothing is run.
func (r *rowParser) predictions(n *yaml.Node, f map[string]*yaml.Node) {
	row := r.row
	for _, field := range []string{"method", "pretext", "params", "pretext_params", "zip", "tune", "when"} {
		if f[field] != nil {
			r.at(f[field], "a row of predictions has no %s: nothing is run", field)
		}
	}
	if f["select"] != nil && row.Select != SelectFixed {
		r.at(f["select"], "select of a row of predictions is fixed: nothing is chosen")
	}
	row.Select = SelectFixed
	if f["splits"] == nil {
		r.at(n, "predictions need \"splits\": the index files that they were made by, as `ssdl data split NAME --export DIR` writes them, e.g. \"splits/NAME-{seed}.json\"")
	}
	row.Predictions = Predictions{r.marked(f["predictions"], "predictions"), r.marked(f["splits"], "splits")}
	row.Method = job.PredictionsName
	row.method = component{entry: catalog.Entry{Name: job.PredictionsName, Version: externalVersion}, defaults: catalog.Values{}}
}

// marked reads a path. Braces other than in {dataset} and {seed} are a fault.
func (r *rowParser) marked(n *yaml.Node, what string) string {
	path := r.text(n, what)
	if strings.ContainsAny(strings.NewReplacer(seedMark, "", datasetMark, "").Replace(path), "{}") {
		r.at(n, "%s is %q: braces may stand only in %s and %s", what, path, datasetMark, seedMark)
	}
	return path
}

// nameExternal gives external parts the id of the row as title.
func (r *Row) nameExternal() {
	for _, c := range []*component{&r.method, &r.pretext} {
		if c.entry.Name == job.ExecName || c.entry.Name == job.PredictionsName {
			c.entry.Title = r.ID
		}
	}
}

// isParam reports whether a word can name a parameter of a program.
var isParam = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_]*$`).MatchString

// openParam is the parameter of a program that a key names. It may have any name but those that a Setting
// uses for other sweeps.
func (r *rowParser) openParam(key *yaml.Node, c *component, prefix, name string) (ref, bool) {
	if !isParam(name) || name == Scoring || name == Loss {
		r.at(key, "%q cannot name a parameter of a program. Use letters, digits and _, but not %s or %s", name, Scoring, Loss)
		return ref{}, false
	}
	p := catalog.Param{Name: name, Kind: reflect.Interface}
	if c.find(name) < 0 {
		c.params = append(c.params, p)
	}
	return ref{prefix + name, c.entry, p}, true
}

// open reads a value of a parameter of a program: a number, true, false or a text.
func (r ref) open(n *yaml.Node) (any, error) {
	if n.Style&(yaml.SingleQuotedStyle|yaml.DoubleQuotedStyle) != 0 {
		return n.Value, nil
	}
	if n.Tag == "!!bool" {
		return strconv.ParseBool(strings.ToLower(n.Value))
	}
	v, err := number(n)
	switch {
	case err == nil:
		return v, nil
	case n.Tag == "!!int" || n.Tag == "!!float":
		return nil, r.wrap(err)
	}
	return n.Value, nil
}

// sort sorts the parameters of a program by name, so that their order does not depend on the file.
func (c *component) sort() {
	if c.open {
		slices.SortFunc(c.params, func(a, b catalog.Param) int { return strings.Compare(a.Name, b.Name) })
	}
}
