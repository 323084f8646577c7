package archive

import (
	"fmt"
	"html"
	"strings"
)

// readme is the page of an archive that a person reads first: what it holds, and how it is checked.
func readme(p Package, h *history) []byte {
	var b strings.Builder
	fmt.Fprintf(&b, `# Runs of ssdl

%d runs, %d of them failed, recorded from %s to %s. ssdl runs the paper "SSDL: Self-Supervised Dictionary Learning"
(ICME 2021) again. The data sets are no part of the archive; each is named by its hash.

| file | content |
|---|---|
| runs.db | all runs, in one SQLite file |
| specs/ | what was run, in YAML |
| splits/ | the samples of each split, by data set and seed |
| tables/, figures/ | what was made of the runs |
| ro-crate-preview.html | the results as a page; it opens in a browser and loads nothing |
| ro-crate-metadata.json | the description of all files: RO-Crate 1.1, Workflow Run Crate 0.5 |
| SHA256SUMS, SHA256SUMS.sig | the hashes of all files; the signature, if there is one |

## Check it

The files are those that were packed, where the archive is unpacked:

    sha256sum -c SHA256SUMS

If there is a SHA256SUMS.sig, it signs these hashes. allowed_signers is a file with the line "AUTHOR KEY", the key from a
source that you trust:

    ssh-keygen -Y verify -f allowed_signers -I AUTHOR -n ssdl -s SHA256SUMS.sig < SHA256SUMS

Import does both (leave out --require-signature if it is not signed), reads every hash of every run, and computes every metric again that predictions imply. It is
refused as a whole if anything is wrong:

    ssdl import ARCHIVE.zip --require-signature author.pub --results theirs

Then look at the tables, and compute some of the runs again, bit by bit (this needs the data):

    ssdl fsck --results theirs
    ssdl check --results theirs --sample 60
`, h.runs, h.failed, h.all.start.Format("2006-01-02"), h.all.end.Format("2006-01-02"))
	if len(p.Specs) > 0 {
		b.WriteString("\n## Make it again\n\nEach command makes the runs of a spec, where the archive is unpacked:\n\n")
	}
	for _, s := range p.Specs {
		fmt.Fprintf(&b, "    %s\n", s.Command)
	}
	return []byte(b.String())
}

// plainPreview shows a text where there is no page of results.
func plainPreview(text []byte) []byte {
	return fmt.Appendf(nil, "<!DOCTYPE html>\n<html lang=\"en\"><meta charset=\"utf-8\"><title>Runs of ssdl</title>\n<pre>%s</pre></html>\n", html.EscapeString(string(text)))
}
