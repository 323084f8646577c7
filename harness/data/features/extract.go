package features

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"

	"golang.org/x/sync/errgroup"

	"ssdl/harness/data"
)

// ErrStopped says that Options.Stop ended an extraction early. The same call resumes it.
var ErrStopped = errors.New("stopped before all images were done")

// RefusedError says why an extraction is refused, and what the caller can do.
type RefusedError struct{ text string }

func (e *RefusedError) Error() string { return e.text }

func refuse(format string, args ...any) error {
	return &RefusedError{fmt.Sprintf(format, args...)}
}

// journalFile is the name of the journal in the output folder.
const journalFile = "extraction.partial"

// Options changes how features are extracted.
type Options struct {
	// Out is the output folder, created if necessary. It must not hold a feature set.
	Out string
	// DropDuplicates leaves out every file that equals an earlier one.
	DropDuplicates bool
	// Workers is the number of decoders; 0 means one per processor.
	Workers int
	// Stop, when closed, ends the extraction with ErrStopped. May be nil.
	Stop     <-chan struct{}
	Progress *Progress // nil is silent
}

// extraction is the state of one Extract.
type extraction struct {
	src     *Source
	net     *Net
	opt     Options
	recipe  Recipe
	decoder *decoder
	journal *journal
	records []record       // of the finished images, in order
	first   map[string]int // SHA-256 -> path of the first image with features
}

// Extract runs the images of src through net and writes the folder opt.Out: features.npy,
// labels.npy, official_split.npy if the images have an official split, and meta.json.
//
// It leaves out unusable images and classes without a usable image, and lists them in the summary
// and in meta.json. Fewer than two classes are an error. After a kill the same call resumes. It
// refuses the journal of another extraction, and images whose content has changed since.
func Extract(ctx context.Context, src *Source, net *Net, opt Options) (*Summary, error) {
	if n := len(src.Images); n > data.MaxValues/net.Model.Dim {
		return nil, refuse("%d images with %d features each have more than the %d values that a data set may have. Extract a part of the images.", n, net.Model.Dim, data.MaxValues)
	}
	if opt.Workers <= 0 {
		opt.Workers = runtime.GOMAXPROCS(0)
	}
	if err := os.MkdirAll(opt.Out, 0o755); err != nil {
		return nil, fmt.Errorf("output: %w", err)
	}
	if err := checkOutput(opt.Out); err != nil {
		return nil, err
	}
	prep := ImageNet()
	e := &extraction{
		src: src, net: net, opt: opt, recipe: newRecipe(net, prep),
		decoder: newDecoder(src.root, prep), first: map[string]int{},
	}
	path := filepath.Join(opt.Out, journalFile)
	var err error
	e.journal, e.records, err = openJournal(path, journalHeader{journalFormat, e.recipe, opt.DropDuplicates, src.hash()})
	if err != nil {
		return nil, err
	}
	defer e.journal.close()
	if err := e.verifyDone(ctx, path); err != nil {
		return nil, err
	}
	if err := e.extractRemaining(ctx); err != nil {
		return nil, err
	}
	sum, err := e.write()
	if err != nil {
		return sum, err
	}
	return sum, os.Remove(path)
}

// checkOutput refuses a folder that holds a feature set, unless a journal shows that an extraction
// was killed while it wrote that set.
func checkOutput(out string) error {
	if _, err := os.Lstat(filepath.Join(out, journalFile)); err == nil {
		return nil
	}
	for _, name := range []string{featuresFile, labelsFile, officialFile, metaFile} {
		switch _, err := os.Lstat(filepath.Join(out, name)); {
		case err == nil:
			return refuse("output: %s has a %s already. Give another folder, or delete that data set.", out, name)
		case !errors.Is(err, fs.ErrNotExist):
			return fmt.Errorf("output: %w", err)
		}
	}
	return nil
}

// hash is the SHA-256 of the list of images: paths, classes and parts.
func (s *Source) hash() string {
	h := sha256.New()
	for _, im := range s.Images {
		fmt.Fprintf(h, "%q %q %d\n", im.Path, s.Classes[im.Class], im.Part)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// verifyDone checks that the files of finished images have not changed.
func (e *extraction) verifyDone(ctx context.Context, path string) error {
	if len(e.records) > len(e.src.Images) {
		return refuse("%s: has %d records of %d images. Delete it to start again.", path, len(e.records), len(e.src.Images))
	}
	if len(e.records) > 0 {
		e.opt.Progress.note("%d of %d images are done; checking that they have not changed", len(e.records), len(e.src.Images))
	}
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(e.opt.Workers)
	for i, r := range e.records {
		if r.SHA256 != "" && r.Reason == "" && r.SameAs == "" {
			e.first[r.SHA256] = i
		}
		g.Go(func() error {
			if err := ctx.Err(); err != nil {
				return err
			}
			if name := e.src.Images[i].Path; e.decoder.hash(name) != r.SHA256 {
				return refuse("%s changed since the extraction began. Delete %s to start again.", name, path)
			}
			return nil
		})
	}
	return g.Wait()
}

// extractRemaining decodes the remaining images and runs them through the network in batches.
// Decoding runs ahead of the network.
func (e *extraction) extractRemaining(ctx context.Context) error {
	begin := len(e.records)
	e.opt.Progress.begin(len(e.src.Images) - begin)
	defer e.opt.Progress.end()
	g, ctx := errgroup.WithContext(ctx)
	// The queue keeps the order of the images. Its length bounds the images in memory.
	queue := make(chan chan loaded, 2*e.net.Model.Batch)
	g.Go(func() error {
		defer close(queue)
		var workers errgroup.Group
		defer workers.Wait()
		workers.SetLimit(e.opt.Workers)
		for _, im := range e.src.Images[begin:] {
			slot := make(chan loaded, 1)
			select {
			case queue <- slot:
			case <-ctx.Done():
				return ctx.Err()
			}
			workers.Go(func() error {
				slot <- e.decoder.load(ctx, im.Path)
				return nil
			})
		}
		return nil
	})
	g.Go(func() error {
		b := newBatch(e.net, e.recipe.Preprocessing)
		for slot := range queue {
			var l loaded
			select {
			case l = <-slot:
			case <-e.opt.Stop:
				return ErrStopped
			}
			if l.err != nil {
				return l.err
			}
			e.add(b, l)
			if b.full() {
				if err := e.flush(b); err != nil {
					return err
				}
			}
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		return e.flush(b)
	})
	return g.Wait()
}

// add adds the next image to the batch.
func (e *extraction) add(b *batch, l loaded) {
	i := len(e.records) + len(b.records)
	r := record{SHA256: l.sha256, Reason: l.reason}
	first, seen := e.first[l.sha256]
	switch {
	case l.reason != "":
		e.opt.Progress.note("%s: left out: %s", e.src.Images[i].Path, l.reason)
	case seen && e.opt.DropDuplicates:
		r.SameAs = e.src.Images[first].Path
	default:
		if !seen {
			e.first[l.sha256] = i
		}
		b.add(len(b.records), l.crop)
	}
	b.records = append(b.records, r)
	e.opt.Progress.step()
}

// flush runs the network on the batch and appends the result to the journal.
func (e *extraction) flush(b *batch) error {
	if len(b.records) == 0 {
		return nil
	}
	values, err := b.run()
	if err != nil {
		return fmt.Errorf("%s: the network cannot be run: %w", e.net.Model.File, err)
	}
	e.resolveCopies(b)
	if err := e.journal.append(b.records, values); err != nil {
		return fmt.Errorf("journal: %w", err)
	}
	e.records = append(e.records, b.records...)
	b.reset()
	return nil
}

// resolveCopies corrects the records of copies of an image whose features are unusable. Copies in
// the batch get its reason; the next later copy is treated as the first, as in a resumed
// extraction.
func (e *extraction) resolveCopies(b *batch) {
	useless := map[string]string{} // SHA-256 -> reason
	for i := range b.records {
		r := &b.records[i]
		first, kept := e.first[r.SHA256]
		why, copied := useless[r.SHA256]
		switch {
		case copied && r.SameAs != "":
			r.SameAs, r.Reason = "", why
		case kept && first == len(e.records)+i && r.Reason != "":
			delete(e.first, r.SHA256)
			useless[r.SHA256] = r.Reason
		}
	}
}

// Check decodes every image of src. It returns the files that src skipped, then the unusable images
// in order.
func Check(ctx context.Context, src *Source, workers int) ([]Skip, error) {
	if workers <= 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	d := newDecoder(src.root, ImageNet())
	bad := make([]*Skip, len(src.Images))
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(workers)
	for i, im := range src.Images {
		g.Go(func() error {
			l := d.load(ctx, im.Path)
			if l.reason != "" {
				bad[i] = &Skip{im.Path, l.reason, l.sha256}
			}
			return l.err
		})
	}
	if err := g.Wait(); err != nil {
		return nil, err
	}
	out := slices.Clone(src.Skipped)
	for _, s := range bad {
		if s != nil {
			out = append(out, *s)
		}
	}
	return out, nil
}
