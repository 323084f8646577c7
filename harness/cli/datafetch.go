package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"ssdl/experiments"
	"ssdl/harness/data/fetch"
	"ssdl/harness/report"
)

type dataFetchCmd struct {
	Name string `arg:"" help:"stanford40 or uiuc-se."`
	To   string `placeholder:"DIR" default:"images" type:"path" help:"Folder for the photographs (DIR/NAME) and the archives (DIR/downloads) (default: images)."`
	From string `placeholder:"URL" help:"Take the archives from this folder of a web server instead of the authors'."`
}

func (c *dataFetchCmd) Run(e *env) error {
	set, err := fetchable(c.Name)
	if err != nil {
		return err
	}
	archives := make([]fetch.Archive, len(set.Files))
	for i, f := range set.Files {
		archives[i] = fetch.Archive{URL: f.URL, Size: f.Size, SHA256: f.SHA256}
		if c.From != "" {
			archives[i].URL = strings.TrimSuffix(c.From, "/") + "/" + path.Base(f.URL)
		}
	}
	downloads, dir := filepath.Join(c.To, "downloads"), filepath.Join(c.To, set.Name)

	f := fetch.Fetcher{Progress: downloadProgress(e)}
	got, err := f.Fetch(e.ctx, archives, downloads, dir)
	switch {
	case err == nil:
	case e.ctx.Err() != nil:
		return fail(exitInterrupted, "interrupted: the download so far is kept in %s; the same command continues", downloads)
	case errors.Is(err, fetch.ErrOffline), errors.Is(err, fetch.ErrSource):
		return fail(exitNoData, "%w\n%s", err, byHand(set, archives, downloads))
	default:
		return err
	}
	return c.tell(e, set, got, dir)
}

// fetchable finds a data set by name among those that have files to fetch.
func fetchable(name string) (experiments.Dataset, error) {
	var names []string
	for _, d := range experiments.Datasets() {
		if len(d.Files) == 0 {
			continue
		}
		if d.Name == name {
			return d, nil
		}
		names = append(names, d.Name)
	}
	return experiments.Dataset{}, fail(exitUsage, "%q cannot be fetched; choose %s", name, report.Listed(names, "or"))
}

// byHand says how to get the files without ssdl.
func byHand(set experiments.Dataset, archives []fetch.Archive, downloads string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "By hand: put these files into %s and run the same command again; it verifies and unpacks them without a network:\n", downloads)
	for _, a := range archives {
		fmt.Fprintf(&b, "  %s\n", a.URL)
	}
	fmt.Fprintf(&b, "If the server no longer has them, see %s", set.Source)
	return b.String()
}

// tell says what was fetched, under which terms, and what comes next.
func (c *dataFetchCmd) tell(e *env, set experiments.Dataset, got fetch.Fetched, dir string) error {
	photographs, root, err := findPhotographs(dir)
	if err != nil {
		return err
	}
	if photographs == 0 {
		return fail(exitNoData, "%s holds no photographs. Delete it, and see %s for where they are now", dir, set.Source)
	}
	if got.Unpacked {
		fmt.Fprintf(e.stdout, "%s: %s in %s (%s, %.1f MB)\n", set.Name, report.Count(photographs, "photograph", "photographs"), root, report.Count(got.Files, "file", "files"), float64(got.Bytes)/1e6)
	} else {
		fmt.Fprintf(e.stdout, "%s: %s in %s, unpacked earlier; delete %s to unpack again\n", set.Name, report.Count(photographs, "photograph", "photographs"), root, dir)
	}
	for _, a := range got.Archives {
		how := "as published"
		if !a.Verified {
			how = "recorded now: its authors publish no hash"
		}
		fmt.Fprintf(e.stdout, "  %s: %d bytes, SHA-256 %s (%s)\n", path.Base(a.URL), a.Size, a.SHA256, how)
	}
	for _, d := range got.Damaged {
		fmt.Fprintf(e.stderr, "ssdl: %s is kept beside the new file: it %s. Delete it if you have no use for it\n", d.Path, d.Reason)
	}
	if photographs != set.Samples {
		fmt.Fprintf(e.stderr, "ssdl: %s has %d photographs according to its authors, not %d: results may not be comparable\n", set.Title, set.Samples, photographs)
	}
	fmt.Fprintf(e.stdout, "  licence: %s\n  cite: %s\nnext: ssdl features --images %s --model resnet50.onnx --out data/%s\n", set.Licence, set.Citation, root, set.Name)
	return nil
}

// findPhotographs counts the photographs below dir and returns the folder to pass to `ssdl features`:
// the parent of the folders that hold them, one per class or one for all.
func findPhotographs(dir string) (n int, root string, err error) {
	var above []string // elements of the path that all have in common
	first, several := "", false
	err = filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		ext := strings.ToLower(filepath.Ext(p))
		if !d.Type().IsRegular() || !slices.Contains([]string{".jpg", ".jpeg", ".png"}, ext) {
			return nil
		}
		n++
		folder := filepath.Dir(p)
		if first == "" {
			first = folder
			above = strings.Split(folder, string(filepath.Separator))
		}
		if folder != first {
			several = true
			parts := strings.Split(folder, string(filepath.Separator))
			same := 0
			for same < min(len(parts), len(above)) && parts[same] == above[same] {
				same++
			}
			above = above[:same]
		}
		return nil
	})
	if err != nil || n == 0 {
		return 0, dir, err
	}
	if !several && first != dir {
		return n, filepath.Dir(first), nil
	}
	return n, strings.Join(above, string(filepath.Separator)), nil
}

// downloadProgress prints the progress of a download: on one line of a terminal, else as a line every
// ten seconds.
func downloadProgress(e *env) func(name string, done, total int64) {
	var said time.Time
	begin, end, often := "", "\n", 10*time.Second
	if isTerminal(e.stderr) {
		begin, end, often = "\r\x1b[K", "", 200*time.Millisecond
	}
	return func(name string, done, total int64) {
		if done != total && time.Since(said) < often {
			return
		}
		said = time.Now()
		size := "?"
		if total >= 0 {
			size = fmt.Sprintf("%.1f", float64(total)/1e6)
		}
		fmt.Fprintf(e.stderr, "%s%s: %.1f of %s MB%s", begin, name, float64(done)/1e6, size, end)
		if done == total && begin != "" {
			fmt.Fprintln(e.stderr)
		}
	}
}
