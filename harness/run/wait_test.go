package run

import (
	"bytes"
	"fmt"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"ssdl/harness/progress"
	"ssdl/harness/store"
)

// lockedBuffer is a buffer for a writer and a reader at the same time.
type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// A process that waits for another names it, its job and the time since, once.
func TestWaitingIsTold(t *testing.T) {
	if runtime.GOOS != "linux" && runtime.GOOS != "windows" {
		t.Skip("on this system a process does not exclude itself")
	}
	b := newBench(t, threeRows)
	b.spec = mustSelect(t, b.spec, "src")
	p := b.resolve(t, b.runner.Library)
	other, err := store.Open(t.Context(), b.path)
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	release, ok, err := other.Claim(p.Cells[0].Final[1].Key)
	if err != nil || !ok {
		t.Fatal(ok, err)
	}
	var said lockedBuffer
	b.runner.Progress = progress.New(&said, false)
	go func() {
		defer release()
		for end := time.Now().Add(time.Minute); !strings.Contains(said.String(), "waiting") && time.Now().Before(end); {
			time.Sleep(time.Millisecond)
		}
		time.Sleep(2 * claimPause)
	}()
	if _, sum := b.run(t); sum.OK != 3 {
		t.Errorf("%+v", sum)
	}
	want := fmt.Sprintf("waiting for process %d on ", os.Getpid())
	if text := said.String(); strings.Count(text, "waiting") != 1 || !strings.Contains(text, want) || !strings.Contains(text, ": src on tiny, seed 1001\n") {
		t.Errorf("it says\n%s, want %q", text, want)
	}
}
