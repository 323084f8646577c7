//go:build !amd64

package pretext

func (t *power) flow(q, flow []float64, i int, to []int32, w []float64) {
	t.flowPortable(q, flow, i, to, w)
}
