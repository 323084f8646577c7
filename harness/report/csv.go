package report

import (
	"encoding/csv"
	"io"
	"strconv"

	"ssdl/harness/sanitize"
)

// writeCSV writes the head and lines of a document.
func writeCSV(w io.Writer, d Document) error {
	out := csv.NewWriter(w)
	if err := out.Write(d.Head); err != nil {
		return err
	}
	for _, line := range d.Lines {
		safe := make([]string, len(line))
		for i, s := range line {
			safe[i] = sanitize.CSVCell(s)
		}
		if err := out.Write(safe); err != nil {
			return err
		}
	}
	out.Flush()
	return out.Error()
}

// lineOf orders fields as the head names them; those that a line has not are empty.
func lineOf(head []string, fields map[string]string) []string {
	line := make([]string, len(head))
	for i, name := range head {
		line[i] = fields[name]
	}
	return line
}

// number writes v with all its digits, and nothing for none.
func number(v *float64) string {
	if v == nil {
		return ""
	}
	return strconv.FormatFloat(*v, 'g', -1, 64)
}
