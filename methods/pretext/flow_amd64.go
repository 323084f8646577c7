package pretext

import "golang.org/x/sys/cpu"

//go:generate go run ../internal/asm pretext .

var (
	hasAVX2   = cpu.X86.HasAVX2 && cpu.X86.HasFMA
	hasAVX512 = hasAVX2 && cpu.X86.HasAVX512F
)

// flow is flowPortable, in vectors of columns if the machine has them.
func (t *power) flow(q, flow []float64, i int, to []int32, w []float64) {
	switch {
	case len(to) == 0:
	case hasAVX512:
		flowAVX512(len(to), &q[i*panel], &flow[i*panel], &to[0], &w[0], &q[0], &flow[0],
			&t.exponent[0], &t.mantissa[0].c, &t.binomial[0])
	case hasAVX2:
		flowAVX2(len(to), &q[i*panel], &flow[i*panel], &to[0], &w[0], &q[0], &flow[0],
			&t.exponent[0], &t.mantissa[0].c, &t.binomial[0])
	default:
		t.flowPortable(q, flow, i, to, w)
	}
}
