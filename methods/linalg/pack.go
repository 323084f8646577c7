package linalg

import "sync"

// operand is one factor of a product. Its element (i, l) is data[i*outer+l*inner], where i is the
// index in C and l the index of the sum. One of the strides is 1.
type operand struct {
	data         []float64
	outer, inner int
}

// rowsOf returns the rows of A, or its columns if trans, as a factor of a product.
func rowsOf(a []float64, lda int, trans bool) operand {
	if trans {
		return operand{data: a, outer: 1, inner: lda}
	}
	return operand{data: a, outer: lda, inner: 1}
}

// pack copies kc terms, from l on, of the indices from+lo .. from+hi-1 (lo and hi count
// from the start of dst and are cut at count) into panels of w indices: term after term,
// the w indices of a term side by side. It pads the last panel with zeros.
func (o operand) pack(dst []float64, w, from, count, lo, hi, l, kc int) {
	n := min(hi, count) - lo
	src := o.data[(from+lo)*o.outer+l*o.inner:]
	dst = dst[lo*kc:]
	if whole := n / w * w; whole < n {
		clear(dst[whole*kc : (whole+w)*kc])
	}
	if o.outer != 1 {
		for p := 0; p < n; p += w {
			transpose(dst[p*kc:], w, src[p*o.outer:], o.outer, min(w, n-p), kc)
		}
		return
	}
	// Several panels at once, to read more of a row before the next; not many, because the written
	// elements lie multiples of 4 KB apart, in the same lines of the L1 cache.
	few := 4 * w
	for p := 0; p < n; p += few {
		for q := range kc {
			row := src[p+q*o.inner:][:min(few, n-p)]
			for d := p*kc + q*w; len(row) > 0; d += w * kc {
				row = row[copyTerm(dst[d:d+w], row):]
			}
		}
	}
}

// copyTerm is copy, faster for the widths of panels.
func copyTerm(dst, src []float64) int {
	if len(src) >= len(dst) {
		switch len(dst) {
		case 24:
			*(*[24]float64)(dst) = *(*[24]float64)(src)
			return 24
		case 12:
			*(*[12]float64)(dst) = *(*[12]float64)(src)
			return 12
		case 8:
			*(*[8]float64)(dst) = *(*[8]float64)(src)
			return 8
		case 4:
			*(*[4]float64)(dst) = *(*[4]float64)(src)
			return 4
		}
	}
	return copy(dst, src)
}

// transpose copies the n rows of src, kc elements long and stride apart, side by side into the
// rows of dst, w apart.
func transpose(dst []float64, w int, src []float64, stride, n, kc int) {
	const block = 64 // the rows of dst written at once stay in the L1 cache
	for q0 := 0; q0 < kc; q0 += block {
		dst, src := dst[q0*w:], src[q0:]
		length := min(block, kc-q0)
		i := 0
		for ; i+4 <= n; i += 4 {
			r0 := src[i*stride:][:length]
			r1 := src[(i+1)*stride:][:length]
			r2 := src[(i+2)*stride:][:length]
			r3 := src[(i+3)*stride:][:length]
			to := dst[i:]
			for q, v := range r0 {
				d := (*[4]float64)(to[q*w:])
				d[0], d[1], d[2], d[3] = v, r1[q], r2[q], r3[q]
			}
		}
		for ; i < n; i++ {
			for q, v := range src[i*stride:][:length] {
				dst[q*w+i] = v
			}
		}
	}
}

// buffers keeps the memory of packed operands from one product to the next: allocating it costs as
// much as a third of the product.
var buffers = sync.Pool{New: func() any { return new([]float64) }}

// takeBuffer returns a buffer of at least n elements from the pool.
func takeBuffer(n int) *[]float64 {
	buf := buffers.Get().(*[]float64)
	if cap(*buf) < n {
		*buf = make([]float64, n)
	}
	*buf = (*buf)[:cap(*buf)]
	return buf
}
