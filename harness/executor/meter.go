package executor

import (
	"runtime/metrics"
	"sync"
	"time"
)

// A meter tells what each of several runs in one process used. CPU time is known of the process
// alone: what it used between two moments is shared equally by the runs in flight. Memory is what
// the process held at most while the run was in flight, whoever held it.
type meter struct {
	mu     sync.Mutex
	flight map[*usage]bool
	last   time.Duration // CPU time of the process at the last look
	stop   chan struct{} // ends the looks; nil while nothing is in flight
}

// usage is what a run used so far.
type usage struct {
	cpu  time.Duration
	peak int64
}

// processMeter is that of this process, whose CPU time and memory all runs in it share.
var processMeter meter

// meterPause is the time between two looks at the memory.
const meterPause = 20 * time.Millisecond

// begin notes a run that starts.
func (m *meter) begin() *usage {
	u := &usage{}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.flight == nil {
		m.flight = map[*usage]bool{}
	}
	m.look()
	m.flight[u] = true
	if m.stop == nil {
		m.stop = make(chan struct{})
		go m.watch(m.stop)
	}
	return u
}

// end takes the run out; u then stays as it is.
func (m *meter) end(u *usage) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.look()
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
			m.look()
			m.mu.Unlock()
		}
	}
}

// look charges the runs in flight with what was used since the last look.
func (m *meter) look() {
	now := processCPU()
	held := heldMemory()
	for u := range m.flight {
		u.cpu += (now - m.last) / time.Duration(len(m.flight))
		u.peak = max(u.peak, held)
	}
	m.last = now
}

// heldMemory is what the Go runtime has of the system, in bytes.
func heldMemory() int64 {
	s := []metrics.Sample{{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"}}
	metrics.Read(s)
	return int64(s[0].Value.Uint64()) - int64(s[1].Value.Uint64())
}
