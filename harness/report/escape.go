package report

// CSVCell makes text fit for a cell of a CSV file: cleaned, and not to be taken for a
// formula by a spreadsheet.
func CSVCell(s string) string { return csvCell(Clean(s)) }

// MarkdownText makes text fit for a line of Markdown: cleaned, and without a meaning there
// or in HTML.
func MarkdownText(s string) string { return markdown(Clean(s)) }
