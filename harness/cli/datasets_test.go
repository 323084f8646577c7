package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// An unknown name of a data set is an error of every verb; a known set without data, or one that only
// the store has, is not.
func TestUnknownDataSets(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"data", "other"} {
		if err := os.Mkdir(filepath.Join(dir, name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	table := []byte("1,2,0\n1,3,0\n5,1,1\n6,1,1\n")
	for name, content := range map[string][]byte{"data/tiny.csv": table, "other/small.csv": table, "s.yaml": []byte(spec8)} {
		if err := os.WriteFile(filepath.Join(dir, filepath.FromSlash(name)), content, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	try := func(line string) (code int, stderr string) {
		args := strings.Fields(line)
		if args[0] != "data" || args[1] == "stats" {
			args = append(args, "--results", "r")
		}
		code, _, stderr = inside(t, dir, args...)
		return code, stderr
	}
	unknown := func(line, hint string) {
		t.Helper()
		code, stderr := try(line)
		if code != exitNoData || !strings.Contains(stderr, "was not found (") || !strings.Contains(stderr, hint) || !strings.Contains(stderr, "stanford40, uiuc-se, sports8, synth40, synth8") {
			t.Errorf("ssdl %s ends with %d: %s; want %d and %q", line, code, stderr, exitNoData, hint)
		}
	}
	unknown("status -d nosuch", "Known names: ") // before there is a store
	if code, stderr := try("run s.yaml --data other -d small"); code != exitOK {
		t.Fatalf("%d: %s", code, stderr)
	}
	for _, verb := range []string{
		"report table1", "plan table1", "run table1", "status", "verify", "figure table1", "compare table1", "explain table1 SSDL",
		"reproduce", "check table1", "export table1", "archive -o a.zip",
	} {
		unknown(verb+" -d Stanford40", `did you mean "stanford40"?`)
		unknown(verb+" -d sports8,nosuch", "Known names: ")
	}
	for _, line := range []string{
		"explain table1 SSDL Stanford40", "data check Stanford40", "data hash -d Stanford40", "data split Stanford40", "data stats Stanford40",
		"data croissant Stanford40",
	} {
		unknown(line, `did you mean "stanford40"?`)
	}
	unknown("report s.yaml -d Tiny", `did you mean "tiny"?`)  // in a data folder
	unknown("report s.yaml -d smal", `did you mean "small"?`) // in the store
	for _, line := range []string{"report table1 -d stanford40", "report s.yaml -d small", "plan s.yaml -d small", "explain table1 crc tiny", "report s.yaml -d synth8"} {
		if code, stderr := try(line); code != exitOK {
			t.Errorf("ssdl %s ends with %d: %s", line, code, stderr)
		}
	}
	if code, stderr := try("data check stanford40"); code != exitNoData || !strings.Contains(stderr, "--data DIR") {
		t.Errorf("data that are known and missing: %d, %s", code, stderr)
	}
	if code, stderr := try("export -d sports8"); code != exitUsage || !strings.Contains(stderr, "narrow a spec: name it") {
		t.Errorf("export of no spec: %d, %s", code, stderr)
	}
}
