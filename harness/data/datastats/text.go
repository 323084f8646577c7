package datastats

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"text/tabwriter"

	"ssdl/harness/sanitize"
)

// Text writes the report as text.
func (r *Report) Text(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 4, 2, ' ', 0)
	line := func(head, format string, args ...any) {
		fmt.Fprintf(t, "  %s\t%s\n", head, sanitize.Line(fmt.Sprintf(format, args...)))
	}
	fmt.Fprintf(t, "%s: %d samples x %d features (%s), %d classes\n", sanitize.Line(r.Name), r.Samples, r.Dim, r.DType, len(r.Classes))
	line("source", "%s", r.Source)
	line("hash", "%s", r.Hash)
	line("class sizes", "%d to %d, median %s", r.Least, r.Most, number(r.Median))
	if n := r.Norms; n != nil {
		line("norms as stored", "%s to %s, quartiles %s, %s, %s", number(n.Min), number(n.Max), number(n.Q1), number(n.Median), number(n.Q3))
	}
	line("zeros", "%s of the values, %d features in all samples, %d whole samples%s", percent(r.ZeroShare), r.ZeroFeatures, len(r.ZeroSamples), leftOut(r.ZeroSamples))
	d := r.Duplicates
	line("duplicates", "%d equal pairs; %d pairs with a cosine above %v, %d of them of two classes", d.Equal, d.Pairs, d.Cosine, d.OtherClass)
	if d.Pairs > 0 {
		line("", "among %d samples in %d groups, the largest of %d", d.Samples, d.Groups, d.Largest)
	}
	for _, s := range d.Splits {
		line("", "%s: %d pairs across, %d of %d test samples have one in training", s.Split, s.Pairs, s.Affected, s.Test)
	}
	if a := r.Accuracy; a != nil {
		line("accuracy", "nearest neighbour %s, ridge regression (weight %v) %s", percent(a.NN), a.Lambda, percent(a.Ridge))
		line("", "seed %d: %d training samples, %d of them labelled, %d test samples", a.Seed, a.Train, a.Labelled, a.Test)
	} else {
		line("accuracy", "none: %s", r.NoAccuracy)
	}
	line("variance", "%s along the first principal component, %s along the second", percent(r.PCA.Share[0]), percent(r.PCA.Share[1]))
	if err := t.Flush(); err != nil {
		return err
	}
	if len(d.Closest) > 0 {
		fmt.Fprint(w, "\nClosest pairs\n")
		t := tabwriter.NewWriter(w, 0, 4, 2, ' ', 0)
		fmt.Fprintln(t, "  COSINE\tSAMPLE\tCLASS\tSAMPLE\tCLASS")
		for _, p := range d.Closest {
			fmt.Fprintf(t, "  %.4f\t%s\t%s\t%s\t%s\n", p.Cosine, sample(p.A, p.FileA), sanitize.Line(p.ClassA), sample(p.B, p.FileB), sanitize.Line(p.ClassB))
		}
		if err := t.Flush(); err != nil {
			return err
		}
	}
	fmt.Fprint(w, "\nSamples per class\n")
	t = tabwriter.NewWriter(w, 0, 4, 2, ' ', 0)
	for _, c := range r.Classes {
		fmt.Fprintf(t, "  %s\t%d\n", sanitize.Line(c.Name), c.Samples)
	}
	return t.Flush()
}

func sample(i int, file string) string {
	if file == "" {
		return strconv.Itoa(i)
	}
	return sanitize.Line(file)
}

// leftOut lists at most ten indices, in brackets.
func leftOut(at []int) string {
	if len(at) == 0 {
		return ""
	}
	more := ""
	if len(at) > 10 {
		at, more = at[:10], ", ..."
	}
	return " (left out: " + strings.Trim(strings.ReplaceAll(fmt.Sprint(at), " ", ", "), "[]") + more + ")"
}

func percent(share float64) string { return strconv.FormatFloat(100*share, 'f', 1, 64) + " %" }

func number(v float64) string { return strconv.FormatFloat(v, 'g', 5, 64) }
