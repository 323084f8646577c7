package cli

import (
	"bytes"
	"fmt"
	"path/filepath"
	"strings"

	"ssdl/experiments/paper"
	"ssdl/harness/report"
	"ssdl/harness/spec"
	"ssdl/harness/verify"
)

type figureCmd struct {
	Specs []string `arg:"" help:"Built-in specs (${specs}) or paths of YAML files whose results are drawn."`
}

func (c *figureCmd) Run(e *env) error {
	for _, name := range c.Specs {
		p, err := e.resolve(name)
		if err != nil {
			return err
		}
		t, err := buildTable(p, len(e.common.Methods) > 0)
		if err != nil {
			return err
		}
		files, err := drawFigures(e, t, p.Spec)
		if err != nil {
			return err
		}
		if len(files) == 0 {
			return nothing(t, "draw", name)
		}
		for _, f := range files {
			fmt.Fprintf(e.stdout, "figure: %s\n", f)
		}
	}
	return nil
}

// drawFigures writes the pictures of a table as PNG and SVG into the results folder, and a page
// that has them beside what the paper says about them, with the verdicts.
func drawFigures(e *env, t report.Table, s *spec.Spec) ([]string, error) {
	figures := report.Figures(&t, paper.OperatingPoint)
	if len(figures) == 0 {
		return nil, nil
	}
	dir, err := e.figures()
	if err != nil {
		return nil, err
	}
	var files []string
	put := func(name string, content []byte) error {
		path := filepath.Join(dir, name)
		files = append(files, path)
		return replaceContent(path, content)
	}
	var page bytes.Buffer
	fmt.Fprintf(&page, "# %s\n\n", report.MarkdownText(t.Caption))
	if t.Synthetic() {
		page.WriteString("Pictures marked synthetic are of generated data, not of images.\n\n")
	}
	for _, f := range figures {
		for _, format := range []string{"png", "svg"} {
			var buf bytes.Buffer
			if err := f.Draw(&buf, format); err != nil {
				return nil, err
			}
			if err := put(f.Name+"."+format, buf.Bytes()); err != nil {
				return nil, err
			}
		}
		fmt.Fprintf(&page, "![%s](%s.png)\n\n", report.MarkdownText(f.Title), f.Name)
		if names := f.Flattered(); len(names) > 0 {
			fmt.Fprintf(&page, "<sup>†</sup> %s: %s\n\n", report.MarkdownText(strings.Join(names, ", ")), report.DaggerText)
		}
	}
	verdict, err := judge(t, s)
	if err != nil {
		return nil, err
	}
	var says strings.Builder
	for _, c := range paper.Claims() {
		if c.Table == t.ID {
			line := fmt.Sprintf("- \"%s\" (%s)\n", c.Quote, c.Where)
			if !strings.Contains(says.String(), line) { // one sentence may be several claims
				says.WriteString(line)
			}
		}
	}
	if says.Len() > 0 {
		fmt.Fprintf(&page, "The paper says:\n\n%s\n", says.String())
		if err := verify.Render(&page, verdict, "md"); err != nil {
			return nil, err
		}
	}
	return files, put(report.FileName(t, "md"), page.Bytes())
}
