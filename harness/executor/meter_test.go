package executor

import (
	"testing"
	"time"
)

// burn uses so much CPU time, and returns the CPU time of the process before and after.
func burn(d time.Duration) (from, to time.Duration) {
	from = processCPU()
	for to = from; to < from+d; to = processCPU() {
		for i := range 1 << 16 {
			sink ^= i
		}
	}
	return from, to
}

var sink int

// Two runs in flight share the CPU time of the process, and the meter sees memory that is held in between.
func TestMeter(t *testing.T) {
	var m meter
	before := processCPU()
	a := m.begin()
	b := m.begin()
	hold := make([]byte, 64<<20)
	from, to := burn(150 * time.Millisecond)
	m.end(a)
	between := processCPU()
	alone := a.cpu
	aloneFrom, aloneTo := burn(100 * time.Millisecond)
	hold[0]++ // until here it is held
	m.end(b)
	after := processCPU()

	const rounding = time.Millisecond // of a nanosecond at each look
	if a.cpu != alone {
		t.Errorf("a run that ended went from %v to %v", alone, a.cpu)
	}
	// What else the process used, between the moments that were measured, is either's, or half.
	half := (to - from) / 2
	if least, most := half, between-before-half; a.cpu < least-rounding || a.cpu > most+rounding {
		t.Errorf("two runs were in flight while %v were used, and one was charged %v, want %v to %v", to-from, a.cpu, least, most)
	}
	if least, most := half+aloneTo-aloneFrom, after-before-half; b.cpu < least-rounding || b.cpu > most+rounding {
		t.Errorf("the run that went on alone was charged %v, want %v to %v", b.cpu, least, most)
	}
	if a.peak < 64<<20 {
		t.Errorf("64 MiB were held, %d bytes seen", a.peak)
	}
	if m.stop != nil {
		t.Error("the meter still looks although nothing is in flight")
	}
}
