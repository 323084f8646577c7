package features

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"image"
	"image/gif"
	"image/jpeg"
	"image/png"
	"io"
	"io/fs"
	"net/http"
	"os"
	"strings"

	"golang.org/x/sync/semaphore"

	"ssdl/harness/data/untrusted"
)

// Bounds on one image. Concurrent decoders share maxPixels, so any number of workers needs the
// memory of one such image: about 1 GiB for a progressive JPEG, half of that for others.
const (
	maxFile   = 64 << 20   // bytes
	maxPixels = 50_000_000 // 7071 x 7071
)

// format is an image format. The content of a file decides it, not the name.
type format struct {
	magic  string
	config func(io.Reader) (image.Config, error)
	decode func(io.Reader) (image.Image, error)
}

var formats = []format{
	{"\xff\xd8", jpeg.DecodeConfig, jpeg.Decode},
	{"\x89PNG\r\n\x1a\n", png.DecodeConfig, png.Decode},
	{"GIF8", gif.DecodeConfig, gif.Decode}, // of an animation, the first image
}

// decoder makes network inputs from the files below root.
type decoder struct {
	root   *os.Root // confines paths and symbolic links to the folder
	prep   Preprocessing
	pixels *semaphore.Weighted
}

func newDecoder(root *os.Root, prep Preprocessing) *decoder {
	return &decoder{root, prep, semaphore.NewWeighted(maxPixels)}
}

// loaded is a decoded and cropped file, or the reason why it is unusable.
type loaded struct {
	sha256 string // empty if the file cannot be read
	crop   []uint8
	reason string
	err    error // the context's
}

// load reads, decodes and crops a file.
func (d *decoder) load(ctx context.Context, path string) loaded {
	if err := ctx.Err(); err != nil {
		return loaded{err: err}
	}
	b, err := d.read(path)
	if err != nil {
		return loaded{reason: err.Error()}
	}
	l := loaded{sha256: digest(b)}
	f, c, err := header(b)
	if err == nil {
		pixels := int64(c.Width) * int64(c.Height)
		if l.err = d.pixels.Acquire(ctx, pixels); l.err != nil {
			return l
		}
		defer d.pixels.Release(pixels)
		l.crop, err = d.decode(f, b)
	}
	if err != nil {
		l.reason = err.Error()
	}
	return l
}

// hash is the SHA-256 of a file; empty if the file cannot be read.
func (d *decoder) hash(path string) string {
	b, err := d.read(path)
	if err != nil {
		return ""
	}
	return digest(b)
}

func digest(b []byte) string {
	s := sha256.Sum256(b)
	return hex.EncodeToString(s[:])
}

// read reads a file of at most maxFile bytes. Its errors do not name the file: they become reasons.
func (d *decoder) read(path string) ([]byte, error) {
	info, err := d.root.Stat(path)
	if err != nil {
		return nil, withoutPath(err)
	}
	if reason := untrusted.Check(info, maxFile); reason != "" {
		return nil, errors.New("the file " + reason)
	}
	if info.Size() == 0 {
		return nil, errors.New("the file is empty")
	}
	f, err := d.root.Open(path)
	if err != nil {
		return nil, withoutPath(err)
	}
	defer f.Close()
	b := make([]byte, info.Size())
	if _, err := io.ReadFull(f, b); err != nil {
		return nil, fmt.Errorf("the file cannot be read: %w", withoutPath(err))
	}
	return b, nil
}

// withoutPath removes the path from an error of the file system.
func withoutPath(err error) error {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return errors.New("no such file")
	case errors.Is(err, fs.ErrPermission):
		return errors.New("no permission to read it")
	}
	var p *fs.PathError
	if !errors.As(err, &p) {
		return err
	}
	if strings.Contains(p.Err.Error(), "escapes") { // os.Root exports no error value for this
		return errors.New("a symbolic link that leads out of the folder of images")
	}
	return p.Err
}

// header reads format and size of an image without decoding it. It refuses images that are too
// large or too narrow.
func header(b []byte) (format, image.Config, error) {
	for _, f := range formats {
		if !bytes.HasPrefix(b, []byte(f.magic)) {
			continue
		}
		c, err := f.config(bytes.NewReader(b))
		if err != nil {
			return f, c, decodeError(err)
		}
		w, h := int64(c.Width), int64(c.Height)
		switch {
		case w <= 0 || h <= 0:
			return f, c, fmt.Errorf("the header says %d x %d pixels", w, h)
		case w > maxPixels || h > maxPixels || w*h > maxPixels:
			return f, c, fmt.Errorf("the header says %d x %d pixels, expected at most %d million; reduce the image", w, h, maxPixels/1_000_000)
		case max(w, h) > maxElongation*min(w, h):
			return f, c, fmt.Errorf("%d x %d pixels: one side is more than %d times the other; crop the image", w, h, maxElongation)
		}
		return f, c, nil
	}
	kind, _, _ := strings.Cut(http.DetectContentType(b), ";")
	return format{}, image.Config{}, fmt.Errorf("the content is %s, expected JPEG, PNG or GIF", kind)
}

// decode decodes and crops an image. A panic of the decoder is an error of the image.
func (d *decoder) decode(f format, b []byte) (crop []uint8, err error) {
	defer func() {
		if p := recover(); p != nil {
			crop, err = nil, fmt.Errorf("the decoder failed: %v", p)
		}
	}()
	img, err := f.decode(bytes.NewReader(b))
	if err != nil {
		return nil, decodeError(err)
	}
	return d.prep.crop(opaque(img, orientation(b))), nil
}

// decodeError words the error of a decoder.
func decodeError(err error) error {
	if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
		return errors.New("the image is truncated")
	}
	return err
}
