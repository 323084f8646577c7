package archive

import (
	"fmt"
	"html"
	"slices"
	"strings"
)

// readme is the README of an archive: its content, and how to check it.
func readme(p Package, h *history) []byte {
	var b strings.Builder
	fmt.Fprintf(&b, `# Runs of ssdl

%d runs, %d of them failed, recorded from %s to %s. ssdl runs the paper "SSDL: Self-Supervised Dictionary Learning"
(ICME 2021) again. The archive has no data sets; it names each by its hash.

| file | content |
|---|---|
| runs.db | all runs, in one SQLite file |
%s| ro-crate-preview.html | the results as a page; it opens in a browser and loads nothing |
| ro-crate-metadata.json | the description of all files: RO-Crate 1.1, Workflow Run Crate 0.5 |
| SHA256SUMS, SHA256SUMS.sig | the hashes of all files; the signature, if there is one |

## Check it

Compare the files with their hashes, in the folder of the unpacked archive:

    sha256sum -c SHA256SUMS

If there is a SHA256SUMS.sig, it signs these hashes. allowed_signers is a file with the line "AUTHOR KEY", the key from a
source that you trust:

    ssh-keygen -Y verify -f allowed_signers -I AUTHOR -n ssdl -s SHA256SUMS.sig < SHA256SUMS

Import does both (leave out --require-signature if the archive is not signed), checks every hash of every run, and recomputes every
metric from the predictions. If anything is wrong, it refuses the whole archive:

    ssdl import ARCHIVE.zip --require-signature author.pub --results theirs

Then check the whole store:

    ssdl fsck --results theirs
`, h.runs, h.failed, h.all.start.Format("2006-01-02"), h.all.end.Format("2006-01-02"), contentLines(p))
	if len(p.Specs) > 0 {
		b.WriteString("\nCompute some of the runs again, bit by bit, in the folder of the unpacked archive (this needs the data):\n\n    ssdl check")
		for _, s := range p.Specs {
			b.WriteString(" " + s.File())
		}
		b.WriteString(" --results theirs --sample 60\n")
		b.WriteString("\n## Make it again\n\nEach command makes the runs of a spec, in the folder of the unpacked archive:\n\n")
	}
	for _, s := range p.Specs {
		fmt.Fprintf(&b, "    %s\n", s.Command)
	}
	return []byte(b.String())
}

// contentLines are the lines of the README for the folders that the archive has.
func contentLines(p Package) string {
	lines := []struct{ folder, content string }{
		{"specs/", "the experiments, in YAML"},
		{"splits/", "the samples of each split, by data set and seed"},
		{"tables/", "tables of the runs"},
		{"figures/", "figures of the runs"},
	}
	text := ""
	for _, l := range lines {
		if slices.ContainsFunc(p.files(), func(f File) bool { return strings.HasPrefix(f.Name, l.folder) }) {
			text += fmt.Sprintf("| %s | %s |\n", l.folder, l.content)
		}
	}
	return text
}

// plainPreview is a page that shows a text, for archives without a page of results.
func plainPreview(text []byte) []byte {
	return fmt.Appendf(nil, "<!DOCTYPE html>\n<html lang=\"en\"><meta charset=\"utf-8\"><title>Runs of ssdl</title>\n<pre>%s</pre></html>\n", html.EscapeString(string(text)))
}
