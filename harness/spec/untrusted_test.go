package spec_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
	"unicode"

	"ssdl/harness/spec"
)

const plainHead = "name: x\ndatasets: [a]\nseeds: 1\nsplit: {kind: class}\n"

// refused parses a spec that must be refused. Most take milliseconds and a few megabytes, the
// worst half a second and 400 MB; the bounds, 5 s and 1 GiB allocated in all, leave room for a busy
// machine, and a bomb breaks them. The message says all of wants and has no control characters but
// the ends of its lines.
func refused(t *testing.T, src string, wants ...string) {
	t.Helper()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	start := time.Now()
	_, err := spec.Parse("x.yaml", []byte(src))
	took := time.Since(start)
	runtime.ReadMemStats(&after)
	var list spec.Errors
	if !errors.As(err, &list) {
		t.Fatalf("%.60q is taken, or its error is no spec.Errors: %v", src, err)
	}
	for _, w := range wants {
		if !strings.Contains(err.Error(), w) {
			t.Errorf("%.60q: %.300q does not say %q", src, err, w)
		}
	}
	if took > 5*time.Second {
		t.Errorf("%.60q took %v", src, took)
	}
	if n := after.TotalAlloc - before.TotalAlloc; n > 1<<30 {
		t.Errorf("%.60q took %d MB", src, n>>20)
	}
	for _, r := range err.Error() {
		if unicode.IsControl(r) && r != '\n' || unicode.Is(unicode.Bidi_Control, r) {
			t.Errorf("%.60q: the message has the control character %U", src, r)
		}
	}
}

// A few lines that expand to billions are refused at their first alias; specs that are too deep, long or wide
// are refused too.
func TestYAMLBombs(t *testing.T) {
	var laughs strings.Builder
	laughs.WriteString("a0: &a0 [lol, lol, lol, lol, lol, lol, lol, lol, lol]\n")
	for i := 1; i < 10; i++ {
		fmt.Fprintf(&laughs, "a%d: &a%d [%s]\n", i, i, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*a%d, ", i-1), 9), ", "))
	}
	refused(t, laughs.String()+plainHead+"rows: *a9\n", "anchors (&a0) are not supported", "aliases (*a9) are not supported")
	refused(t, plainHead+"rows: &r [{method: src, params: *r}]\n", "anchors", "aliases")
	refused(t, "<<: &m {name: x}\n"+plainHead+"rows: [{<<: *m, method: src}]\n", "aliases")

	refused(t, plainHead+"rows: "+strings.Repeat("[", 200_000), "x.yaml")
	refused(t, plainHead+"rows: "+strings.Repeat("[", 5_000)+strings.Repeat("]", 5_000)+"\n", "x.yaml")
	refused(t, plainHead+"rows: "+strings.Repeat("{a: ", 5_000)+strings.Repeat("}", 5_000)+"\n", "x.yaml")
	refused(t, strings.Repeat("- ", 300_000), "x.yaml")
	refused(t, strings.Repeat("x", 1<<20+1), "larger than 1048576 bytes")
	refused(t, strings.Repeat("? ", 100_000), "x.yaml")
	refused(t, plainHead+"rows: !!binary "+strings.Repeat("A", 1000), "tags")
	refused(t, "%TAG ! tag:evil,2000:\n---\n"+plainHead+"rows: !x [{method: src}]\n", "tags")
}

// Specs with more jobs than anybody can run are refused.
func TestGridBombs(t *testing.T) {
	row := "rows: [{method: crc, params: {lambda: %s}}]\n"
	refused(t, strings.Replace(plainHead, "seeds: 1", "seeds: 1..18446744073709551615", 1)+"rows: [{method: src}]\n", "x.yaml:3")
	refused(t, strings.Replace(plainHead, "seeds: 1", "seeds: 0..99999999", 1)+"rows: [{method: src}]\n", "x.yaml:3")
	refused(t, plainHead+fmt.Sprintf(row, "{range: [0, 1, 1e-300]}"), "x.yaml:5")
	refused(t, plainHead+fmt.Sprintf(row, "{range: [0, 1e308, 1e-3]}"), "x.yaml:5")
	refused(t, plainHead+fmt.Sprintf(row, "{log2: [-1000000000, 1000000000]}"), "x.yaml:5")
	refused(t, plainHead+fmt.Sprintf(row, "2^999999999"), "x.yaml:5")
	refused(t, plainHead+fmt.Sprintf(row, "{grid: ["+strings.TrimSuffix(strings.Repeat("1, ", 200_000), ", ")+"]}"), "x.yaml")
}

// Terminal sequences, and names that are paths, are refused.
func TestStrangersNames(t *testing.T) {
	for _, name := range []string{`"../x"`, `".."`, `"."`, `"/etc/x"`, `"a/b"`, `"a\\b"`, `"C:x"`, `"a b"`, `"-rf"`, `".hidden"`, `"a\x1b[2Jb"`, `"a\x00"`, `"a\nb"`, `"\u202Ex"`, `"é"`, `""`} {
		refused(t, strings.Replace(plainHead, "name: x", "name: "+name, 1)+"rows: [{method: src}]\n", "x.yaml:1")
		refused(t, strings.Replace(plainHead, "[a]", "["+name+"]", 1)+"rows: [{method: src}]\n", "x.yaml:2")
		refused(t, plainHead+"rows: [{method: src, id: "+name+"}]\n", "x.yaml:5")
	}
	for _, field := range []string{"\"a\\e[2J\": 1", "? \"a\\x1b]0;x\\x07\"\n: 1"} {
		refused(t, plainHead+"rows: [{method: src}]\n"+field+"\n", "x.yaml:6")
	}
	refused(t, plainHead+"rows: [{method: \"src\\e[2J\"}]\n", "x.yaml:5")
	refused(t, plainHead+"rows: [{method: src, params: {\"lambda\\e[1m\": 1}}]\n", "x.yaml:5")
	refused(t, plainHead+"rows: [{method: src, params: {mode: \"\\e[1m\"}}]\n", "x.yaml:5")
}

// A file that is not a spec is not read to its end: it may be endless.
func TestLoadNoPlainFile(t *testing.T) {
	dir := t.TempDir()
	if _, err := os.Stat("/dev/zero"); err != nil {
		t.Skip("there is no /dev/zero here")
	}
	path := filepath.Join(dir, "x.yaml")
	if err := os.Symlink("/dev/zero", path); err != nil {
		t.Skipf("no links here: %v", err)
	}
	_, err := spec.Load(path)
	if err == nil || !strings.Contains(err.Error(), "larger than") {
		t.Errorf("error %v", err)
	}
	if _, err := spec.Load(filepath.Join(dir, ".yaml")); err == nil {
		t.Error("a file that is not there was read")
	}
}
