package report

import (
	"io"
	"strings"
)

// writeText writes grids for a terminal.
func writeText(w io.Writer, d Document) error {
	return each(w, d, func(g Grid) (string, error) { return g.text(), nil })
}

// proseWidth is the width at which a last column of prose has further lines.
const proseWidth = 100

// text renders the grid for a terminal. Suffixes have room of their own, so that numbers stay aligned. Long prose in
// the last column has several lines.
func (g Grid) text() string {
	cols := len(g.Head)
	text, tail, full := make([]int, cols), make([]int, cols), make([]int, cols)
	starred := false
	for _, rows := range g.Groups {
		for _, row := range rows {
			for j, it := range row {
				if g.Align[j] == 'l' {
					full[j] = max(full[j], width(it.Text+it.tail()))
				} else {
					text[j] = max(text[j], width(it.Text))
					tail[j] = max(tail[j], width(it.tail()))
				}
				starred = starred || it.Bold
			}
		}
	}
	total := 2 * (cols - 1)
	last := cols - 1
	prose := !g.headless() && g.Align[last] == 'l' && full[last] > proseWidth
	if prose {
		full[last] = proseWidth
	}
	for j, h := range g.Head {
		full[j] = max(full[j], width(h), text[j]+tail[j])
		total += full[j]
	}
	var b strings.Builder
	line := func(entries []string) {
		b.WriteString(strings.TrimRight(strings.Join(entries, "  "), " ") + "\n")
	}
	rule := strings.Repeat("-", total) + "\n"
	if g.headless() {
		rule = ""
	}
	if g.heading() != "" {
		b.WriteString(g.heading() + "\n\n")
	}
	entries := make([]string, cols)
	if !g.headless() {
		for j, h := range g.Head {
			entries[j] = pad(h, full[j], g.Align[j])
		}
		line(entries)
	}
	for _, rows := range g.Groups {
		b.WriteString(rule)
		for _, row := range rows {
			for j, it := range row {
				entry := pad(it.Text, text[j], 'r') + pad(it.tail(), tail[j], 'l')
				entries[j] = pad(entry, full[j], g.Align[j])
			}
			var more []string
			if prose {
				more = wrap(entries[last], full[last])
				entries[last], more = more[0], more[1:]
			}
			line(entries)
			for j := range last {
				entries[j] = pad("", full[j], 'l')
			}
			for _, text := range more {
				entries[last] = text
				line(entries)
			}
		}
	}
	b.WriteString(rule)
	if starred {
		b.WriteString("* best of the column\n")
	}
	for _, n := range g.Notes {
		switch {
		case n.Mark == "":
			b.WriteString(n.Text + "\n")
		case isSign(n.Mark):
			b.WriteString(n.Mark + " " + n.Text + "\n")
		default:
			b.WriteString("[" + n.Mark + "] " + n.Text + "\n")
		}
	}
	return b.String()
}

// wrap cuts text at spaces into lines of at most that width; a longer word has a line of its own.
func wrap(s string, most int) []string {
	lines := []string{""}
	for _, word := range strings.Fields(s) {
		at := len(lines) - 1
		switch {
		case lines[at] == "":
			lines[at] = word
		case width(lines[at])+1+width(word) <= most:
			lines[at] += " " + word
		default:
			lines = append(lines, word)
		}
	}
	return lines
}

// tail follows the text of an item.
func (it Item) tail() string {
	s := ""
	if it.Bold {
		s = "*"
	}
	s += it.Suffix
	if len(it.Marks) > 0 {
		s += " [" + strings.Join(it.Marks, ",") + "]"
	}
	return s
}
