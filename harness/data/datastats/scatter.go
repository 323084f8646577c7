package datastats

import (
	"fmt"
	"io"

	"ssdl/harness/chart"
	"ssdl/harness/data"
)

// Picture draws the samples along the first two principal components.
func (r *Report) Picture(set *data.Set) chart.Drawing {
	c := chart.Scatter{
		Title: "Samples of " + chart.Shorten(r.Name, 40) + " along their first two principal components",
		X:     fmt.Sprintf("first component, %s of the variance", percent(r.PCA.Share[0])),
		Y:     fmt.Sprintf("second component, %s of the variance", percent(r.PCA.Share[1])),
		Class: set.Labels,
	}
	c.Heading = c.Title
	for _, k := range r.Classes {
		c.Classes = append(c.Classes, k.Name)
	}
	for _, p := range r.PCA.points {
		c.Points = append(c.Points, chart.Point{X: p[0], Y: p[1]})
	}
	return c.Draw()
}

// Scatter writes the picture as PNG.
func (r *Report) Scatter(w io.Writer, set *data.Set) error {
	if err := r.Picture(set).Write(w, "png"); err != nil {
		return fmt.Errorf("picture of %s: %w", r.Name, err)
	}
	return nil
}
