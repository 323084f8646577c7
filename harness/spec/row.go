package spec

import (
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"ssdl/harness/metric"
	"ssdl/methods/catalog"
)

func (p *parser) rows(n *yaml.Node, s *Spec, selectDefault string) []Row {
	var out []Row
	first := map[string]int{} // line of a row id
	items := p.items(n, "rows")
	if len(items) > maxRows {
		p.at(n, "%d rows are too many; at most %d", len(items), maxRows)
		return nil
	}
	for _, item := range items {
		row, ok := p.row(item, s, selectDefault)
		if !ok {
			continue
		}
		if line, twice := first[row.ID]; twice {
			p.at(item, "there are two rows %q, the first on line %d; tell them apart with an id", row.ID, line)
		} else if row.ID != "" {
			first[row.ID] = item.Line
		}
		out = append(out, row)
	}
	if p.settings > maxSettings {
		p.at(n, "the rows make more than %d settings", maxSettings)
	}
	return out
}

// role says whether a row gives, sweeps or tunes a parameter.
type role struct {
	what string
	line int
	// when is the override that says so: 1, 2 and so on, or 0 for the row itself.
	when int
}

// rowParser reads the parameters of one row.
type rowParser struct {
	*parser
	row   *Row
	roles map[string]role
	when  int // the override that is read, see role
	// unknown holds the components that are not in the catalog, by prefix. Their parameters are not
	// checked.
	unknown map[string]bool
}

func (p *parser) row(n *yaml.Node, s *Spec, selectDefault string) (Row, bool) {
	f := p.fields(n, "a row", "id", "label", "role", "method", "pretext", "exec", "files", "predictions", "splits",
		"params", "pretext_params", "select", "tune", "zip", "when")
	if n.Kind != yaml.MappingNode {
		return Row{}, false
	}
	row := Row{
		Label:  p.text(f["label"], "label"),
		Role:   p.choice(f["role"], "role", "", RoleControl, RoleStep),
		Select: p.choice(f["select"], "select", selectDefault, selects...),
	}
	r := &rowParser{parser: p, row: &row, roles: map[string]role{}, unknown: map[string]bool{}}
	r.components(f["method"], f["pretext"])
	r.external(n, f)
	if f["method"] == nil && f["pretext"] == nil && row.Name() == "" {
		p.at(n, "a row needs a method, a pretext, or both")
	}
	row.ID = row.Name()
	if f["id"] != nil {
		row.ID = p.name(f["id"], "id")
	}
	row.nameExternal()
	for _, name := range s.Metrics {
		if m, ok := metric.Lookup(name); ok && row.Method != "" && m.From == metric.PseudoLabels {
			p.at(n, "row %s has a method, but %s is computed from pseudo labels. Use %s, or drop the method", row.ID, name,
				strings.Join(metric.Names(metric.Predictions), ", "))
			break
		}
	}
	r.values(f["params"], "params", "")
	r.values(f["pretext_params"], "pretext_params", pretextPrefix)
	for _, z := range r.zips(f["zip"]) {
		if a, ok := r.zip(z, "as a sweep in params", "swept by zip"); ok {
			row.sweeps = append(row.sweeps, a)
		}
	}
	row.tunes = r.tune(f["tune"])
	if w := f["when"]; w != nil {
		for _, item := range p.items(w, "when") {
			r.when++
			r.override(item)
		}
	}
	r.size(n, s)
	row.method.sort()
	row.pretext.sort()
	return row, true
}

// components looks up the method and the pretext.
func (r *rowParser) components(method, pretext *yaml.Node) {
	row := r.row
	if name := r.text(method, "method"); name != "" {
		e, err := catalog.Lookup(name)
		switch {
		case err != nil:
			r.at(method, "%v", err)
			r.unknown[""] = true
		case e.IsPretext():
			r.at(method, "%s is a pretext, not a method; write pretext: %s", name, name)
			r.unknown[""] = true
		default:
			row.Method, row.method = name, newComponent(e)
			if pretext != nil && !e.IsLearner() {
				r.at(method, "%s takes no pseudo labels, so it cannot follow a pretext; %s can", name,
					listed(catalog.Entry.IsLearner))
			}
		}
	} else if method != nil {
		r.unknown[""] = true
	}
	if name := r.text(pretext, "pretext"); name != "" {
		e, err := catalog.Lookup(name)
		switch {
		case err != nil:
			r.at(pretext, "%v", err)
			r.unknown[pretextPrefix] = true
		case !e.IsPretext():
			r.at(pretext, "%s is not a pretext; %s are", name, listed(catalog.Entry.IsPretext))
			r.unknown[pretextPrefix] = true
		default:
			row.Pretext, row.pretext = name, newComponent(e)
		}
	} else if pretext != nil {
		r.unknown[pretextPrefix] = true
	}
}

func newComponent(e catalog.Entry) component {
	defaults, err := e.Complete(nil)
	if err != nil {
		panic(err) // the catalog's tests complete every entry
	}
	return component{entry: e, params: e.Params(), defaults: defaults}
}

// listed lists the names of the catalog's entries for which are is true.
func listed(are func(catalog.Entry) bool) string {
	var names []string
	for _, e := range catalog.All() {
		if are(e) {
			names = append(names, e.Name)
		}
	}
	return strings.Join(names, ", ")
}

// anywhere is the prefix of keys in tune and zip, where the names of a pretext's parameters begin with
// pretextPrefix. In params and pretext_params all keys belong to one component.
const anywhere = "*"

// param finds the parameter that a key names. prefix is "" for keys of the method, pretextPrefix for keys
// of the pretext, or anywhere.
func (r *rowParser) param(key *yaml.Node, prefix string) (ref, bool) {
	short := key.Value
	if prefix == anywhere {
		if prefix = ""; strings.HasPrefix(short, pretextPrefix) {
			prefix, short = pretextPrefix, strings.TrimPrefix(short, pretextPrefix)
		}
	}
	own, other := &r.row.method, &r.row.pretext
	if prefix == pretextPrefix {
		own, other = other, own
	}
	if r.unknown[prefix] {
		return ref{}, false
	}
	if own.open {
		return r.openParam(key, own, prefix, short)
	}
	if i := own.find(short); i >= 0 {
		return ref{prefix + short, own.entry, own.params[i]}, true
	}
	hint := ""
	if prefix == "" && other.find(strings.TrimPrefix(short, pretextPrefix)) >= 0 {
		hint = fmt.Sprintf("; %s has: it stands under pretext_params, or is called %s%s in tune and zip",
			other.entry.Name, pretextPrefix, strings.TrimPrefix(short, pretextPrefix))
	}
	switch {
	case own.entry.Name == "" && prefix == "":
		r.at(key, "the row has no method, so no parameter %q%s", short, hint)
	case own.entry.Name == "":
		r.at(key, "the row has no pretext, so no parameter %q", pretextPrefix+short)
	case hint != "":
		r.at(key, "%s has no parameter %q%s", own.entry.Name, short, hint)
	default:
		_, err := own.entry.Complete(catalog.Values{short: nil})
		r.at(key, "%v", err)
	}
	return ref{}, false
}

// find returns the index of a parameter, or -1.
func (c component) find(name string) int {
	return slices.IndexFunc(c.params, func(p catalog.Param) bool { return p.Name == name })
}

// claim records the role of a parameter. It refuses a second one, and the same one twice in the row or in one of
// its overrides.
func (r *rowParser) claim(key *yaml.Node, full, what string) bool {
	had, ok := r.roles[full]
	switch {
	case ok && had.what != what:
		r.at(key, "%s is %s, but on line %d it is %s; a parameter is given, swept or tuned", full, what, had.line, had.what)
		return false
	case ok && had.when == r.when:
		r.at(key, "%s is %s on line %d already; name it once", full, what, had.line)
		return false
	}
	r.roles[full] = role{what, key.Line, r.when}
	return true
}

// values reads params or pretext_params: single values and sweeps.
func (r *rowParser) values(n *yaml.Node, field, prefix string) {
	for _, kv := range r.optional(n, field) {
		ref, ok := r.param(kv.node, prefix)
		if !ok {
			continue
		}
		if kv.value.Kind == yaml.ScalarNode {
			if v, ok := r.value(kv, ref); ok {
				r.row.given = append(r.row.given, Assignment{ref.full, v})
			}
			continue
		}
		if points := r.sweep(kv.value, ref); points != nil && r.claim(kv.node, ref.full, "swept") {
			r.row.sweeps = append(r.row.sweeps, single(ref.full, points))
		}
	}
}

// optional returns the pairs of a mapping that may be absent (nil).
func (r *rowParser) optional(n *yaml.Node, what string) []pair {
	if n == nil {
		return nil
	}
	return r.pairs(n, what)
}

func (r *rowParser) value(kv pair, ref ref) (any, bool) {
	v, err := ref.scalar(kv.value)
	if err != nil {
		r.at(kv.value, "%v", err)
		return nil, false
	}
	return v, r.claim(kv.node, ref.full, "given")
}

// zip reads parameters that vary together, by lists of one length. where says how to write a single parameter,
// and claimed is the role of the parameters.
func (r *rowParser) zip(n *yaml.Node, where, claimed string) (a axis, ok bool) {
	pairs := r.optional(n, "zip")
	if n != nil && n.Kind == yaml.MappingNode && len(pairs) < 2 {
		r.at(n, "zip varies two or more parameters together; write a single one %s", where)
		return a, false
	}
	var columns [][]any
	for _, kv := range pairs {
		ref, ok := r.param(kv.node, anywhere)
		if !ok {
			continue
		}
		var points []any
		if kv.value.Kind == yaml.SequenceNode {
			points = r.faults.values(kv.value, ref, false)
		} else {
			points = r.sweep(kv.value, ref)
		}
		if points == nil || !r.claim(kv.node, ref.full, claimed) {
			continue
		}
		if len(columns) > 0 && len(points) != len(columns[0]) {
			r.at(kv.value, "%s has %d values and %s has %d; in a zip all have the same number", ref.full, len(points), a.names[0], len(columns[0]))
			continue
		}
		a.names, columns = append(a.names, ref.full), append(columns, points)
	}
	if len(columns) < 2 {
		return a, false
	}
	for i := range columns[0] {
		var point []any
		for _, c := range columns {
			point = append(point, c[i])
		}
		same := func(other []any) bool { return slices.Equal(other, point) }
		if slices.ContainsFunc(a.points, same) {
			r.at(n, "the zip has the values at position %d twice", i+1)
			return a, false
		}
		a.points = append(a.points, point)
	}
	return a, true
}

// tune reads the grids of the candidates.
func (r *rowParser) tune(n *yaml.Node) []axis {
	if how := r.row.Select; n != nil && (how == SelectPaper || how == SelectFixed) {
		r.at(n, "select is %s: the values are given and nothing is chosen; drop tune, or select val or test", how)
	}
	if n != nil && n.Kind == yaml.MappingNode && len(n.Content) == 0 {
		r.at(n, "tune is empty; give at least one parameter")
	}
	var out []axis
	for _, kv := range r.optional(n, "tune") {
		if kv.node.Value == "zip" {
			for _, z := range r.zips(kv.value) {
				if a, ok := r.zip(z, "as a list of its own", "tuned"); ok {
					out = append(out, a)
				}
			}
			continue
		}
		ref, ok := r.param(kv.node, anywhere)
		if !ok {
			continue
		}
		if points := r.sweep(kv.value, ref); points != nil && r.claim(kv.node, ref.full, "tuned") {
			out = append(out, single(ref.full, points))
		}
	}
	return out
}

// zips lists the zips that a field has: none, one, or a list of them.
func (r *rowParser) zips(n *yaml.Node) []*yaml.Node {
	if n == nil {
		return nil
	}
	if n.Kind == yaml.SequenceNode {
		if len(n.Content) == 0 {
			r.at(n, "zip is empty; give at least one")
		}
		return n.Content
	}
	return []*yaml.Node{n}
}

// override reads an entry of when: values and grids of candidates. It has no sweep, since a row has the same sweep
// points on every data set.
func (r *rowParser) override(n *yaml.Node) {
	f := r.fields(n, "a when", "datasets", "params", "pretext_params", "tune")
	if n.Kind != yaml.MappingNode {
		return
	}
	var w when
	if f["datasets"] == nil {
		r.at(n, "a when needs \"datasets\"")
	} else {
		w.datasets = r.names(f["datasets"], "datasets")
	}
	for _, part := range []struct{ field, prefix string }{{"params", ""}, {"pretext_params", pretextPrefix}} {
		for _, kv := range r.optional(f[part.field], part.field) {
			ref, ok := r.param(kv.node, part.prefix)
			if !ok {
				continue
			}
			if kv.value.Kind != yaml.ScalarNode {
				r.at(kv.value, "a when gives single values, not %s", kind(kv.value))
				continue
			}
			if v, ok := r.value(kv, ref); ok {
				w.given = append(w.given, Assignment{ref.full, v})
			}
		}
	}
	w.tunes = r.tune(f["tune"])
	empty := func(field string) bool { return f[field] == nil || len(f[field].Content) == 0 }
	if len(w.datasets) > 0 && empty("params") && empty("pretext_params") && f["tune"] == nil && len(n.Content) == 2*len(f) {
		r.at(n, "this when changes nothing; give params, pretext_params or tune")
	}
	r.row.whens = append(r.row.whens, w)
}

// size bounds the number of settings of the row's sweeps and grids, and adds it to that of the spec, for each
// data set and each point of the spec's own sweeps.
func (r *rowParser) size(n *yaml.Node, s *Spec) {
	longest := map[string]int{}
	lists := [][]axis{r.row.sweeps, r.row.tunes}
	for _, w := range r.row.whens {
		lists = append(lists, w.tunes)
	}
	for _, list := range lists {
		for _, a := range list {
			longest[a.names[0]] = max(longest[a.names[0]], len(a.points))
		}
	}
	settings := 1
	for _, points := range longest {
		if settings *= points; settings > maxCandidates {
			r.at(n, "the sweeps and grids of the row make more than %d settings", maxCandidates)
			return
		}
	}
	settings *= max(len(s.Datasets), 1) * max(len(s.LabelRates), 1) * max(len(s.Metrics), 1)
	if r.row.Method == "" {
		settings *= max(len(s.Scores), 1)
	}
	r.settings += settings
}
