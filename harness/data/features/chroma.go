package features

import (
	"image"
	"image/color"

	"golang.org/x/image/draw"
)

// fromYCbCr converts src into dst, of the same size. Colours stored at half the resolution are
// interpolated with the triangle filter of libjpeg, which computed nearly all published features;
// the standard library repeats them.
func fromYCbCr(dst *image.RGBA, src *image.YCbCr) {
	halfHeight := src.SubsampleRatio == image.YCbCrSubsampleRatio420
	if !halfHeight && src.SubsampleRatio != image.YCbCrSubsampleRatio422 || src.Rect.Min != (image.Point{}) {
		draw.Draw(dst, dst.Rect, src, src.Rect.Min, draw.Src)
		return
	}
	w, h := dst.Rect.Dx(), dst.Rect.Dy()
	cw, ch := (w+1)/2, h
	if halfHeight {
		ch = (h + 1) / 2
	}
	even, odd := 4, 8 // rounding offsets of libjpeg, for a division by 16
	if halfHeight {
		even, odd = 8, 7
	}
	cb, cr := make([]uint8, 2*cw), make([]uint8, 2*cw)
	sums := make([]int, cw)
	for y := range h {
		near, far := y, y
		if halfHeight {
			near = y / 2
			far = min(max(near-1+2*(y%2), 0), ch-1) // the row above for even y, below for odd
		}
		for _, plane := range []struct{ dst, src []uint8 }{{cb, src.Cb}, {cr, src.Cr}} {
			a, b := plane.src[near*src.CStride:][:cw], plane.src[far*src.CStride:][:cw]
			for i := range sums {
				sums[i] = 3*int(a[i]) + int(b[i])
			}
			double(plane.dst, sums, even, odd)
		}
		luma, out := src.Y[y*src.YStride:][:w], dst.Pix[y*dst.Stride:]
		for x, v := range luma {
			o := out[4*x : 4*x+4 : 4*x+4]
			o[0], o[1], o[2] = color.YCbCrToRGB(v, cb[x], cr[x])
			o[3] = 255
		}
	}
}

// double interpolates a line of samples, each scaled by 4, to twice its length. Each new sample is
// 3/4 of the nearest old one and 1/4 of the next nearest. even and odd are the rounding offsets of
// samples of even and odd index.
func double(dst []uint8, sums []int, even, odd int) {
	for i, v := range sums {
		before, after := sums[max(i-1, 0)], sums[min(i+1, len(sums)-1)]
		dst[2*i] = uint8((3*v + before + even) >> 4)
		dst[2*i+1] = uint8((3*v + after + odd) >> 4)
	}
}
