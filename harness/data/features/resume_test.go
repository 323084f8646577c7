package features

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// TestStopAndResume stops an extraction again and again. The result has the bytes of an extraction
// that never stopped.
func TestStopAndResume(t *testing.T) {
	dir := imageFolder(t, 3, 20)
	whole := t.TempDir()
	if _, err := Extract(t.Context(), scan(t, dir), fake(4), Options{Out: whole}); err != nil {
		t.Fatal(err)
	}
	out, rounds := t.TempDir(), 0
	for ; ; rounds++ {
		n := fake(4)
		run, stop, calls := n.run, make(chan struct{}), 0
		n.run = func() error {
			if calls++; calls == 3 {
				close(stop)
				time.Sleep(time.Millisecond)
			}
			return run()
		}
		_, err := Extract(t.Context(), scan(t, dir), n, Options{Out: out, Stop: stop})
		if err == nil {
			break
		}
		if !errors.Is(err, ErrStopped) || rounds > 30 {
			t.Fatalf("round %d: %v", rounds, err)
		}
	}
	if rounds < 2 {
		t.Errorf("stopped %d times only", rounds)
	}
	if d := cmp.Diff(results(t, whole), results(t, out)); d != "" {
		t.Error(d)
	}
}

func TestCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	n := fake(2)
	run := n.run
	n.run = func() error { cancel(); return run() }
	if _, err := Extract(ctx, scan(t, imageFolder(t, 2, 30)), n, Options{Out: t.TempDir()}); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}

// interrupted leaves an unfinished extraction of dir in a new folder.
func interrupted(t *testing.T, dir string) string {
	t.Helper()
	out := t.TempDir()
	n := fake(4)
	run, calls := n.run, 0
	n.run = func() error {
		if calls++; calls == 3 {
			return errors.New("the power fails")
		}
		return run()
	}
	if _, err := Extract(t.Context(), scan(t, dir), n, Options{Out: out}); err == nil || !strings.Contains(err.Error(), "the power fails") {
		t.Fatalf("%v", err)
	}
	return out
}

func TestResumeRefuses(t *testing.T) {
	for name, c := range map[string]struct {
		change func(t *testing.T, dir string, n *Net, o *Options)
		want   string
	}{
		"another model":    {func(t *testing.T, dir string, n *Net, o *Options) { n.Model.SHA256 = "1" }, "its model or batch size differs (fake.onnx, 0, batches of 4)"},
		"another runtime":  {func(t *testing.T, dir string, n *Net, o *Options) { n.Runtime = "2" }, "its libraries have other versions"},
		"other duplicates": {func(t *testing.T, dir string, n *Net, o *Options) { o.DropDuplicates = true }, "it has --drop-duplicates=false"},
		"one image more": {func(t *testing.T, dir string, n *Net, o *Options) {
			write(t, filepath.Join(dir, "class0/100.png"), "")
		}, "its list of images differs"},
		"an image that changed": {func(t *testing.T, dir string, n *Net, o *Options) {
			write(t, filepath.Join(dir, "class0/002.png"), "other")
		}, "class0/002.png changed since"},
		"an image that was broken": {func(t *testing.T, dir string, n *Net, o *Options) {
			write(t, filepath.Join(dir, "class0/003.png"), string(encodePNG(t, corners(9, 9))))
		}, "class0/003.png changed since"},
		"an image that is gone": {func(t *testing.T, dir string, n *Net, o *Options) {
			if err := os.Remove(filepath.Join(dir, "class0/001.png")); err != nil {
				t.Fatal(err)
			}
			write(t, filepath.Join(dir, "class0/001.png"), "") // keeps the list of images unchanged
		}, "class0/001.png changed since"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := imageFolder(t, 2, 10)
			out := interrupted(t, dir)
			before := results(t, out)
			n, o := fake(4), Options{Out: out}
			c.change(t, dir, n, &o)
			_, err := Extract(t.Context(), scan(t, dir), n, o)
			var refused *RefusedError
			if !errors.As(err, &refused) || !strings.Contains(err.Error(), c.want) || !strings.Contains(strings.ToLower(err.Error()), "delete ") {
				t.Errorf("%v\nlacks %s", err, c.want)
			}
			if d := cmp.Diff(before, results(t, out)); d != "" {
				t.Error("the output changed:", d)
			}
		})
	}
}

// TestDamagedJournal truncates and overwrites the journal at many places. The result is the same.
func TestDamagedJournal(t *testing.T) {
	dir := imageFolder(t, 2, 10)
	whole := t.TempDir()
	if _, err := Extract(t.Context(), scan(t, dir), fake(4), Options{Out: whole}); err != nil {
		t.Fatal(err)
	}
	want := results(t, whole)
	journal := []byte(results(t, interrupted(t, dir))[journalFile])
	for at := 0; at <= len(journal); at += 311 {
		for _, damaged := range [][]byte{
			journal[:at],
			append(bytes.Clone(journal[:at]), bytes.Repeat([]byte{0xff}, len(journal)-at)...),
		} {
			out := t.TempDir()
			write(t, filepath.Join(out, journalFile), string(damaged))
			if _, err := Extract(t.Context(), scan(t, dir), fake(4), Options{Out: out}); err != nil {
				t.Fatalf("damaged from %d: %v", at, err)
			}
			if d := cmp.Diff(want, results(t, out)); d != "" {
				t.Fatalf("damaged from %d: %s", at, d)
			}
		}
	}
}

// With these variables the test binary runs an extraction, which a test kills.
const imagesVar, outVar = "FEATURES_TEST_IMAGES", "FEATURES_TEST_OUT"

func TestMain(m *testing.M) {
	if dir := os.Getenv(imagesVar); dir != "" {
		src, err := Scan(dir, "")
		if err == nil {
			_, err = Extract(context.Background(), src, slow(fake(4), 10*time.Millisecond), Options{Out: os.Getenv(outVar)})
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// TestKilled kills an extraction with SIGKILL at several moments until one completes, with the
// bytes of an extraction that was never killed.
func TestKilled(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := imageFolder(t, 3, 60)
	whole := t.TempDir()
	if _, err := Extract(t.Context(), scan(t, dir), fake(4), Options{Out: whole}); err != nil {
		t.Fatal(err)
	}
	out, kills := t.TempDir(), 0
	for {
		cmd := exec.CommandContext(t.Context(), self)
		cmd.Env = append(os.Environ(), imagesVar+"="+dir, outVar+"="+out)
		var stderr strings.Builder
		cmd.Stderr = &stderr
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		before := size(filepath.Join(out, journalFile))
		// Kill it at a varying moment, after it has written some more batches.
		wait := time.Duration(kills*3) * time.Millisecond
		go func() {
			for size(filepath.Join(out, journalFile)) < before+1500 && t.Context().Err() == nil {
				time.Sleep(time.Millisecond)
				if _, err := os.Stat(filepath.Join(out, metaFile)); err == nil {
					return
				}
			}
			time.Sleep(wait)
			cmd.Process.Kill()
		}()
		err := cmd.Wait()
		if err == nil {
			break
		}
		if cmd.ProcessState.Sys().(syscall.WaitStatus).Signal() != syscall.SIGKILL {
			t.Fatalf("%v: %s", err, stderr.String())
		}
		_, unfinished := os.Stat(filepath.Join(out, journalFile))
		if _, err := os.Stat(filepath.Join(out, metaFile)); err == nil && unfinished != nil {
			break // it completed before the kill
		}
		if kills++; kills > 50 {
			t.Fatal("it makes no progress")
		}
	}
	if kills < 2 {
		t.Errorf("killed %d times only", kills)
	}
	if d := cmp.Diff(results(t, whole), results(t, out)); d != "" {
		t.Error(d)
	}
	t.Logf("killed %d times", kills)
}

func size(path string) int64 {
	info, err := os.Stat(path)
	if err != nil {
		return 0
	}
	return info.Size()
}

// TestTwoAtOnce: a second extraction into the same folder is refused while the first runs.
func TestTwoAtOnce(t *testing.T) {
	dir, out := imageFolder(t, 2, 10), t.TempDir()
	n := fake(2)
	run, second := n.run, error(nil)
	n.run = func() error {
		if second == nil {
			_, second = Extract(t.Context(), scan(t, dir), fake(2), Options{Out: out})
		}
		return run()
	}
	if _, err := Extract(t.Context(), scan(t, dir), n, Options{Out: out}); err != nil {
		t.Fatal(err)
	}
	if second == nil || !strings.Contains(second.Error(), "another process is extracting") {
		t.Errorf("%v", second)
	}
}
