package features

import (
	"image"
	"image/color"

	"golang.org/x/image/draw"
)

// Preprocessing says how an image becomes the input of a network. meta.json records it.
type Preprocessing struct {
	// Shorter is the length of the shorter side after resizing, in pixels. The longer side keeps
	// the ratio, rounded to nearest. Interpolation is bilinear, with a support that grows with the
	// reduction (no aliasing), as in Pillow.
	Shorter int    `json:"shorter_side"`
	Filter  string `json:"filter"`
	// Crop is the side of the square cut from the centre, in pixels; half a pixel up or left if the
	// margins are odd. An image of exactly this size is not resized.
	Crop  int    `json:"centre_crop"`
	AsIs  string `json:"used_as_it_is"`
	Order string `json:"channels"`
	// Mean and Std of each channel, for values in [0,1].
	Mean [3]float64 `json:"mean"`
	Std  [3]float64 `json:"std"`
	// Orientation, Alpha and Chroma describe the treatment of properties that only some images
	// have.
	Orientation string `json:"orientation"`
	Alpha       string `json:"alpha"`
	Chroma      string `json:"chroma"`
}

// ImageNet is the preprocessing of networks trained on ImageNet.
func ImageNet() Preprocessing {
	return Preprocessing{
		Shorter: 256, Filter: "bilinear, antialiased", Crop: 224, AsIs: "224x224", Order: "RGB",
		Mean: [3]float64{0.485, 0.456, 0.406}, Std: [3]float64{0.229, 0.224, 0.225},
		Orientation: "EXIF of JPEG honoured", Alpha: "dropped",
		Chroma: "4:2:0 and 4:2:2 interpolated, others repeated",
	}
}

// maxElongation bounds the ratio of the sides. The longer side becomes up to that many times 256
// pixels, and the crop uses 224 of them.
const maxElongation = 16

// values returns the number of values of a cropped image.
func (p Preprocessing) values() int { return 3 * p.Crop * p.Crop }

// crop resizes img, an opaque image, and cuts out its centre: Crop x Crop values of red, then of
// green, then of blue.
func (p Preprocessing) crop(img *image.RGBA) []uint8 {
	w, h := img.Rect.Dx(), img.Rect.Dy()
	if w != p.Crop || h != p.Crop {
		rw, rh := p.resized(w, h)
		// Compute only the cropped part of the resized image, at the origin of dst.
		x, y := (rw-p.Crop)/2, (rh-p.Crop)/2
		dst := image.NewRGBA(image.Rect(0, 0, p.Crop, p.Crop))
		draw.BiLinear.Scale(dst, image.Rect(-x, -y, rw-x, rh-y), img, img.Rect, draw.Src, nil)
		img = dst
	}
	out := make([]uint8, p.values())
	n := p.Crop * p.Crop
	for y := range p.Crop {
		row := img.Pix[y*img.Stride:]
		for x := range p.Crop {
			i := y*p.Crop + x
			out[i], out[n+i], out[2*n+i] = row[4*x], row[4*x+1], row[4*x+2]
		}
	}
	return out
}

// resized returns the size of a w x h image after resizing.
func (p Preprocessing) resized(w, h int) (int, int) {
	if w <= h {
		return p.Shorter, (2*p.Shorter*h + w) / (2 * w)
	}
	return (2*p.Shorter*w + h) / (2 * h), p.Shorter
}

// normalised returns the network's input for each channel and value 0..255.
func (p Preprocessing) normalised() (table [3][256]float32) {
	for c := range 3 {
		for v := range 256 {
			table[c][v] = float32((float64(v)/255 - p.Mean[c]) / p.Std[c])
		}
	}
	return table
}

// opaque converts img to RGB, upright (see orientation), with its corner at the origin. It drops
// alpha as Pillow's convert("RGB") does: the network sees the colour of a transparent pixel.
func opaque(img image.Image, orientation int) *image.RGBA {
	b := img.Bounds()
	dst := image.NewRGBA(image.Rect(0, 0, b.Dx(), b.Dy()))
	switch src := img.(type) {
	case *image.YCbCr:
		fromYCbCr(dst, src)
	case interface{ Opaque() bool }:
		if src.Opaque() {
			draw.Draw(dst, dst.Rect, img, b.Min, draw.Src)
			break
		}
		for y := range b.Dy() {
			for x := range b.Dx() {
				c := color.NRGBAModel.Convert(img.At(b.Min.X+x, b.Min.Y+y)).(color.NRGBA)
				dst.SetRGBA(x, y, color.RGBA{c.R, c.G, c.B, 255})
			}
		}
	}
	return upright(dst, orientation)
}

// upright undoes an EXIF orientation.
func upright(src *image.RGBA, orientation int) *image.RGBA {
	if orientation <= 1 {
		return src
	}
	w, h := src.Rect.Dx(), src.Rect.Dy()
	dst := image.NewRGBA(image.Rect(0, 0, w, h))
	if orientation >= 5 { // the sides change places
		dst = image.NewRGBA(image.Rect(0, 0, h, w))
	}
	for y := range h {
		for x := range w {
			var dx, dy int
			switch orientation {
			case 2:
				dx, dy = w-1-x, y
			case 3:
				dx, dy = w-1-x, h-1-y
			case 4:
				dx, dy = x, h-1-y
			case 5:
				dx, dy = y, x
			case 6:
				dx, dy = h-1-y, x
			case 7:
				dx, dy = h-1-y, w-1-x
			case 8:
				dx, dy = y, w-1-x
			}
			copy(dst.Pix[dst.PixOffset(dx, dy):][:4], src.Pix[src.PixOffset(x, y):][:4])
		}
	}
	return dst
}
