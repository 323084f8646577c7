package features

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// largestDifference is the largest difference of two images of equal size, in grey levels.
func largestDifference(t *testing.T, got, want image.Image) int {
	t.Helper()
	if got.Bounds().Size() != want.Bounds().Size() {
		t.Fatalf("size %v, expected %v", got.Bounds().Size(), want.Bounds().Size())
	}
	most := 0
	for y := range got.Bounds().Dy() {
		for x := range got.Bounds().Dx() {
			a := color.NRGBAModel.Convert(got.At(x, y)).(color.NRGBA)
			b := color.NRGBAModel.Convert(want.At(x, y)).(color.NRGBA)
			for _, d := range []int{int(a.R) - int(b.R), int(a.G) - int(b.G), int(a.B) - int(b.B)} {
				most = max(most, d, -d)
			}
		}
	}
	return most
}

func decodeFile(t *testing.T, path string) image.Image {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	img, _, err := image.Decode(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	return opaque(img, orientation(b))
}

// TestDecodingEqualsPillow: JPEGs of all kinds give Pillow's pixels, up to the rounding of the
// inverse cosine transform and of the colours.
func TestDecodingEqualsPillow(t *testing.T) {
	files, err := filepath.Glob("testdata/*.jpg")
	if err != nil || len(files) < 8 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	for _, f := range files {
		got, want := decodeFile(t, f), decodeFile(t, strings.TrimSuffix(f, ".jpg")+".png")
		if d := largestDifference(t, got, want); d > 3 {
			t.Errorf("%s: %d grey levels from Pillow, expected at most 3", f, d)
		}
	}
}

// TestRepeatedChromaIsFarFromPillow: without interpolated colours the pixels differ from Pillow's.
func TestRepeatedChromaIsFarFromPillow(t *testing.T) {
	b, err := os.ReadFile("testdata/chroma420.jpg")
	if err != nil {
		t.Fatal(err)
	}
	img, err := jpeg.Decode(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	if d := largestDifference(t, img, decodeFile(t, "testdata/chroma420.png")); d < 20 {
		t.Errorf("the standard library is %d grey levels from Pillow, expected at least 20", d)
	}
}

func TestCropEqualsPillow(t *testing.T) {
	p := Preprocessing{Shorter: 40, Crop: 32}
	for _, size := range []string{"150x101", "23x31", "97x40"} {
		img := decodeFile(t, "testdata/size"+size+".png").(*image.RGBA)
		want := decodeFile(t, "testdata/size"+size+".crop.png").(*image.RGBA)
		most := 0
		for i, v := range p.crop(img) {
			d := int(v) - int(want.Pix[4*(i%1024)+i/1024])
			most = max(most, d, -d)
		}
		if most > 1 {
			t.Errorf("%s: %d grey levels from Pillow, expected at most 1", size, most)
		}
	}
}

func TestImageOfTheCropSizeIsNotResized(t *testing.T) {
	p := Preprocessing{Shorter: 40, Crop: 32}
	img := image.NewRGBA(image.Rect(0, 0, 32, 32))
	for i := range img.Pix {
		img.Pix[i] = uint8(i * 7)
	}
	for i, v := range p.crop(img) {
		if want := img.Pix[4*(i%1024)+i/1024]; v != want {
			t.Fatalf("value %d is %d, expected %d", i, v, want)
		}
	}
}

func TestResizedSizes(t *testing.T) {
	p := ImageNet()
	for _, c := range []struct{ w, h, rw, rh int }{
		{400, 300, 341, 256},
		{300, 400, 256, 341},
		{451, 300, 385, 256}, // 384.85: rounded, not cut
		{1, 1, 256, 256},
		{256, 256, 256, 256},
		{512, 513, 256, 257}, // half a pixel: up
		{1, 16, 256, 4096},
	} {
		if rw, rh := p.resized(c.w, c.h); rw != c.rw || rh != c.rh {
			t.Errorf("%d x %d becomes %d x %d, expected %d x %d", c.w, c.h, rw, rh, c.rw, c.rh)
		}
	}
}

func TestNormalised(t *testing.T) {
	table := ImageNet().normalised()
	for c, want := range [][2]float32{{-2.117904, 2.2489083}, {-2.0357144, 2.4285715}, {-1.8044444, 2.64}} {
		if got := [2]float32{table[c][0], table[c][255]}; got != want {
			t.Errorf("channel %d runs from %v to %v, expected %v", c, got[0], got[1], want)
		}
	}
}

// corners is an image with a different colour in each corner.
func corners(w, h int) *image.RGBA {
	img := image.NewRGBA(image.Rect(0, 0, w, h))
	for y := range h {
		for x := range w {
			img.SetRGBA(x, y, color.RGBA{uint8(255 * x / (w - 1)), uint8(255 * y / (h - 1)), 128, 255})
		}
	}
	return img
}

// withOrientation puts an EXIF segment into a JPEG.
func withOrientation(jpg []byte, order binary.AppendByteOrder, mark string, value uint16) []byte {
	exif := append([]byte("Exif\x00\x00"), mark...)
	exif = order.AppendUint16(exif, 42)
	exif = order.AppendUint32(exif, 8)
	exif = order.AppendUint16(exif, 2)                             // entries
	exif = append(exif, make([]byte, 12)...)                       // another tag
	exif = order.AppendUint16(order.AppendUint16(exif, 0x0112), 3) // orientation, short
	exif = append(order.AppendUint16(order.AppendUint32(exif, 1), value), 0, 0)
	segment := binary.BigEndian.AppendUint16([]byte{0xff, 0xe1}, uint16(2+len(exif)))
	return bytes.Join([][]byte{jpg[:2], segment, exif, jpg[2:]}, nil)
}

func encodeJPEG(t testing.TB, img image.Image) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := jpeg.Encode(&b, img, &jpeg.Options{Quality: 95}); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func encodePNG(t testing.TB, img image.Image) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := png.Encode(&b, img); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// TestOrientation: red grows to the right and green downwards in the upright picture. The
// stored picture is turned by the inverse of its tag.
func TestOrientation(t *testing.T) {
	const w, h = 24, 16
	upright := corners(w, h)
	stored := map[int]func(x, y int) (int, int){ // stored position of (x,y) of the upright image
		1: func(x, y int) (int, int) { return x, y },
		2: func(x, y int) (int, int) { return w - 1 - x, y },
		3: func(x, y int) (int, int) { return w - 1 - x, h - 1 - y },
		4: func(x, y int) (int, int) { return x, h - 1 - y },
		5: func(x, y int) (int, int) { return y, x },
		6: func(x, y int) (int, int) { return y, w - 1 - x },
		7: func(x, y int) (int, int) { return h - 1 - y, w - 1 - x },
		8: func(x, y int) (int, int) { return h - 1 - y, x },
	}
	for tag := 1; tag <= 8; tag++ {
		img := image.NewRGBA(image.Rect(0, 0, w, h))
		if tag >= 5 {
			img = image.NewRGBA(image.Rect(0, 0, h, w))
		}
		for y := range h {
			for x := range w {
				sx, sy := stored[tag](x, y)
				img.SetRGBA(sx, sy, upright.RGBAAt(x, y))
			}
		}
		jpg := encodeJPEG(t, img)
		for _, b := range [][]byte{
			withOrientation(jpg, binary.LittleEndian, "II", uint16(tag)),
			withOrientation(jpg, binary.BigEndian, "MM", uint16(tag)),
		} {
			o := orientation(b)
			if o != tag {
				t.Errorf("orientation %d is read as %d", tag, o)
			}
			img, err := jpeg.Decode(bytes.NewReader(b))
			if err != nil {
				t.Fatal(err)
			}
			if d := largestDifference(t, opaque(img, o), upright); d > 40 {
				t.Errorf("orientation %d: %d grey levels from the upright picture", tag, d)
			}
		}
	}
}

func TestInvalidOrientationIsUpright(t *testing.T) {
	jpg := encodeJPEG(t, corners(8, 8))
	good := withOrientation(jpg, binary.LittleEndian, "II", 6)
	far := bytes.Clone(good)
	binary.LittleEndian.PutUint32(far[16:], 0xffffffff) // offset of the directory
	many := bytes.Clone(good)
	binary.LittleEndian.PutUint16(many[20:], 0xffff) // its number of entries
	binary.LittleEndian.PutUint16(many[34:], 0)      // without the tag
	for name, b := range map[string][]byte{
		"no EXIF": jpg, "no JPEG": []byte("GIF89a"), "nothing": nil,
		"value 0": withOrientation(jpg, binary.LittleEndian, "II", 0),
		"value 9": withOrientation(jpg, binary.LittleEndian, "II", 9),
		"order":   withOrientation(jpg, binary.LittleEndian, "XX", 6),
		"place":   far, "entries": many,
	} {
		if o := orientation(b); o != 1 {
			t.Errorf("%s: orientation %d, expected 1", name, o)
		}
	}
	for n := range good { // truncated anywhere: never a panic
		if o := orientation(good[:n]); o != 1 && o != 6 {
			t.Errorf("cut at %d: orientation %d", n, o)
		}
	}
}

func FuzzOrientation(f *testing.F) {
	f.Add(withOrientation(encodeJPEG(f, corners(8, 8)), binary.BigEndian, "MM", 8))
	f.Fuzz(func(t *testing.T, b []byte) {
		if o := orientation(b); o < 1 || o > 8 {
			t.Errorf("orientation %d", o)
		}
	})
}

func FuzzLoad(f *testing.F) {
	for _, name := range []string{"chroma420.jpg", "cmyk.jpg", "grey.png"} {
		b, err := os.ReadFile("testdata/" + name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	d := newDecoder(nil, Preprocessing{Shorter: 8, Crop: 6})
	f.Fuzz(func(t *testing.T, b []byte) {
		kind, c, err := header(b)
		if err != nil || c.Width*c.Height > 1<<16 {
			return
		}
		if crop, err := d.decode(kind, b); err == nil && len(crop) != 3*6*6 {
			t.Errorf("%d values", len(crop))
		}
	})
}

// hugePNG has a header that claims w x h pixels, and nothing after it.
func hugePNG(w, h uint32) []byte {
	chunk := append([]byte("IHDR"), make([]byte, 13)...)
	binary.BigEndian.PutUint32(chunk[4:], w)
	binary.BigEndian.PutUint32(chunk[8:], h)
	chunk[12], chunk[13] = 8, 2
	b := append([]byte("\x89PNG\r\n\x1a\n\x00\x00\x00\x0d"), chunk...)
	return binary.BigEndian.AppendUint32(b, crc32.ChecksumIEEE(chunk))
}

// variedImages writes usable and unusable images into dir/a. It returns why each is unusable; "" if
// it is usable.
func variedImages(t testing.TB, dir string) map[string]string {
	t.Helper()
	picture := corners(30, 20)
	grey16 := image.NewGray16(image.Rect(0, 0, 30, 20))
	deep := image.NewNRGBA64(image.Rect(0, 0, 30, 20))
	for y := range 20 {
		for x := range 30 {
			grey16.SetGray16(x, y, color.Gray16{uint16(2000 * x)})
			deep.SetNRGBA64(x, y, color.NRGBA64{uint16(2000 * x), uint16(3000 * y), 9999, 30000})
		}
	}
	palette := image.NewPaletted(image.Rect(0, 0, 30, 20), color.Palette{color.Black, color.White, color.Transparent})
	for i := range palette.Pix {
		palette.Pix[i] = uint8(i % 3)
	}
	var g bytes.Buffer
	if err := gif.Encode(&g, palette, nil); err != nil {
		t.Fatal(err)
	}
	cmyk, err := os.ReadFile("testdata/cmyk.jpg")
	if err != nil {
		t.Fatal(err)
	}
	jpg, pic := encodeJPEG(t, picture), encodePNG(t, picture)
	files := []struct {
		name    string
		content []byte
		reason  string
	}{
		{"plain.jpg", jpg, ""},
		{"cmyk.jpg", cmyk, ""},
		{"grey.jpg", encodeJPEG(t, grey16), ""},
		{"grey16.png", encodePNG(t, grey16), ""},
		{"deep-alpha.png", encodePNG(t, deep), ""},
		{"one-pixel.png", encodePNG(t, image.NewRGBA(image.Rect(0, 0, 1, 1))), ""},
		{"renamed-png.jpg", pic, ""},
		{"animation.gif", g.Bytes(), ""},
		{"no-ending", jpg[:len(jpg):len(jpg)], ""},
		{"rotated.jpg", withOrientation(jpg, binary.BigEndian, "MM", 6), ""},
		{"empty.jpg", nil, "the file is empty"},
		{"truncated.jpg", jpg[:len(jpg)/2], "the image is truncated"},
		{"truncated.png", pic[:len(pic)/2], "png: invalid format: not enough pixel data"},
		{"only-magic.jpg", jpg[:2], "the image is truncated"},
		{"text.jpg", []byte("this is no image"), "the content is text/plain, expected JPEG, PNG or GIF"},
		{"page.png", []byte("<html><body>404</body></html>"), "the content is text/html, expected JPEG, PNG or GIF"},
		{"bomb.png", hugePNG(60000, 60000), "the header says 60000 x 60000 pixels, expected at most 50 million; reduce the image"},
		{"line.png", encodePNG(t, image.NewRGBA(image.Rect(0, 0, 34, 2))), "34 x 2 pixels: one side is more than 16 times the other; crop the image"},
	}
	if err := os.MkdirAll(filepath.Join(dir, "a"), 0o755); err != nil {
		t.Fatal(err)
	}
	want := map[string]string{}
	for _, f := range files {
		if err := os.WriteFile(filepath.Join(dir, "a", f.name), f.content, 0o644); err != nil {
			t.Fatal(err)
		}
		want["a/"+f.name] = f.reason
	}
	return want
}

func TestLoadVariedImages(t *testing.T) {
	dir := t.TempDir()
	want := variedImages(t, dir)
	if err := os.Mkdir(filepath.Join(dir, "a", "folder.jpg"), 0o755); err != nil {
		t.Fatal(err)
	}
	want["a/folder.jpg"] = "the file is a folder, expected a regular file"
	want["a/absent.jpg"] = "no such file"
	if err := os.WriteFile(filepath.Join(dir, "a", "vast.jpg"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(filepath.Join(dir, "a", "vast.jpg"), maxFile+1); err != nil {
		t.Fatal(err)
	}
	want["a/vast.jpg"] = "the file has 67108865 bytes, expected at most 67108864"
	for link, target := range map[string]string{"inside.jpg": "plain.jpg", "outside.jpg": "/etc/hostname", "dangling.jpg": "nowhere"} {
		if err := os.Symlink(target, filepath.Join(dir, "a", link)); err != nil {
			t.Skip("no symbolic links here:", err)
		}
	}
	want["a/inside.jpg"] = ""
	want["a/outside.jpg"] = "a symbolic link that leads out of the folder of images"
	want["a/dangling.jpg"] = "no such file"

	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	d := newDecoder(root, ImageNet())
	for name, reason := range want {
		l := d.load(t.Context(), name)
		if l.err != nil || l.reason != reason {
			t.Errorf("%s: %q (%v), expected %q", name, l.reason, l.err, reason)
		}
		if reason == "" && len(l.crop) != 3*224*224 {
			t.Errorf("%s: %d values", name, len(l.crop))
		}
		if reason == "" && l.sha256 == "" {
			t.Errorf("%s: no hash", name)
		}
	}
}

// TestRenamedImageIsTheSame: the content decides the format, not the name.
func TestRenamedImageIsTheSame(t *testing.T) {
	dir := t.TempDir()
	pic := encodePNG(t, corners(40, 30))
	for _, name := range []string{"a.png", "a.jpg", "a"} {
		if err := os.WriteFile(filepath.Join(dir, name), pic, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want := crops(t, dir, []string{"a.png"})[0]
	for _, got := range crops(t, dir, []string{"a.jpg", "a"}) {
		if !bytes.Equal(got, want) {
			t.Error("the name of a file changes its pixels")
		}
	}
}

// TestAlphaIsDropped: a transparent pixel keeps its colour.
func TestAlphaIsDropped(t *testing.T) {
	img := image.NewNRGBA(image.Rect(0, 0, 2, 1))
	img.SetNRGBA(0, 0, color.NRGBA{200, 100, 50, 0})
	img.SetNRGBA(1, 0, color.NRGBA{10, 20, 30, 128})
	got := opaque(img, 1)
	if a, b := got.RGBAAt(0, 0), got.RGBAAt(1, 0); a != (color.RGBA{200, 100, 50, 255}) || b != (color.RGBA{10, 20, 30, 255}) {
		t.Errorf("%v and %v", a, b)
	}
}

// TestManyLargeImagesShareMemory: images that together need too much memory are decoded in turn.
func TestManyLargeImagesShareMemory(t *testing.T) {
	dir := t.TempDir()
	large := encodePNG(t, image.NewGray(image.Rect(0, 0, 1200, 1000)))
	for i := range 6 {
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprint(i)), large, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	d := newDecoder(root, ImageNet())
	if !d.pixels.TryAcquire(maxPixels - 1_500_000) { // leaves room for one image
		t.Fatal("the pixels are in use")
	}
	var wg sync.WaitGroup
	for i := range 6 {
		wg.Go(func() {
			if l := d.load(t.Context(), fmt.Sprint(i)); l.crop == nil {
				t.Errorf("%d: %s %v", i, l.reason, l.err)
			}
		})
	}
	wg.Wait()
	if d.pixels.TryAcquire(1_500_001) || !d.pixels.TryAcquire(1_500_000) {
		t.Error("pixels were not released")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if l := d.load(ctx, "0"); l.err == nil {
		t.Error("a cancelled load continues")
	}
}
