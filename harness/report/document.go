// Package report renders results: tables, verdicts, comparisons, explanations, runs and plans as text,
// Markdown, LaTeX, HTML, CSV and JSON; figures as PNG and SVG; verdicts as JUnit XML and GitHub
// annotations. It puts values into words. It reads no store and judges nothing.
package report

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode"
)

// Document holds a value in the form that each Format needs. Its strings may be unsafe to print: formats
// clean them.
type Document struct {
	// Grids are for text, Markdown, LaTeX and HTML.
	Grids []Grid
	// Head and Lines are for CSV.
	Head  []string
	Lines [][]string
	// Value is for JSON.
	Value any
}

// Format is an output format of documents.
type Format struct {
	Name      string // in flags
	Extension string // of files
	write     func(io.Writer, Document) error
}

var formats = []Format{
	{"text", "txt", writeText},
	{"md", "md", writeMarkdown},
	{"latex", "tex", writeLaTeX},
	{"html", "html", writeHTML},
	{"csv", "csv", writeCSV},
	{"json", "json", writeJSON},
}

// Formats lists the formats.
func Formats() []Format { return slices.Clone(formats) }

// FormatNames lists the names of the formats.
func FormatNames() []string {
	var names []string
	for _, f := range formats {
		names = append(names, f.Name)
	}
	return names
}

// Write writes the document in the named format.
func (d Document) Write(w io.Writer, format string) error {
	i := slices.IndexFunc(formats, func(f Format) bool { return f.Name == format })
	if i < 0 {
		return fmt.Errorf("unknown format %q; there are %s", format, strings.Join(FormatNames(), ", "))
	}
	return formats[i].write(w, d)
}

// writeJSON writes the value, without control characters and marks that change the writing direction. JSON
// does not escape all of them.
func writeJSON(w io.Writer, d Document) error {
	raw, err := json.MarshalIndent(d.Value, "", "  ")
	if err != nil {
		return err
	}
	plain := strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && r != '\n' || unicode.Is(unicode.Bidi_Control, r) {
			return -1
		}
		return r
	}, string(raw))
	_, err = io.WriteString(w, plain+"\n")
	return err
}

// FileName is the name of an output file: name, "-synthetic" for generated data, and the extension.
func FileName(name string, synthetic bool, extension string) string {
	name = strings.Map(func(r rune) rune {
		if r < 0x80 && (r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '_') {
			return r
		}
		return '_'
	}, name)
	if name == "" {
		name = "table"
	}
	if synthetic {
		name += "-synthetic"
	}
	return name + "." + extension
}
