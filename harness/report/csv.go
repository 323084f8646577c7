package report

import (
	"encoding/csv"
	"io"
	"strconv"

	"ssdl/harness/sanitize"
)

// writeCSV writes the head and the lines of a document.
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

// lineOf orders fields as in head. A missing field is empty.
func lineOf(head []string, fields map[string]string) []string {
	line := make([]string, len(head))
	for i, name := range head {
		line[i] = fields[name]
	}
	return line
}

// number formats v with all digits; "" for nil.
func number(v *float64) string {
	if v == nil {
		return ""
	}
	return strconv.FormatFloat(*v, 'g', -1, 64)
}
