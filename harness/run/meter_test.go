package run

import (
	"testing"
	"time"
)

// Two runs in flight share what the process uses, and memory held in between is seen.
func TestMeter(t *testing.T) {
	var m meter
	a := m.begin()
	b := m.begin()
	before := processCPU()
	hold := make([]byte, 64<<20)
	for until := time.Now().Add(150 * time.Millisecond); time.Now().Before(until); {
		for i := range hold {
			hold[i]++
		}
	}
	m.end(a)
	spent := processCPU() - before
	alone := a.cpu
	for until := time.Now().Add(100 * time.Millisecond); time.Now().Before(until); {
		hold[0]++
	}
	m.end(b)
	if a.cpu != alone {
		t.Errorf("a run that ended went from %v to %v", alone, a.cpu)
	}
	if a.cpu < spent/2-20*time.Millisecond || a.cpu > spent/2+20*time.Millisecond {
		t.Errorf("the process used %v with two runs in flight and one was charged %v, want half", spent, a.cpu)
	}
	if b.cpu < a.cpu+20*time.Millisecond {
		t.Errorf("the run that went on alone was charged %v, the one that ended %v", b.cpu, a.cpu)
	}
	if a.peak < 64<<20 {
		t.Errorf("64 MiB were held, %d bytes seen", a.peak)
	}
	if m.stop != nil {
		t.Error("the meter still looks although nothing is in flight")
	}
}
