package executor

import (
	"runtime/metrics"
	"sync"
	"time"
)

// A meter measures the runs in one process. The runs in flight share the CPU time of the process equally.
// The peak memory of a run is that of the whole process while the run was in flight.
type meter struct {
	mu     sync.Mutex
	flight map[*usage]bool
	last   time.Duration // CPU time of the process at the last measurement
	stop   chan struct{} // ends watch; nil while nothing is in flight
}

// usage is the CPU time and peak memory (bytes) of a run so far.
type usage struct {
	cpu  time.Duration
	peak int64
}

// processMeter measures the runs of this process.
var processMeter meter

// meterPause is the time between two measurements.
const meterPause = 20 * time.Millisecond

// begin adds a run that starts.
func (m *meter) begin() *usage {
	u := &usage{}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.flight == nil {
		m.flight = map[*usage]bool{}
	}
	m.measure()
	m.flight[u] = true
	if m.stop == nil {
		m.stop = make(chan struct{})
		go m.watch(m.stop)
	}
	return u
}

// end removes a run; u no longer changes.
func (m *meter) end(u *usage) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.measure()
	delete(m.flight, u)
	if len(m.flight) == 0 {
		close(m.stop)
		m.stop = nil
	}
}

func (m *meter) watch(stop <-chan struct{}) {
	tick := time.NewTicker(meterPause)
	defer tick.Stop()
	for {
		select {
		case <-stop:
			return
		case <-tick.C:
			m.mu.Lock()
			m.measure()
			m.mu.Unlock()
		}
	}
}

// measure adds the usage since the last measurement to the runs in flight.
func (m *meter) measure() {
	now := processCPU()
	held := heldMemory()
	for u := range m.flight {
		u.cpu += (now - m.last) / time.Duration(len(m.flight))
		u.peak = max(u.peak, held)
	}
	m.last = now
}

// heldMemory is the memory in bytes that the Go runtime has from the system.
func heldMemory() int64 {
	s := []metrics.Sample{{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"}}
	metrics.Read(s)
	return int64(s[0].Value.Uint64()) - int64(s[1].Value.Uint64())
}
