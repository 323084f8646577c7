package cli

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"

	"golang.org/x/crypto/ssh"
	"golang.org/x/term"

	"ssdl/experiments/paper"
	"ssdl/harness/archive"
	"ssdl/harness/executor"
	"ssdl/harness/report"
	"ssdl/harness/results"
	"ssdl/harness/run"
	"ssdl/harness/sanitize"
	"ssdl/harness/spec"
	"ssdl/harness/tempfile"
)

type archiveCmd struct {
	Specs []string `arg:"" optional:"" help:"Built-in specs (${specs}) or paths of YAML files (default: the built-in ones that have runs)."`
	specSelection
	Output    string `short:"o" required:"" placeholder:"FILE" type:"path" help:"The zip file to write."`
	Author    string `placeholder:"'NAME <URL>'" help:"Who ran the program and made the archive. A person (an ORCID as URL) also needs --publisher."`
	Publisher string `placeholder:"'NAME <URL>'" help:"The organisation that publishes the archive (default: the author)."`
	Sign      string `placeholder:"KEY" type:"path" help:"Sign the archive with this private ssh key."`
}

// Help is printed below the flags.
func (archiveCmd) Help() string {
	return "The archive holds all runs of the store, the specs with their tables and figures, the index files of the splits, a page that shows them (ro-crate-preview.html), a README, and an RO-Crate that describes them. It holds no data set. `ssdl import` reads it.\n\n" +
		"Every hash is checked, and every metric is recomputed from the predictions, before anything is written. SHA256SUMS has the hashes of all files; --sign adds SHA256SUMS.sig, which `ssdl import --require-signature` and `ssh-keygen -Y verify -n ssdl` check."
}

func (c *archiveCmd) Run(e *env) error {
	key, err := c.key(e)
	if err != nil {
		return err
	}
	pack := archive.Package{}
	if pack.Author, pack.Publisher, err = c.agents(); err != nil {
		return err
	}
	if pack.Documents, err = e.documents(); err != nil {
		return err
	}
	names := c.Specs
	if len(names) == 0 {
		if len(c.Methods) > 0 {
			return fail(exitUsage, "--methods narrows a spec: name it")
		}
		names = spec.Names()
	}
	sel, done, err := e.snapshot(c.specSelection)
	if err != nil {
		return err
	}
	defer done()
	st, err := e.readStore(sel.resultsFlag)
	if err != nil {
		return err
	}
	defer st.Close()
	specs := &pack.Specs
	cached := map[string]int{} // by spec
	lib := sel.library()
	for _, name := range names {
		p, err := e.plan(sel, name)
		if err != nil {
			return err
		}
		if len(c.Specs) == 0 && p.Counts()[run.Cached] == 0 {
			continue
		}
		s, err := archivedSpec(e, sel, lib, p, name)
		if err != nil {
			return err
		}
		if slices.ContainsFunc(*specs, func(t archive.Spec) bool { return t.Name == s.Name }) {
			return fail(exitUsage, "two specs are called %s: archive them one by one", s.Name)
		}
		*specs = append(*specs, s)
		cached[s.Name] = p.Counts()[run.Cached]
	}
	if len(c.Specs) == 0 { // the one with the most results is the main one
		slices.SortStableFunc(*specs, func(a, b archive.Spec) int { return cmp.Compare(cached[b.Name], cached[a.Name]) })
	}
	if pack.Preview, err = c.preview(e, sel, pack.Specs, names); err != nil {
		return err
	}
	err = archive.Write(e.ctx, c.Output, st, pack, run.Verify, key)
	if errors.Is(err, archive.ErrEmpty) {
		return fail(exitNoData, "%w. `ssdl run` makes some", err)
	}
	if err != nil {
		return err
	}
	info, err := os.Stat(c.Output)
	if err != nil {
		return err
	}
	by := "author not named (--author)"
	if pack.Author.Name != "" {
		by = "by " + sanitize.Line(pack.Author.Name)
	}
	signed := "not signed"
	if key != nil {
		signed = "signed by " + ssh.FingerprintSHA256(key.PublicKey())
	}
	fmt.Fprintf(e.stdout, "archive: %s, %.1f MB, %s, %s\n", c.Output, float64(info.Size())/1e6, by, signed)
	return nil
}

// agents reads --author and --publisher.
func (c *archiveCmd) agents() (author, publisher archive.Agent, err error) {
	for _, is := range []struct {
		flag, text string
		agent      *archive.Agent
	}{{"--author", c.Author, &author}, {"--publisher", c.Publisher, &publisher}} {
		if is.text == "" {
			continue
		}
		if *is.agent, err = archive.ParseAgent(is.text); err != nil {
			return author, publisher, fail(exitUsage, "%s: %w", is.flag, err)
		}
	}
	switch {
	case publisher.IsPerson():
		err = fail(exitUsage, "--publisher: %s is a person: name an organisation", publisher.URL)
	case author.IsPerson() && publisher.Name == "":
		err = fail(exitUsage, "--author: %s is a person: name the organisation with --publisher", author.URL)
	}
	return author, publisher, err
}

// documents returns the licence and the citation file of ssdl; none if the program has no embedded sources.
func (e *env) documents() (files []archive.File, err error) {
	if e.code == nil {
		return nil, nil
	}
	for _, name := range []string{"LICENSE", "CITATION.cff"} {
		content, err := fs.ReadFile(e.code.Sources, name)
		if err != nil {
			return nil, fmt.Errorf("the sources in the program: %w", err)
		}
		files = append(files, archive.File{Name: name, Content: content})
	}
	return files, nil
}

// key reads the key of --sign; nil without it.
func (c *archiveCmd) key(e *env) (ssh.Signer, error) {
	if c.Sign == "" {
		return nil, nil
	}
	var ask func() ([]byte, error)
	if f, ok := e.stdin.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		ask = func() ([]byte, error) {
			fmt.Fprintf(e.stderr, "Passphrase of %s: ", c.Sign)
			defer fmt.Fprintln(e.stderr)
			return term.ReadPassword(int(f.Fd()))
		}
	}
	key, err := archive.ReadKey(c.Sign, ask)
	if err != nil {
		return nil, &exitError{exitUsage, err}
	}
	return key, nil
}

// preview makes the page that shows the archive; nil if no spec has a result.
func (c *archiveCmd) preview(e *env, sel specSelection, specs []archive.Spec, names []string) ([]byte, error) {
	var shown []string
	for _, name := range names {
		s, err := spec.Load(name)
		if err != nil {
			return nil, err
		}
		if slices.ContainsFunc(specs, func(a archive.Spec) bool { return a.Name == s.Name }) {
			shown = append(shown, name)
		}
	}
	if len(shown) == 0 {
		return nil, nil
	}
	x, err := pageFlags{sel.rootFlags, sel.resultsFlag, sel.datasetsFlag, sel.seedsFlag}.explorer(e, shown)
	if err != nil {
		return nil, err
	}
	defer x.Close()
	var b bytes.Buffer
	err = x.WriteFile(e.ctx, &b)
	return b.Bytes(), err
}

// snapshot copies the store and returns the selection on the copy, so that all files of an archive
// are of the same runs although other processes record more.
func (e *env) snapshot(sel specSelection) (copied specSelection, done func(), err error) {
	st, err := e.readStore(sel.resultsFlag)
	if err != nil {
		return sel, nil, err
	}
	defer st.Close()
	dir, err := tempfile.System()
	if err != nil {
		return sel, nil, err
	}
	sel.Results = dir.Path
	if err := st.Backup(e.ctx, sel.dbPath()); err != nil {
		return sel, nil, errors.Join(err, dir.Remove())
	}
	return sel, func() { dir.Remove() }, nil
}

// archivedSpec makes the files of a spec for an archive.
func archivedSpec(e *env, sel specSelection, lib *executor.Library, p *run.Plan, name string) (archive.Spec, error) {
	source, err := specSource(name)
	if err != nil {
		return archive.Spec{}, err
	}
	s := archive.Spec{
		Name: p.Spec.Name, Title: sanitize.Line(p.Spec.Title), Source: source, Jobs: selection(p),
		Datasets: p.Spec.Datasets, Seeds: spec.FormatSeeds(p.Spec.Seeds),
	}
	s.Command = runCommand(sel, p, s.File())
	n := p.Counts()
	s.Missing = n[run.New] + n[run.Changed] + n[run.Damaged] + n[run.Retry] + n[run.Failed] + n[run.Pending] + n[run.NoData]
	t, err := results.TableOf(p, len(sel.Methods) > 0)
	if err != nil {
		return s, err
	}
	for _, file := range tableFiles(t) {
		var b bytes.Buffer
		if err := file.write(&b); err != nil {
			return s, err
		}
		s.Results = append(s.Results, archive.File{Name: "tables/" + s.Name + "." + file.extension, Content: b.Bytes()})
	}
	for _, f := range report.Figures(&t, paper.OperatingPoint) {
		if f.TooFew() {
			continue
		}
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

// runCommand is the command that makes the runs of a plan from its spec file.
func runCommand(sel specSelection, p *run.Plan, file string) string {
	words := []string{"ssdl", "run", file, "-d", strings.Join(p.Spec.Datasets, ","), "-s", spec.FormatSeeds(p.Spec.Seeds)}
	if len(sel.Methods) > 0 {
		words = append(words, "-m", strings.Join(sel.Methods, ","))
	}
	if sel.DropZero {
		words = append(words, "--drop-zero")
	}
	return report.Command(words...)
}

// specSource returns the YAML of a spec that spec.Load has read.
func specSource(name string) ([]byte, error) {
	if slices.Contains(spec.Names(), name) {
		return spec.Source(name)
	}
	return os.ReadFile(name)
}

// splitFiles makes the index files of the splits behind the cells of a plan, each once. It needs local
// data, and prints a message for each data set that is missing.
func splitFiles(e *env, lib *executor.Library, p *run.Plan) ([]archive.File, error) {
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
			fmt.Fprintf(e.stderr, "%s: no split files of %s: %s\n", p.Spec.Name, name, sanitize.Line(why))
		}
	}
	slices.SortFunc(files, func(a, b archive.File) int { return cmp.Compare(a.Name, b.Name) })
	return files, nil
}
