package main

import (
	"fmt"

	"github.com/mmcloughlin/avo/ir"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
	"github.com/mmcloughlin/avo/x86"
)

// The places of the constants of flow, 8 bytes each, as package pretext lays them out.
const (
	binomial   = iota // five coefficients
	one        = iota + 4
	fraction   // the bits of the fraction
	signBit    // the bit of the sign
	expMask    // 2047
	leadMask   // 255
	constCount = iota + 4
)

// flow writes the inner loop of the p-Laplacian: the edges of one vertex, eight columns.
// Products and sums are rounded one by one, as in the Go code.
func flow(s isa) (*ir.Function, error) {
	w := newWriter(s, "flow"+s.name, "func(edges int, qi, fi *float64, to *int32, w *float64, q, flow *float64, exponent, mantissa, constants *float64)",
		fmt.Sprintf("flow%s adds w_e phi_p(qi - q_j), of eight columns, to fi and takes it from row j of flow, for", s.name),
		"the edges e to the vertices j = to[e]. edges is at least 1. The last three are the tables",
		"of a power.")
	n, qi, fi := w.load("edges"), w.load("qi"), w.load("fi")
	to, weight, q, back := w.load("to"), w.load("w"), w.load("q"), w.load("flow")
	exponent, mantissa, constants := w.load("exponent"), w.load("mantissa"), w.load("constants")

	// AVX-512 has the registers to keep the constants; AVX2 fetches each when it is needed.
	wide := s.width == 64
	scratch := w.vec(&w.regs)
	var kept [constCount]reg.VecVirtual
	if wide {
		for i := range kept {
			kept[i] = w.vec(&w.regs)
			w.do(x86.VBROADCASTSD(at(constants, 8*i), kept[i]))
		}
	}
	constant := func(i int) reg.VecVirtual {
		if wide {
			return kept[i]
		}
		w.do(x86.VBROADCASTSD(at(constants, 8*i), scratch))
		return scratch
	}
	and := func(a, b, dst reg.VecVirtual) {
		if wide {
			w.do(x86.VPANDQ(a, b, dst))
		} else {
			w.do(x86.VPAND(a, b, dst))
		}
	}
	or := func(a, b, dst reg.VecVirtual) {
		if wide {
			w.do(x86.VPORQ(a, b, dst))
		} else {
			w.do(x86.VPOR(a, b, dst))
		}
	}
	mask := w.vec(&w.regs)
	k := w.regs.K()
	lookUp := func(base reg.Register, disp int, index, dst reg.VecVirtual) {
		m := operand.Mem{Base: base, Disp: disp, Index: index, Scale: 8}
		if wide {
			w.do(x86.KXNORW(k, k, k))
			w.do(x86.VGATHERQPD(m, k, dst))
		} else {
			w.do(x86.VPCMPEQD(mask, mask, mask))
			w.do(x86.VGATHERQPD(mask, m, dst))
		}
	}

	vecs := s.perBlock()
	own := w.vectors(vecs)
	for i := range own {
		w.do(x86.VMOVUPD(at(fi, i*s.width), own[i]))
	}
	j, f := w.regs.GP64(), w.regs.GP64()
	d, r, size, v := w.vec(&w.regs), w.vec(&w.regs), w.vec(&w.regs), w.vec(&w.regs)
	index := w.vec(&w.regs)
	w.label("edge")
	w.do(x86.MOVLQSX(at(to, 0), j))
	w.do(x86.SHLQ(operand.U8(6), j))
	w.do(x86.MOVQ(back, f))
	w.do(x86.ADDQ(j, f))
	w.do(x86.ADDQ(q, j))
	for i := range own {
		w.do(x86.VMOVUPD(at(qi, i*s.width), d))
		w.do(x86.VSUBPD(at(j, i*s.width), d, d))
		w.comment("Look-ups: the power of the exponent, then c, 1/c and c^q.")
		w.do(x86.VPSRLQ(operand.U8(52), d, index))
		and(constant(expMask), index, index)
		lookUp(exponent, 0, index, size)
		w.do(x86.VPSRLQ(operand.U8(44), d, index))
		and(constant(leadMask), index, index)
		w.do(x86.VPADDQ(index, index, v))
		w.do(x86.VPADDQ(v, index, index))
		and(constant(fraction), d, r)
		or(constant(one), r, r)
		lookUp(mantissa, 0, index, v)
		w.do(x86.VSUBPD(v, r, r))
		lookUp(mantissa, 8, index, v)
		w.do(x86.VMULPD(v, r, r))
		lookUp(mantissa, 16, index, v)
		w.do(x86.VMULPD(v, size, size))
		w.comment("The series.")
		w.do(x86.VMULPD(constant(binomial+4), r, v))
		for c := binomial + 3; c >= binomial; c-- {
			w.do(x86.VADDPD(constant(c), v, v))
			w.do(x86.VMULPD(r, v, v))
		}
		w.do(x86.VADDPD(constant(one), v, v))
		w.do(x86.VMULPD(size, v, v))
		and(constant(signBit), d, d)
		or(d, v, v)
		w.do(x86.VBROADCASTSD(at(weight, 0), d))
		w.do(x86.VMULPD(d, v, v))
		w.do(x86.VADDPD(v, own[i], own[i]))
		w.do(x86.VMOVUPD(at(f, i*s.width), d))
		w.do(x86.VSUBPD(v, d, d))
		w.do(x86.VMOVUPD(d, at(f, i*s.width)))
	}
	w.do(x86.ADDQ(operand.U32(4), to))
	w.do(x86.ADDQ(operand.U32(8), weight))
	w.do(x86.DECQ(n))
	w.do(x86.JNE(operand.LabelRef("edge")))
	for i := range own {
		w.do(x86.VMOVUPD(own[i], at(fi, i*s.width)))
	}
	return w.finish()
}
