package cli

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"ssdl/harness/data"
	"ssdl/harness/data/croissant"
	"ssdl/harness/data/datastats"
)

type dataStatsCmd struct {
	setNames
	rootFlags
	resultsFlag
	listOutput
	Picture string `placeholder:"FILE" type:"path" help:"PNG of the samples along the first two principal components (default: figures/data-NAME.png in the results folder)."`
}

func (c *dataStatsCmd) Run(e *env) error {
	names, err := c.all()
	if err != nil {
		return err
	}
	if len(names) > 1 && c.Picture != "" {
		return fail(exitUsage, "--picture names one file, but there are %d data sets; leave it out, or describe one at a time", len(names))
	}
	var reports []*datastats.Report
	for _, name := range names {
		r, err := c.describe(e, name)
		if err != nil {
			return err
		}
		reports = append(reports, r)
	}
	if c.Format == "json" {
		return c.write(e, oneDocument(reports))
	}
	return nil
}

// describe draws the picture of a data set, and prints its report if the format is text.
func (c *dataStatsCmd) describe(e *env, name string) (*datastats.Report, error) {
	set, norms, err := loadRaw(e, c.rootFlags, name)
	if err != nil {
		return nil, err
	}
	r, err := datastats.Compute(e.ctx, set, norms)
	if err != nil {
		return nil, err
	}
	if c.Format == "text" {
		if err := r.Text(e.stdout); err != nil {
			return nil, err
		}
	}
	picture, err := c.draw(r, set)
	switch {
	case err != nil && c.Picture == "": // without --picture the numbers are enough
		fmt.Fprintf(e.stderr, "no picture of %s: %v; --picture FILE puts it elsewhere\n", set.Name, err)
		return r, nil
	case err != nil || c.Format == "json":
		return r, err
	}
	_, err = fmt.Fprintf(e.stdout, "\nfigure: %s\n", picture)
	return r, err
}

// draw writes the picture of a data set and returns its path.
func (c *dataStatsCmd) draw(r *datastats.Report, set *data.Set) (string, error) {
	picture := c.Picture
	if picture == "" {
		picture = filepath.Join(c.Results, "figures", "data-"+set.Name+".png")
	}
	if err := os.MkdirAll(filepath.Dir(picture), 0o755); err != nil {
		return "", fail(exitUsage, "picture: %w", err)
	}
	return picture, replaceFile(picture, func(w io.Writer) error { return r.Scatter(w, set) })
}

// loadRaw loads a data set without its zero samples, and the norms of all samples as stored; no norms
// for a built-in set.
func loadRaw(e *env, f rootFlags, name string) (*data.Set, []float64, error) {
	set, path, err := load(e, dataFlags{rootFlags: f, DropZero: true}, name)
	if err != nil || path == "" {
		return set, nil, err
	}
	norms, err := data.Norms(e.ctx, path)
	return set, norms, err
}

type dataCroissantCmd struct {
	Name string `arg:"" help:"Data set: name or path."`
	rootFlags
	Output string `short:"o" placeholder:"FILE" type:"path" help:"Write to FILE (default: standard output)."`
}

// Help is printed below the flags.
func (dataCroissantCmd) Help() string {
	return "The metadata names the files of the data set as they are called in its folder: a file croissant.json belongs there."
}

func (c *dataCroissantCmd) Run(e *env) error {
	path, ok := dataPath(c.rootFlags, c.Name)
	if !ok && slices.Contains(data.Builtins(), c.Name) {
		return fail(exitUsage, "%s is built in and has no files to describe", c.Name)
	}
	if !ok {
		return noDataError(c.rootFlags, c.Name)
	}
	content, lacks, err := croissant.Describe(path)
	if errors.Is(err, fs.ErrNotExist) {
		return &exitError{exitNoData, err}
	}
	if err != nil {
		return err
	}
	if c.Output == "" {
		_, err = e.stdout.Write(content)
	} else {
		err = writeFile(c.Output, content)
	}
	if err == nil && len(lacks) > 0 {
		fmt.Fprintf(e.stderr, "ssdl: %s: Croissant also requires %s. Add them to meta.json under these keys, and run again\n", c.Name, strings.Join(lacks, ", "))
	}
	return err
}
