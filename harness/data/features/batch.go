package features

// batch collects images for one run of the network. records has all of them in order, with those
// that cannot be decoded.
type batch struct {
	net     *Net
	table   [3][256]float32
	records []record
	kept    []int // indices into records of the images in the network's input
}

func newBatch(net *Net, p Preprocessing) *batch {
	return &batch{net: net, table: p.normalised()}
}

func (b *batch) full() bool { return len(b.kept) == b.net.Model.Batch }

func (b *batch) reset() { b.records, b.kept = b.records[:0], b.kept[:0] }

// add writes the crop of record place to the network's input.
func (b *batch) add(place int, crop []uint8) {
	fill(b.net.in[len(b.kept)*len(crop):][:len(crop)], crop, &b.table)
	b.kept = append(b.kept, place)
}

// fill writes a normalised crop to dst.
func fill(dst []float32, crop []uint8, table *[3][256]float32) {
	plane := len(crop) / 3
	for c := range 3 {
		values := &table[c]
		for i, v := range crop[c*plane : (c+1)*plane] {
			dst[c*plane+i] = values[v]
		}
	}
}

// run runs the network, its input padded with zeros, and returns the features. An image with
// unusable features gets a reason instead.
func (b *batch) run() ([]float32, error) {
	if len(b.kept) == 0 {
		return nil, nil
	}
	image := len(b.net.in) / b.net.Model.Batch
	clear(b.net.in[len(b.kept)*image:])
	if err := b.net.run(); err != nil {
		return nil, err
	}
	var out []float32
	for i, place := range b.kept {
		features := b.net.out[i*b.net.Model.Dim:][:b.net.Model.Dim]
		zero, finite := true, true
		for _, v := range features {
			zero = zero && v == 0
			finite = finite && v-v == 0
		}
		switch {
		case !finite:
			b.records[place].Reason = "the network gives a feature that is not finite"
		case zero:
			b.records[place].Reason = "the network gives zeros only"
		default:
			out = append(out, features...)
		}
	}
	return out, nil
}
