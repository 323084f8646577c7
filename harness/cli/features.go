package cli

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"ssdl/harness/data/croissant"
	"ssdl/harness/data/features"
	"ssdl/harness/report"
)

type featuresCmd struct {
	jobsFlag
	Images         string `placeholder:"DIR" type:"path" help:"Photographs: one folder per class, or JPEGImages with ImageSplits as Stanford 40 Actions comes (its official split is kept)."`
	List           string `placeholder:"FILE.csv" type:"path" help:"Photographs as lines of path,class; paths are relative to --images, else to the file."`
	Model          string `required:"" placeholder:"FILE.onnx" type:"path" help:"Network in ONNX form, plain or gzipped, from batch x 3 x 224 x 224 to batch x features."`
	Out            string `required:"" placeholder:"DIR" type:"path" help:"Folder of the result, e.g. data/stanford40."`
	Ort            string `placeholder:"FILE" type:"path" help:"Library of ONNX Runtime. Default: $$SSDL_ORT_LIB, then beside the program (make ort)."`
	Batch          int    `default:"8" placeholder:"N" help:"Images per batch (default: 8)."`
	DropDuplicates bool   `help:"Leave out exact copies of an earlier file."`
	Strict         bool   `help:"Refuse to begin if any image cannot be used."`
}

func (c *featuresCmd) Run(e *env) error {
	if err := c.check(); err != nil {
		return err
	}
	src, err := features.Scan(c.Images, c.List)
	if err != nil {
		return fileError(err, exitUsage)
	}
	defer src.Close()
	if src.Layout == features.FolderLayout && src.Contains(c.Out) && c.Out != c.Images {
		return fail(exitUsage, "--out %s lies in --images, where every folder is a class; choose another place", c.Out)
	}
	library, _, err := features.FindLibrary(c.Ort)
	if err != nil {
		return fileError(err, exitUsage)
	}
	rt, err := features.OpenRuntime(library)
	if err != nil {
		return &exitError{exitUsage, err}
	}
	defer rt.Close()
	net, err := rt.Open(c.Model, features.ImageNet().Crop, c.Batch, c.threads())
	if err != nil {
		return fileError(err, exitUsage)
	}
	defer net.Close()
	if net.Model.Dim == imageNetClasses {
		fmt.Fprintf(e.stderr, "note: %s gives %d values per image, which are class scores rather than features; scripts/export_resnet50.py leaves the last layer out\n", filepath.Base(c.Model), imageNetClasses)
	}
	if c.Strict {
		if err := c.strict(e, src); err != nil {
			return err
		}
	}
	start := time.Now()
	sum, err := features.Extract(e.ctx, src, net, features.Options{
		Out: c.Out, DropDuplicates: c.DropDuplicates, Workers: c.threads(), Stop: e.stop,
		Progress: features.NewProgress(e.stderr, isTerminal(e.stderr)),
	})
	if sum != nil {
		c.tell(e.stdout, sum)
	}
	var refused *features.RefusedError
	switch {
	case errors.Is(err, features.ErrStopped):
		return fail(exitInterrupted, "%w; the same command continues", err)
	case err != nil && e.ctx.Err() != nil:
		return fail(exitInterrupted, "interrupted: finished images are kept; the same command continues")
	case errors.As(err, &refused):
		return &exitError{exitUsage, err}
	case err != nil && sum != nil: // too little could be used
		return &exitError{exitNoData, err}
	case err != nil:
		return err
	}
	// `ssdl data croissant` lists what Croissant requires and the data set does not say, e.g. the licence.
	content, _, err := croissant.Describe(c.Out)
	if err == nil {
		err = writeFile(filepath.Join(c.Out, croissant.FileName), content)
	}
	if err != nil {
		return fmt.Errorf("the features are in %s; beside them %s could not be written: %w", c.Out, croissant.FileName, err)
	}
	fmt.Fprintf(e.stderr, "features: %s in %s\n", report.Count(sum.Samples+len(sum.Skipped)+len(sum.Dropped), "image", "images"), time.Since(start).Round(time.Second/10))
	if n := len(sum.Skipped); n > 0 {
		return fail(exitFailedRuns, "%s left out as unusable; %s names all", report.Count(n, "file was", "files were"), filepath.Join(c.Out, "meta.json"))
	}
	return nil
}

// imageNetClasses is the number of outputs of a network that was not cut before its
// classifier.
const imageNetClasses = 1000

func (c *featuresCmd) check() error {
	switch {
	case c.Images == "" && c.List == "":
		return fail(exitUsage, "name the photographs with --images DIR or --list FILE.csv")
	case c.Batch < 1 || c.Batch > features.MaxBatch:
		return fail(exitUsage, "--batch %d: expected 1 to %d", c.Batch, features.MaxBatch)
	}
	return nil
}

// threads is the number of processors to use.
func (c *featuresCmd) threads() int {
	if c.Jobs > 0 {
		return c.Jobs
	}
	return runtime.GOMAXPROCS(0)
}

// fileError gives err its exit code: that of missing data if a file does not exist, else otherwise.
func fileError(err error, otherwise int) error {
	if errors.Is(err, fs.ErrNotExist) {
		return &exitError{exitNoData, err}
	}
	return &exitError{otherwise, err}
}

// strict decodes every image before anything is written.
func (c *featuresCmd) strict(e *env, src *features.Source) error {
	fmt.Fprintf(e.stderr, "checking %s\n", report.Count(len(src.Images), "image", "images"))
	bad, err := features.Check(e.ctx, src, c.threads())
	if err != nil {
		return err
	}
	if len(bad) == 0 {
		return nil
	}
	listSkipped(e.stdout, bad)
	return fail(exitNoData, "%s be used, so nothing was written. Repair or remove the files listed, or leave out --strict", report.Count(len(bad), "file cannot", "files cannot"))
}

// tell prints what was made and what was left out.
func (c *featuresCmd) tell(w io.Writer, s *features.Summary) {
	if len(s.Counts) > 0 {
		fmt.Fprintf(w, "%s: %d samples x %d features, %d classes of %d to %d samples\n",
			filepath.Base(c.Out), s.Samples, s.Dim, len(s.Classes), slices.Min(s.Counts), slices.Max(s.Counts))
	}
	listSkipped(w, s.Skipped)
	if len(s.EmptyClasses) > 0 {
		fmt.Fprintf(w, "classes without an image that can be used, left out: %s\n", strings.Join(s.EmptyClasses, ", "))
	}
	for i, n := range s.Counts {
		if n == 1 {
			fmt.Fprintf(w, "class %s has one image, so no split can test it\n", s.Classes[i])
		}
	}
	if n := len(s.Dropped); n > 0 {
		fmt.Fprintf(w, "%s left out (named in meta.json)\n", report.Count(n, "duplicate", "duplicates"))
	}
	if len(s.Duplicates) == 0 {
		return
	}
	fmt.Fprintf(w, "%s of equal files (--drop-duplicates keeps one of each):\n", report.Count(len(s.Duplicates), "set", "sets"))
	listed(w, s.Duplicates, func(d features.Duplicate) string {
		text := strings.Join(d.Files, " = ")
		if d.Classes {
			text += ": in different classes"
		}
		if d.Parts {
			text += ": in training and in test"
		}
		return text
	})
}

func listSkipped(w io.Writer, skipped []features.Skip) {
	if len(skipped) == 0 {
		return
	}
	fmt.Fprintf(w, "%s be used:\n", report.Count(len(skipped), "file cannot", "files cannot"))
	listed(w, skipped, func(s features.Skip) string { return s.File + ": " + s.Reason })
}

// listed prints at most 20 elements of a list, one per line.
func listed[T any](w io.Writer, list []T, text func(T) string) {
	const most = 20
	for _, v := range list[:min(len(list), most)] {
		fmt.Fprintf(w, "  %s\n", text(v))
	}
	if n := len(list) - most; n > 0 {
		fmt.Fprintf(w, "  and %d more\n", n)
	}
}
