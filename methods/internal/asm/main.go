// Command asm writes the assembly of the methods, for AVX-512 and for AVX2 with FMA: of
// package linalg the micro-kernels of the matrix product, the triangular solve, the coordinate
// sweep, the vector operations and the matching pursuit, of package pretext the sums of the p-Laplacian.
//
// Run it with `go generate ./methods/...`. A test compares the committed files with what
// it writes.
package main

import (
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/mmcloughlin/avo/attr"
	"github.com/mmcloughlin/avo/gotypes"
	"github.com/mmcloughlin/avo/ir"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/pass"
	"github.com/mmcloughlin/avo/printer"
	"github.com/mmcloughlin/avo/reg"
	"github.com/mmcloughlin/avo/x86"
)

// The files that generate fills, in the folder of each package.
const (
	asmFile  = "kernel_amd64.s"
	stubFile = "kernel_stub_amd64.go"
)

// kernels are the functions of each package.
var kernels = map[string][]func(isa) (*ir.Function, error){
	"linalg":  {product, solve, sweep, row, inner, axpy, pursue},
	"pretext": {flow},
}

func main() {
	if len(os.Args) != 3 {
		log.Fatal("usage: asm <package> <its folder>")
	}
	files, err := generate(os.Args[1])
	if err != nil {
		log.Fatal(err)
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(os.Args[2], name), text, 0o644); err != nil {
			log.Fatal(err)
		}
	}
}

// isa is an instruction set and the tile its kernels compute: mr rows by vecs vectors
// of width bytes. The tile fills the register file but for the operands of one step.
type isa struct {
	name     string
	mr, vecs int
	width    int
	vec      func(*reg.Collection) reg.VecVirtual
	zero     func(...operand.Op) (*ir.Instruction, error)
}

var isas = []isa{
	{
		// 24 accumulators, three vectors of B and a broadcast element of A: 28 of 32.
		name: "AVX512", mr: 8, vecs: 3, width: 64,
		vec:  (*reg.Collection).ZMM,
		zero: x86.VPXORQ,
	},
	{
		// 12 accumulators, three vectors of B and a broadcast element of A: 16 of 16.
		name: "AVX2", mr: 4, vecs: 3, width: 32,
		vec:  (*reg.Collection).YMM,
		zero: func(ops ...operand.Op) (*ir.Instruction, error) { return x86.VXORPD(ops...) },
	},
}

// generate returns the text of the two files of a package by name.
func generate(pkg string) (map[string][]byte, error) {
	f := ir.NewFile()
	for _, s := range isas {
		for _, write := range kernels[pkg] {
			fn, err := write(s)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", s.name, err)
			}
			f.AddSection(fn)
		}
	}
	if err := pass.Compile.Execute(f); err != nil {
		return nil, err
	}
	cfg := printer.Config{Name: "internal/asm", Pkg: pkg}
	text, err := printer.NewGoAsm(cfg).Print(f)
	if err != nil {
		return nil, err
	}
	stub, err := printer.NewStubs(cfg).Print(f)
	if err != nil {
		return nil, err
	}
	return map[string][]byte{asmFile: text, stubFile: stub}, nil
}

// writer collects the instructions of one function and the first error.
type writer struct {
	isa
	regs reg.Collection
	fn   *ir.Function
	err  error
}

func newWriter(s isa, name, signature string, doc ...string) *writer {
	w := &writer{isa: s, regs: *reg.NewCollection(), fn: ir.NewFunction(name)}
	w.fn.Attributes = attr.NOSPLIT
	w.fn.AddPragma("noescape")
	w.fn.Doc = doc
	sig, err := gotypes.ParseSignature(signature)
	if err != nil {
		w.err = err
		return w
	}
	w.fn.SetSignature(sig)
	return w
}

// do appends an instruction.
func (w *writer) do(i *ir.Instruction, err error) {
	if w.err != nil {
		return
	}
	if err != nil {
		w.err = err
		return
	}
	w.fn.AddInstruction(i)
}

func (w *writer) label(name string) { w.fn.AddLabel(ir.Label(name)) }

func (w *writer) comment(text string) { w.fn.AddComment(text) }

// param returns the address of a parameter on the stack.
func (w *writer) param(name string) operand.Mem {
	b, err := w.fn.Signature.Params().Lookup(name).Resolve()
	if err != nil {
		if w.err == nil {
			w.err = err
		}
		return operand.Mem{}
	}
	return b.Addr
}

// load returns a register that holds a 64-bit parameter.
func (w *writer) load(name string) reg.GPVirtual {
	r := w.regs.GP64()
	w.do(x86.MOVQ(w.param(name), r))
	return r
}

// vectors returns n vector registers.
func (w *writer) vectors(n int) []reg.VecVirtual {
	v := make([]reg.VecVirtual, n)
	for i := range v {
		v[i] = w.vec(&w.regs)
	}
	return v
}

func (w *writer) finish() (*ir.Function, error) {
	w.do(x86.VZEROUPPER())
	w.do(x86.RET())
	return w.fn, w.err
}

func at(base reg.Register, disp int) operand.Mem { return operand.Mem{Base: base, Disp: disp} }

// product writes the micro-kernel of the matrix product. Each accumulator lane is one
// chain of fused multiply-adds in the order of k, whatever the unrolling.
func product(s isa) (*ir.Function, error) {
	nr := s.vecs * s.width / 8
	w := newWriter(s, "product"+s.name, "func(kc int, a, b, c *float64, ldc int, alpha float64, add bool)",
		fmt.Sprintf("product%s multiplies a packed %d x kc panel of A by a packed kc x %d panel of B and", s.name, s.mr, nr),
		"writes alpha times the product to the rows of c, ldc elements apart, or adds it to",
		"them by one fused multiply-add per element. kc is at least 1.")
	kc, a, b, c, ldc := w.load("kc"), w.load("a"), w.load("b"), w.load("c"), w.load("ldc")
	w.do(x86.SHLQ(operand.U8(3), ldc))

	acc := make([][]reg.VecVirtual, s.mr)
	w.comment("Clear the tile and fetch its rows of c: they are needed after the loop.")
	row := w.regs.GP64()
	w.do(x86.MOVQ(c, row))
	for i := range acc {
		acc[i] = w.vectors(s.vecs)
		for _, v := range acc[i] {
			w.do(s.zero(v, v, v))
		}
		for disp := 0; disp < s.vecs*s.width; disp += 64 {
			w.do(x86.PREFETCHT0(at(row, disp)))
		}
		w.do(x86.ADDQ(ldc, row))
	}

	bv := w.vectors(s.vecs)
	av := w.vec(&w.regs)
	// A panel of A is read again and again, but the first time it comes from the L3 cache.
	const ahead = 2048
	step := func(l int) {
		w.do(x86.PREFETCHT0(at(a, l*s.mr*8+ahead)))
		for v := range bv {
			w.do(x86.VMOVUPD(at(b, l*nr*8+v*s.width), bv[v]))
		}
		for i := range acc {
			w.do(x86.VBROADCASTSD(at(a, (l*s.mr+i)*8), av))
			for v := range bv {
				w.do(x86.VFMADD231PD(bv[v], av, acc[i][v]))
			}
		}
	}
	advance := func(steps int) {
		w.do(x86.ADDQ(operand.U32(steps*s.mr*8), a))
		w.do(x86.ADDQ(operand.U32(steps*nr*8), b))
		w.do(x86.SUBQ(operand.U32(steps), kc))
	}
	const unroll = 4
	w.do(x86.SUBQ(operand.U32(unroll), kc))
	w.do(x86.JLT(operand.LabelRef("rest")))
	w.label("loop")
	for l := range unroll {
		step(l)
	}
	advance(unroll)
	w.do(x86.JGE(operand.LabelRef("loop")))
	w.label("rest")
	w.do(x86.ADDQ(operand.U32(unroll), kc))
	w.do(x86.JEQ(operand.LabelRef("store")))
	w.label("single")
	step(0)
	advance(1)
	w.do(x86.JNE(operand.LabelRef("single")))

	w.label("store")
	w.do(x86.VBROADCASTSD(w.param("alpha"), av))
	add := w.regs.GP32()
	w.do(x86.MOVBLZX(w.param("add"), add))
	w.do(x86.TESTL(add, add))
	w.do(x86.JNE(operand.LabelRef("accumulate")))
	for i := range acc {
		for v, t := range acc[i] {
			w.do(x86.VMULPD(t, av, t))
			w.do(x86.VMOVUPD(t, at(c, v*s.width)))
		}
		w.do(x86.ADDQ(ldc, c))
	}
	w.do(x86.JMP(operand.LabelRef("done")))
	w.label("accumulate")
	for i := range acc {
		for v, t := range acc[i] {
			w.do(x86.VFMADD213PD(at(c, v*s.width), av, t))
			w.do(x86.VMOVUPD(t, at(c, v*s.width)))
		}
		w.do(x86.ADDQ(ldc, c))
	}
	w.label("done")
	return w.finish()
}

// solve writes the micro-kernel of the triangular solve: one row after the other, each
// lane one chain of fused multiply-subtracts in the order of the unknowns, then a division.
func solve(s isa) (*ir.Function, error) {
	nr := s.vecs * s.width / 8
	w := newWriter(s, "solve"+s.name, "func(n int, l, x *float64)",
		fmt.Sprintf("solve%s overwrites the packed n x %d panel x by L^-1 x, L lower triangular of n rows of", s.name, nr),
		"n elements. It divides by the diagonal of L. n is at least 1.")
	n, l, x := w.load("n"), w.load("l"), w.load("x")
	stride, i, k := w.regs.GP64(), w.regs.GP64(), w.regs.GP64()
	lp, xp := w.regs.GP64(), w.regs.GP64()
	w.do(x86.MOVQ(n, stride))
	w.do(x86.SHLQ(operand.U8(3), stride))
	w.do(x86.XORQ(i, i))
	out := w.regs.GP64()
	w.do(x86.MOVQ(x, out))

	acc := w.vectors(s.vecs)
	lv := w.vec(&w.regs)
	w.label("row")
	for v := range acc {
		w.do(x86.VMOVUPD(at(out, v*s.width), acc[v]))
	}
	w.do(x86.MOVQ(l, lp))
	w.do(x86.MOVQ(x, xp))
	w.do(x86.MOVQ(i, k))
	w.do(x86.TESTQ(k, k))
	w.do(x86.JEQ(operand.LabelRef("divide")))
	w.label("column")
	w.do(x86.VBROADCASTSD(at(lp, 0), lv))
	for v := range acc {
		w.do(x86.VFNMADD231PD(at(xp, v*s.width), lv, acc[v]))
	}
	w.do(x86.ADDQ(operand.U32(8), lp))
	w.do(x86.ADDQ(operand.U32(nr*8), xp))
	w.do(x86.DECQ(k))
	w.do(x86.JNE(operand.LabelRef("column")))
	w.label("divide")
	w.do(x86.VBROADCASTSD(at(lp, 0), lv))
	for v := range acc {
		w.do(x86.VDIVPD(lv, acc[v], acc[v]))
		w.do(x86.VMOVUPD(acc[v], at(out, v*s.width)))
	}
	w.do(x86.ADDQ(operand.U32(nr*8), out))
	w.do(x86.ADDQ(stride, l))
	w.do(x86.INCQ(i))
	w.do(x86.CMPQ(i, n))
	w.do(x86.JLT(operand.LabelRef("row")))
	return w.finish()
}
