package cli

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"

	"ssdl/experiments/paper"
	"ssdl/harness/report"
	"ssdl/harness/results"
	"ssdl/harness/run"
)

type figureCmd struct {
	Specs []string `arg:"" help:"Built-in specs (${specs}) or paths of YAML files whose results are drawn."`
	storedSelection
}

func (c *figureCmd) Run(e *env) error {
	var missing []error // reported at the end, so that one spec without results does not keep the others from being drawn
	for _, name := range c.Specs {
		t, p, err := e.storedTable(c.selection(), name)
		if err != nil {
			return err
		}
		files, few, err := drawFigures(c.resultsFlag, t, p)
		if err != nil {
			return err
		}
		if len(files)+len(few) == 0 {
			missing = append(missing, noResultsError(t, "draw", name))
			continue
		}
		for _, f := range few {
			n, all := f.Values()
			hint := ""
			if n < all {
				hint = fmt.Sprintf("; `%s` makes the others", report.Command("ssdl", "run", name))
			}
			fmt.Fprintf(e.stderr, "%s: not drawn, it has %d of %s%s\n", f.Name, n, report.Count(all, "value", "values"), hint)
		}
		if len(files) == 0 {
			missing = append(missing, fail(exitNoData, "%s has too few results to draw", t.ID))
		}
		for _, f := range files {
			fmt.Fprintf(e.stdout, "figure: %s\n", f)
		}
	}
	return errors.Join(missing...)
}

// drawFigures writes the figures of a table as PNG and SVG into the results folder, and a page that sets
// them beside the paper's statements and their verdicts. It returns the figures with too few values, which it
// leaves out.
func drawFigures(f resultsFlag, t results.Table, p *run.Plan) (files []string, few []report.Figure, err error) {
	var figures []report.Figure
	for _, f := range report.Figures(&t, paper.OperatingPoint) {
		if f.TooFew() {
			few = append(few, f)
		} else {
			figures = append(figures, f)
		}
	}
	if len(figures) == 0 {
		return nil, few, nil
	}
	dir, err := f.figures()
	if err != nil {
		return nil, nil, err
	}
	put := func(name string, write func(io.Writer) error) error {
		path := filepath.Join(dir, name)
		files = append(files, path)
		return replaceFile(path, write)
	}
	for _, f := range figures {
		for _, format := range []string{"png", "svg"} {
			if err := put(f.Name+"."+format, func(w io.Writer) error { return f.Draw(w, format) }); err != nil {
				return nil, nil, err
			}
		}
	}
	v, err := verdictsOf(t, p)
	if err != nil {
		return nil, nil, err
	}
	page, err := report.FigurePage(t, figures, v)
	if err != nil {
		return nil, nil, err
	}
	return files, few, put(report.FileName(t.ID, t.Synthetic(), "md"), func(w io.Writer) error {
		_, err := io.WriteString(w, page)
		return err
	})
}
