package main

import (
	"fmt"

	"github.com/mmcloughlin/avo/ir"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
	"github.com/mmcloughlin/avo/x86"
)

// lanes is the number of interleaved sums of an inner product, on every machine.
const lanes = 32

// perBlock is the number of vectors that hold eight elements, the unit of these kernels.
func (s isa) perBlock() int { return 64 / s.width }

// axpy writes y = fma(alpha, x, y) for whole blocks of eight elements.
func axpy(s isa) (*ir.Function, error) {
	w := newWriter(s, "axpy"+s.name, "func(n int, alpha float64, x, y *float64)",
		fmt.Sprintf("axpy%s adds alpha x to y, n elements, by fused multiply-adds. n is a multiple of 8.", s.name))
	n, x, y := w.load("n"), w.load("x"), w.load("y")
	av := w.vec(&w.regs)
	w.do(x86.VBROADCASTSD(w.param("alpha"), av))
	body := func(blocks int) {
		v := w.vectors(blocks * s.perBlock())
		for i := range v {
			w.do(x86.VMOVUPD(at(y, i*s.width), v[i]))
		}
		for i := range v {
			w.do(x86.VFMADD231PD(at(x, i*s.width), av, v[i]))
			w.do(x86.VMOVUPD(v[i], at(y, i*s.width)))
		}
	}
	w.blocks(n, []reg.Register{x, y}, 4, body)
	return w.finish()
}

// blocks repeats body for n elements: several blocks of eight at once, then one by one. The
// pointers go on with them.
func (w *writer) blocks(n reg.Register, pointers []reg.Register, several int, body func(blocks int)) {
	step := func(count int) {
		body(count)
		for _, p := range pointers {
			w.do(x86.ADDQ(operand.U32(count*64), p))
		}
		w.do(x86.SUBQ(operand.U32(count*8), n))
	}
	w.do(x86.SUBQ(operand.U32(several*8), n))
	w.do(x86.JLT(operand.LabelRef("rest")))
	w.label("several")
	step(several)
	w.do(x86.JGE(operand.LabelRef("several")))
	w.label("rest")
	w.do(x86.ADDQ(operand.U32(several*8), n))
	w.do(x86.JEQ(operand.LabelRef("done")))
	w.label("single")
	step(1)
	w.do(x86.JNE(operand.LabelRef("single")))
	w.label("done")
}

// gather writes a loop over x (and y) that keeps lanes results side by side.
func gather(s isa, name, signature string, step func(w *writer, x, y reg.Register, disp int, acc reg.VecVirtual), doc ...string) (*ir.Function, error) {
	w := newWriter(s, name+s.name, signature, doc...)
	n, x, out := w.load("n"), w.load("x"), w.load("out")
	pointers := []reg.Register{x}
	var y reg.Register
	if _, err := w.fn.Signature.Params().Lookup("y").Resolve(); err == nil {
		y = w.load("y")
		pointers = append(pointers, y)
	}
	acc := w.vectors(lanes * 8 / s.width)
	for _, v := range acc {
		w.do(s.zero(v, v, v))
	}
	w.label("loop")
	for i, v := range acc {
		step(w, x, y, i*s.width, v)
	}
	for _, p := range pointers {
		w.do(x86.ADDQ(operand.U32(lanes*8), p))
	}
	w.do(x86.SUBQ(operand.U32(lanes), n))
	w.do(x86.JNE(operand.LabelRef("loop")))
	for i, v := range acc {
		w.do(x86.VMOVUPD(v, at(out, i*s.width)))
	}
	return w.finish()
}

// inner writes the interleaved sums of an inner product.
func inner(s isa) (*ir.Function, error) {
	return gather(s, "inner", "func(n int, x, y, out *float64)",
		func(w *writer, x, y reg.Register, disp int, acc reg.VecVirtual) {
			v := w.vec(&w.regs)
			w.do(x86.VMOVUPD(at(x, disp), v))
			w.do(x86.VFMADD231PD(at(y, disp), v, acc))
		},
		fmt.Sprintf("inner%s puts into the %d elements of out the sums of x_i y_i over the i that leave the", s.name, lanes),
		fmt.Sprintf("same remainder by %d, chains of fused multiply-adds. n is a positive multiple of %d.", lanes, lanes))
}

// row writes one row of a matrix product, from a B that is not packed.
func row(s isa) (*ir.Function, error) {
	w := newWriter(s, "row"+s.name, "func(n, kc int, a, b *float64, ldb int, c *float64, alpha float64, add bool)",
		fmt.Sprintf("row%s multiplies the kc elements of a by the kc rows of b, ldb elements apart, and writes", s.name),
		"alpha times the n sums to c, or adds it by one fused multiply-add each. n is a multiple",
		"of 8, kc at least 1.")
	n, kc, a, b, ldb, c := w.load("n"), w.load("kc"), w.load("a"), w.load("b"), w.load("ldb"), w.load("c")
	w.do(x86.SHLQ(operand.U8(3), ldb))
	av := w.vec(&w.regs)
	ap, bp, l, add := w.regs.GP64(), w.regs.GP64(), w.regs.GP64(), w.regs.GP32()
	w.do(x86.MOVBLZX(w.param("add"), add))
	count := 0
	w.blocks(n, []reg.Register{b, c}, 8/s.perBlock(), func(blocks int) {
		count++
		name := func(label string) string { return fmt.Sprintf("%s%d", label, count) }
		acc := w.vectors(blocks * s.perBlock())
		for _, v := range acc {
			w.do(s.zero(v, v, v))
		}
		w.do(x86.MOVQ(a, ap))
		w.do(x86.MOVQ(b, bp))
		w.do(x86.MOVQ(kc, l))
		w.label(name("terms"))
		w.do(x86.VBROADCASTSD(at(ap, 0), av))
		for i, v := range acc {
			w.do(x86.VFMADD231PD(at(bp, i*s.width), av, v))
		}
		w.do(x86.ADDQ(operand.U32(8), ap))
		w.do(x86.ADDQ(ldb, bp))
		w.do(x86.DECQ(l))
		w.do(x86.JNE(operand.LabelRef(name("terms"))))
		w.do(x86.VBROADCASTSD(w.param("alpha"), av))
		w.do(x86.TESTL(add, add))
		w.do(x86.JNE(operand.LabelRef(name("accumulate"))))
		for i, v := range acc {
			w.do(x86.VMULPD(v, av, v))
			w.do(x86.VMOVUPD(v, at(c, i*s.width)))
		}
		w.do(x86.JMP(operand.LabelRef(name("next"))))
		w.label(name("accumulate"))
		for i, v := range acc {
			w.do(x86.VFMADD213PD(at(c, i*s.width), av, v))
			w.do(x86.VMOVUPD(v, at(c, i*s.width)))
		}
		w.label(name("next"))
	})
	return w.finish()
}

// pursuitBlock is the number of columns that pursue computes together, on every machine.
const pursuitBlock = 64

// pursue writes one step of the orthogonal matching pursuit of linalg.Pursue.
func pursue(s isa) (*ir.Function, error) {
	w := newWriter(s, "pursue"+s.name, "func(blocks, m, t int, w, p, from, a, top *float64, inv, z float64)",
		fmt.Sprintf("pursue%s appends row m to the blocks of p, of t rows of %d elements each, and updates a. The", s.name, pursuitBlock),
		fmt.Sprintf("new row is (from - sum of w_l row l) inv, and a becomes a - z row. Of each block it puts the %d", pursuitBlock/8),
		"largest |a_i| over the i that leave the same remainder by 8 into top. There is at least one block.")
	blocks, m, t, coefficients := w.load("blocks"), w.load("m"), w.load("t"), w.load("w")
	p, g, a, top := w.load("p"), w.load("from"), w.load("a"), w.load("top")
	const rowBytes = pursuitBlock * 8
	w.do(x86.SHLQ(operand.U8(9), t)) // in bytes of rows
	c, inv, z := w.vec(&w.regs), w.vec(&w.regs), w.vec(&w.regs)
	w.do(x86.VBROADCASTSD(w.param("inv"), inv))
	w.do(x86.VBROADCASTSD(w.param("z"), z))
	cp, pp, l := w.regs.GP64(), w.regs.GP64(), w.regs.GP64()
	acc, largest, v := w.vectors(8), w.vectors(s.perBlock()), w.vec(&w.regs)
	w.label("block")
	for _, u := range largest {
		w.do(s.zero(u, u, u))
	}
	for part := range rowBytes / (8 * s.width) {
		disp := func(i int) int { return (8*part + i) * s.width }
		name := func(label string) string { return fmt.Sprintf("%s%d", label, part) }
		for i, u := range acc {
			w.do(x86.VMOVUPD(at(g, disp(i)), u))
		}
		w.do(x86.MOVQ(p, pp))
		w.do(x86.MOVQ(coefficients, cp))
		w.do(x86.MOVQ(m, l))
		w.do(x86.TESTQ(l, l))
		w.do(x86.JEQ(operand.LabelRef(name("append"))))
		w.label(name("terms"))
		w.do(x86.VBROADCASTSD(at(cp, 0), c))
		for i, u := range acc {
			w.do(x86.VFNMADD231PD(at(pp, disp(i)), c, u))
		}
		w.do(x86.ADDQ(operand.U32(8), cp))
		w.do(x86.ADDQ(operand.U32(rowBytes), pp))
		w.do(x86.DECQ(l))
		w.do(x86.JNE(operand.LabelRef(name("terms"))))
		w.label(name("append"))
		for i, u := range acc {
			w.do(x86.VMULPD(u, inv, u))
			w.do(x86.VMOVUPD(u, at(pp, disp(i))))
			w.do(x86.VMOVUPD(at(a, disp(i)), v))
			w.do(x86.VFNMADD231PD(u, z, v))
			w.do(x86.VMOVUPD(v, at(a, disp(i))))
			w.do(x86.VPSLLQ(operand.U8(1), v, v))
			w.do(x86.VPSRLQ(operand.U8(1), v, v))
			w.do(x86.VMAXPD(largest[i%len(largest)], v, largest[i%len(largest)]))
		}
	}
	for i, u := range largest {
		w.do(x86.VMOVUPD(u, at(top, i*s.width)))
	}
	w.do(x86.ADDQ(operand.U32(64), top))
	w.do(x86.ADDQ(operand.U32(rowBytes), g))
	w.do(x86.ADDQ(operand.U32(rowBytes), a))
	w.do(x86.ADDQ(t, p))
	w.do(x86.DECQ(blocks))
	w.do(x86.JNE(operand.LabelRef("block")))
	return w.finish()
}
