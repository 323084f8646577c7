package report

import (
	"encoding/csv"
	"io"
)

// CSV writes a head and lines of text, each cleaned and kept from being taken for a
// formula by a spreadsheet.
func CSV(w io.Writer, head []string, lines [][]string) error {
	out := csv.NewWriter(w)
	if err := out.Write(head); err != nil {
		return err
	}
	for _, line := range lines {
		safe := make([]string, len(line))
		for i, s := range line {
			safe[i] = csvCell(Clean(s))
		}
		if err := out.Write(safe); err != nil {
			return err
		}
	}
	out.Flush()
	return out.Error()
}
