package cli

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"ssdl/experiments"
	"ssdl/experiments/paper"
	"ssdl/harness/archive"
	"ssdl/harness/report"
	"ssdl/harness/run"
	"ssdl/harness/spec"
)

type archiveCmd struct {
	Specs  []string `arg:"" optional:"" help:"Built-in specs (${specs}) or paths of YAML files (default: the built-in ones that have runs)."`
	Output string   `short:"o" required:"" placeholder:"FILE" type:"path" help:"The zip file to write."`
}

// Help is what ssdl archive --help adds.
func (archiveCmd) Help() string {
	return "The archive holds all runs of the store, the specs with their tables and figures, the index files of the splits, and an RO-Crate that describes them. It holds no data set. `ssdl import` reads it."
}

func (c *archiveCmd) Run(e *env) error {
	names := c.Specs
	if len(names) == 0 {
		if len(e.common.Methods) > 0 {
			return fail(exitUsage, "--methods narrows a spec: name it")
		}
		names = spec.Names()
	}
	e, done, err := e.frozen()
	if err != nil {
		return err
	}
	defer done()
	st, err := e.look()
	if err != nil {
		return err
	}
	defer st.Close()
	var specs []archive.Spec
	results := map[string]int{} // by spec
	lib := e.common.library()
	for _, name := range names {
		p, err := e.resolve(name)
		if err != nil {
			return err
		}
		if len(c.Specs) == 0 && p.Counts()[run.Cached] == 0 {
			continue
		}
		s, err := collect(e, lib, p, name)
		if err != nil {
			return err
		}
		if slices.ContainsFunc(specs, func(t archive.Spec) bool { return t.Name == s.Name }) {
			return fail(exitUsage, "two specs are called %s: archive them one by one", s.Name)
		}
		specs = append(specs, s)
		results[s.Name] = p.Counts()[run.Cached]
	}
	if len(c.Specs) == 0 { // the main one is that of most results
		slices.SortStableFunc(specs, func(a, b archive.Spec) int { return cmp.Compare(results[b.Name], results[a.Name]) })
	}
	err = archive.Write(e.ctx, c.Output, st, specs)
	if errors.Is(err, archive.ErrEmpty) {
		return fail(exitNoData, "%w; `ssdl run` makes some", err)
	}
	if err != nil {
		return err
	}
	info, err := os.Stat(c.Output)
	if err != nil {
		return err
	}
	fmt.Fprintf(e.stdout, "archive: %s, %.1f MB\n", c.Output, float64(info.Size())/1e6)
	return nil
}

// frozen is an env whose store is a copy of that of e as it is now: what others record meanwhile is
// seen by nothing that is made from it.
func (e *env) frozen() (copied *env, done func(), err error) {
	st, err := e.look()
	if err != nil {
		return nil, nil, err
	}
	defer st.Close()
	dir, err := os.MkdirTemp("", "ssdl-")
	if err != nil {
		return nil, nil, err
	}
	common, frozen := *e.common, *e
	common.Results, frozen.common = dir, &common
	if err := st.Backup(e.ctx, frozen.dbPath()); err != nil {
		os.RemoveAll(dir)
		return nil, nil, err
	}
	return &frozen, func() { os.RemoveAll(dir) }, nil
}

// collect makes the files of a spec for an archive.
func collect(e *env, lib *run.Library, p *run.Plan, name string) (archive.Spec, error) {
	source, err := specSource(name)
	if err != nil {
		return archive.Spec{}, err
	}
	s := archive.Spec{
		Name: p.Spec.Name, Title: report.Clean(p.Spec.Title), Source: source, Jobs: selection(p),
	}
	s.Command = runCommand(e, p, s.File())
	n := p.Counts()
	s.Missing = n[run.New] + n[run.Changed] + n[run.Retry] + n[run.Failed] + n[run.Pending] + n[run.NoData]
	t, err := buildTable(p, len(e.common.Methods) > 0)
	if err != nil {
		return s, err
	}
	for _, format := range report.Formats() {
		var b bytes.Buffer
		if err := report.Render(&b, t, format); err != nil {
			return s, err
		}
		s.Results = append(s.Results, archive.File{Name: "tables/" + s.Name + "." + format, Content: b.Bytes()})
	}
	for _, f := range report.Figures(&t, paper.OperatingPoint) {
		for _, format := range []string{"png", "svg"} {
			var b bytes.Buffer
			if err := f.Draw(&b, format); err != nil {
				return s, err
			}
			s.Results = append(s.Results, archive.File{Name: "figures/" + f.Name + "." + format, Content: b.Bytes()})
		}
	}
	s.Splits, err = splitFiles(e, lib, p)
	return s, err
}

// runCommand is how the runs of a plan are made of the spec in a file.
func runCommand(e *env, p *run.Plan, file string) string {
	words := []string{"ssdl", "run", file, "-d", strings.Join(p.Spec.Datasets, ","), "-s", spec.FormatSeeds(p.Spec.Seeds)}
	if len(e.common.Methods) > 0 {
		words = append(words, "-m", strings.Join(e.common.Methods, ","))
	}
	if e.common.DropZero {
		words = append(words, "--drop-zero")
	}
	for i := range words {
		words[i] = word(words[i])
	}
	return strings.Join(words, " ")
}

// specSource is the text of a spec that spec.Load has read.
func specSource(name string) ([]byte, error) {
	if slices.Contains(spec.Names(), name) {
		return experiments.Specs.ReadFile(name + ".yaml")
	}
	return os.ReadFile(name)
}

// splitFiles are the index files of the splits behind the cells of a plan, each once. A
// split is made anew from the data; where the data are missing, or are no longer those of
// the runs, there is none, which is said.
func splitFiles(e *env, lib *run.Library, p *run.Plan) ([]archive.File, error) {
	var files []archive.File
	missing := map[string]string{}
	for _, c := range p.Cells {
		set, err := lib.Set(e.ctx, c.Dataset)
		for _, t := range c.Final {
			if t.Result == nil {
				continue
			}
			if err != nil {
				missing[c.Dataset] = err.Error()
				break
			}
			if set.Hash != t.Record.DatasetHash {
				missing[c.Dataset] = "the data at hand are not those of the runs"
				break
			}
			sp, err := lib.Split(set, t.Job.Split, t.Job.Seed)
			if err != nil {
				return nil, err
			}
			var b bytes.Buffer
			if err := sp.Write(&b, set); err != nil {
				return nil, err
			}
			name := fmt.Sprintf("splits/%s-%d-%.12s.json", set.Name, t.Job.Seed, sp.Hash)
			if !slices.ContainsFunc(files, func(f archive.File) bool { return f.Name == name }) {
				files = append(files, archive.File{Name: name, Content: b.Bytes()})
			}
		}
	}
	for _, name := range p.Spec.Datasets {
		if why := missing[name]; why != "" {
			fmt.Fprintf(e.stderr, "%s: no split files of %s: %s\n", p.Spec.Name, name, report.Clean(why))
		}
	}
	slices.SortFunc(files, func(a, b archive.File) int { return cmp.Compare(a.Name, b.Name) })
	return files, nil
}
