package run

import (
	"math"
	"testing"
	"time"
)

// A cost includes each run once, also if cells share it, and the tuning runs.
func TestCost(t *testing.T) {
	b := newBench(t, threeRows)
	before := b.resolve(t, b.runner.Library)
	if none, err := before.Cost(t.Context(), b.runner.Store, before.Cells...); err != nil || none != (Cost{}) {
		t.Fatalf("nothing was run, and it took %+v (%v)", none, err)
	}
	p, sum := b.run(t)
	all, err := p.Cost(t.Context(), b.runner.Store, append(p.Cells, p.Cells...)...)
	if err != nil {
		t.Fatal(err)
	}
	if all.Runs != sum.OK || all.Runs != p.Provenance(p.Cells...).Runs || all.Disk <= 0 {
		t.Errorf("%+v, want the %d runs", all, sum.OK)
	}
	var parts Cost
	for _, c := range p.Cells {
		is, err := p.Cost(t.Context(), b.runner.Store, c)
		if err != nil {
			t.Fatal(err)
		}
		parts.Runs += is.Runs
		parts.Wall += is.Wall
		parts.CPU += is.CPU
		parts.Disk += is.Disk
		parts.Peak = max(parts.Peak, is.Peak)
	}
	if parts.Runs != all.Runs || parts.Disk != all.Disk || parts.Peak != all.Peak ||
		math.Abs(parts.Wall-all.Wall) > 1e-9 || math.Abs(parts.CPU-all.CPU) > 1e-9 {
		t.Errorf("the cells took %+v, all %+v", parts, all)
	}
	var wall float64
	for _, tk := range behind(p.Cells) {
		wall += tk.Result.Wall.Seconds()
	}
	if wall != all.Wall || wall <= 0 {
		t.Errorf("%g s, want %g", all.Wall, wall)
	}
}

// Failed attempts cost time too, also those before a result.
func TestCostWithFailed(t *testing.T) {
	b := newBench(t, threeRows)
	b.spec = mustSelect(t, b.spec, "src")
	b.runner.Timeout = time.Nanosecond
	b.run(t)
	p := b.resolve(t, b.runner.Library)
	failed, err := p.CostWithFailed(t.Context(), b.runner.Store, append(p.Cells, p.Cells...)...)
	if err != nil || failed.Runs != 3 || failed.Failed != 3 || failed.Wall <= 0 || failed.Disk <= 0 {
		t.Fatalf("%+v, %v, want three failed runs", failed, err)
	}
	b.runner.Timeout, b.runner.Retry.Failed = 0, true
	b.run(t)
	p = b.resolve(t, b.runner.Library)
	all, err := p.CostWithFailed(t.Context(), b.runner.Store, p.Cells...)
	if err != nil {
		t.Fatal(err)
	}
	finished, err := p.Cost(t.Context(), b.runner.Store, p.Cells...)
	if err != nil || finished.Runs != 3 || finished.Failed != 0 || all.Runs != 6 || all.Failed != 3 || all.Disk != failed.Disk+finished.Disk || math.Abs(all.Wall-failed.Wall-finished.Wall) > 1e-9 {
		t.Errorf("all %+v, failed %+v, finished %+v, %v", all, failed, finished, err)
	}
}
