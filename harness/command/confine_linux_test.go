package command

import (
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// confined skips a test where the kernel cannot confine programs.
func confined(t *testing.T) Runner {
	t.Helper()
	r := Runner{Self: self(t)}
	if r.confinement() == Unconfined {
		t.Skip("this kernel has no Landlock")
	}
	return r
}

// A confined program can read the system and its folder, but no data set, no store and no folder of another
// job. It can write only into its folder.
func TestConfined(t *testing.T) {
	r := confined(t)
	outside := t.TempDir()
	secret := filepath.Join(outside, "labels.npy")
	put(t, secret, integers(1, 2, 3))
	database := filepath.Join(outside, "runs.db")
	put(t, database, integers(1))
	other, err := os.MkdirTemp("", "ssdl-exec-*")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(other)
	put(t, filepath.Join(other, "X_train.npy"), integers(1))
	for name, c := range map[string]struct {
		body string
		ok   bool
	}{
		"data set":        {"cat " + secret, false},
		"store":           {"cat " + database, false},
		"writing to it":   {"echo x >> " + database, false},
		"folder":          {"ls " + outside, false},
		"another job":     {"cat " + other + "/X_train.npy", false},
		"list of folders": {"ls /tmp", false},
		"link to it":      {"ln " + secret + " tmp/x", false},
		"symbolic link":   {"ln -s " + secret + " tmp/x; cat tmp/x", false},
		"write outside":   {"echo x > " + outside + "/x", false},
		"this process":    {"cat /proc/$PPID/environ", false},
		"the system":      {"cat /etc/passwd > /dev/null", true},
		"its folder":      {"cat task.json X_train.npy labels.npy my.sh > tmp/x", true},
		"a child":         {"sh -c 'cat " + secret + "'", false},
	} {
		t.Run(name, func(t *testing.T) {
			m := &Method{Runner: r, Command: script(t, "set -e; "+c.body+"; cp answer.npy predictions.npy", map[string]func(io.Writer) error{"answer.npy": integers(0, 0, 0, 0)})}
			_, err := predict(t, t.Context(), m)
			if (err == nil) != c.ok || m.Record.Confined == Unconfined {
				t.Errorf("%v, %+v", err, m.Record)
			}
			if !c.ok && m.Record.State != Crashed {
				t.Errorf("%s: %v", m.Record.State, err)
			}
			if strings.Contains(m.Record.Stdout, "NUMPY") {
				t.Error("it has read what it must not")
			}
		})
	}
	if _, err := os.Stat(filepath.Join(outside, "x")); err == nil {
		t.Error("it has written outside its folder")
	}
}

// A confined program cannot open a connection if the kernel can forbid it.
func TestNoNetwork(t *testing.T) {
	r := confined(t)
	if r.confinement() != FilesAndNetwork {
		t.Skip("this kernel cannot forbid connections")
	}
	const bash = "/bin/bash"
	if _, err := os.Stat(bash); err != nil {
		t.Skip("there is no bash, which can open connections")
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	addr := strings.Replace(l.Addr().String(), ":", "/", 1)
	for _, self := range [][]string{nil, r.Self} {
		m := &Method{Runner: Runner{Self: self}, Command: script(t, "exec "+bash+" -c 'echo x > /dev/tcp/"+addr+" && cp answer.npy predictions.npy'", map[string]func(io.Writer) error{"answer.npy": integers(0, 0, 0, 0)})}
		if _, err := predict(t, t.Context(), m); (err == nil) != (self == nil) {
			t.Errorf("confined %v: %v", self != nil, err)
		}
	}
}

// The memory of a program and its children together is bounded, allocated at once or in parts.
func TestOutOfMemory(t *testing.T) {
	for name, body := range map[string]string{
		"itself":   `x=$(head -c 60000000 /dev/zero | tr '\0' a); sleep 100`,
		"children": `for i in 1 2 3 4; do (x=$(head -c 12000000 /dev/zero | tr '\0' a); sleep 20; :) & done; wait`,
	} {
		t.Run(name, func(t *testing.T) {
			m := &Method{Runner: Runner{Self: self(t), Memory: 40 << 20}, Command: script(t, body, nil)}
			_, err := predict(t, t.Context(), m)
			if m.Record.State != OutOfMemory || !strings.Contains(err.Error(), "--memory allows") {
				t.Errorf("%s: %v, %+v", m.Record.State, err, m.Record)
			}
		})
	}
}

// A process in its own session outlives the program; if it holds the output open, the run fails with that reason.
func TestProcessLeft(t *testing.T) {
	c := script(t, `cp answer.npy predictions.npy; setsid sh -c 'touch tmp/begun; exec sleep 3' & while [ ! -e tmp/begun ]; do sleep 0.01; done`, map[string]func(io.Writer) error{"answer.npy": integers(0, 0, 0, 0)})
	m := &Method{Command: c}
	_, err := predict(t, t.Context(), m)
	if err == nil || m.Record.State != Crashed || !strings.Contains(err.Error(), "a process that it started still holds its output open") {
		t.Errorf("%s: %v", m.Record.State, err)
	}
}
