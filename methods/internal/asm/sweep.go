package main

import (
	"fmt"

	"github.com/mmcloughlin/avo/ir"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
	"github.com/mmcloughlin/avo/x86"
)

// sweepRows is the number of rows that a sweep kernel works off at once, on every machine.
const sweepRows = 8

// sweep writes the micro-kernel of the coordinate sweep. Where the tile has fewer than
// sweepRows rows it goes over the codes once for each part of them; the order of the
// multiply-adds of a row is the same.
func sweep(s isa) (*ir.Function, error) {
	nr := s.vecs * s.width / 8
	w := newWriter(s, "sweep"+s.name, "func(lo, k int, gram, inv, s, r *float64, ldr int, alpha float64)",
		fmt.Sprintf("sweep%s makes the step of a coordinate sweep for the rows lo .. lo+7 of the packed k x %d", s.name, nr),
		"panel s of codes. gram is the packed panel of these rows of the Gram matrix, inv has the",
		"inverses of its diagonal, r is the first of the eight rows of R, ldr elements apart.")
	lo, k, g, codes := w.load("lo"), w.load("k"), w.load("gram"), w.load("s")
	r, ldr, inv := w.load("r"), w.load("ldr"), w.load("inv")
	w.do(x86.SHLQ(operand.U8(3), ldr))
	const gRow = sweepRows * 8
	sRow := nr * 8

	// Pointers to the part of g and of the panel that belongs to the eight rows themselves.
	gOwn, sOwn := w.regs.GP64(), w.regs.GP64()
	w.do(x86.MOVQ(lo, gOwn))
	w.do(x86.IMUL3Q(operand.U32(gRow), gOwn, gOwn))
	w.do(x86.ADDQ(g, gOwn))
	w.do(x86.MOVQ(lo, sOwn))
	w.do(x86.IMUL3Q(operand.U32(sRow), sOwn, sOwn))
	w.do(x86.ADDQ(codes, sOwn))
	w.do(x86.SUBQ(lo, k))
	w.do(x86.SUBQ(operand.U32(sweepRows), k)) // rows after the eight

	bv := w.vectors(s.vecs)
	av := w.vec(&w.regs)
	gp, sp, count := w.regs.GP64(), w.regs.GP64(), w.regs.GP64()
	for part := 0; part < sweepRows; part += s.mr {
		acc := make([][]reg.VecVirtual, s.mr)
		for i := range acc {
			acc[i] = w.vectors(s.vecs)
			for v := range acc[i] {
				w.do(x86.VMOVUPD(at(r, v*s.width), acc[i][v]))
			}
			w.do(x86.ADDQ(ldr, r))
		}
		if part+s.mr == sweepRows {
			w.comment("The rows of R for the next eight: they lie far apart, so no machine fetches them unasked.")
			for range sweepRows {
				for disp := 0; disp < s.vecs*s.width; disp += 64 {
					w.do(x86.PREFETCHT0(at(r, disp)))
				}
				w.do(x86.ADDQ(ldr, r))
			}
		}
		// subtract takes the row of the panel at sp+disp from the rows from .. to-1 of the tile.
		subtract := func(gBase, sBase reg.Register, l, from, to int) {
			for v := range bv {
				w.do(x86.VMOVUPD(at(sBase, l*sRow+v*s.width), bv[v]))
			}
			for i := from; i < to; i++ {
				w.do(x86.VBROADCASTSD(at(gBase, l*gRow+(part+i)*8), av))
				for v := range bv {
					w.do(x86.VFNMADD231PD(bv[v], av, acc[i][v]))
				}
			}
		}
		segment := func(name string) {
			name = fmt.Sprintf("%s%d", name, part)
			const unroll, ahead = 4, 2048
			w.do(x86.SUBQ(operand.U32(unroll), count))
			w.do(x86.JLT(operand.LabelRef(name + "rest")))
			w.label(name + "loop")
			for l := range unroll {
				w.do(x86.PREFETCHT0(at(gp, l*gRow+ahead)))
				subtract(gp, sp, l, 0, s.mr)
			}
			w.do(x86.ADDQ(operand.U32(unroll*gRow), gp))
			w.do(x86.ADDQ(operand.U32(unroll*sRow), sp))
			w.do(x86.SUBQ(operand.U32(unroll), count))
			w.do(x86.JGE(operand.LabelRef(name + "loop")))
			w.label(name + "rest")
			w.do(x86.ADDQ(operand.U32(unroll), count))
			w.do(x86.JEQ(operand.LabelRef(name + "done")))
			w.label(name + "single")
			subtract(gp, sp, 0, 0, s.mr)
			w.do(x86.ADDQ(operand.U32(gRow), gp))
			w.do(x86.ADDQ(operand.U32(sRow), sp))
			w.do(x86.DECQ(count))
			w.do(x86.JNE(operand.LabelRef(name + "single")))
			w.label(name + "done")
		}
		w.comment("The rows of the panel above the eight, then those below.")
		w.do(x86.MOVQ(g, gp))
		w.do(x86.MOVQ(codes, sp))
		w.do(x86.MOVQ(lo, count))
		segment("above")
		w.do(x86.ADDQ(operand.U32(sweepRows*gRow), gp))
		w.do(x86.ADDQ(operand.U32(sweepRows*sRow), sp))
		w.do(x86.MOVQ(k, count))
		segment("below")

		w.comment("Of the eight, those that come later, as they are.")
		for q := part + 1; q < sweepRows; q++ {
			subtract(gOwn, sOwn, q, 0, min(q-part, s.mr))
		}
		w.comment("Those that came before, as they have become.")
		for q := range part {
			subtract(gOwn, sOwn, q, 0, s.mr)
		}
		w.comment("One row after the other: soft threshold, store, subtract from the later ones.")
		high, low, clip := bv[0], bv[1], bv[2]
		w.do(x86.VBROADCASTSD(w.param("alpha"), high))
		w.do(s.zero(low, low, low))
		w.do(x86.VSUBPD(high, low, low))
		for i := range acc {
			row := part + i
			for v, t := range acc[i] {
				w.do(x86.VMAXPD(low, t, clip))
				w.do(x86.VMINPD(high, clip, clip))
				w.do(x86.VSUBPD(clip, t, t))
				w.do(x86.VBROADCASTSD(at(inv, row*8), av))
				w.do(x86.VMULPD(av, t, t))
				w.do(x86.VMOVUPD(t, at(sOwn, row*sRow+v*s.width)))
			}
			for j := i + 1; j < s.mr; j++ {
				w.do(x86.VBROADCASTSD(at(gOwn, row*gRow+(part+j)*8), av))
				for v := range bv {
					w.do(x86.VFNMADD231PD(acc[i][v], av, acc[j][v]))
				}
			}
		}
	}
	return w.finish()
}
