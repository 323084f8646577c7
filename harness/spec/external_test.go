package spec

import (
	"crypto/sha256"
	"encoding/hex"
	"flag"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ssdl/harness/job"
	"ssdl/methods/catalog"
)

var update = flag.Bool("update", false, "write testdata/identities.txt")

// Every existing store finds the jobs of the built-in tables by their keys: no change of the grammar may change a
// key. Only a new version of a method does, on purpose.
func TestIdentitiesOfTables(t *testing.T) {
	var got strings.Builder
	for _, name := range []string{"table1", "table2"} {
		s, err := Load(name)
		if err != nil {
			t.Fatal(err)
		}
		rows := map[string][]byte{}
		for _, c := range s.Cells() {
			for i := range c.Candidates {
				for _, eval := range []string{job.EvalVal, job.EvalTest} {
					for _, j := range s.Jobs(c, i, eval, s.Seeds) {
						rows[c.Row.ID] = append(rows[c.Row.ID], j.On("data", "split").Key()...)
					}
				}
			}
		}
		for _, r := range s.Rows {
			sum := sha256.Sum256(rows[r.ID])
			got.WriteString(name + " " + r.ID + " " + hex.EncodeToString(sum[:]) + "\n")
		}
	}
	const file = "testdata/identities.txt"
	if *update {
		if err := os.WriteFile(file, []byte(got.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(got.String(), "\n")); d != "" {
		t.Errorf("hashes of the keys of each row's jobs (-%s +now); if they should be so, run go test ./harness/spec -update:\n%s", file, d)
	}
}

const externalHead = `
name: outside
datasets: [tiny]
seeds: 1000..1001
split: {kind: class, train: 0.7, labels: 0.4}
rows:
`

func TestExternalRows(t *testing.T) {
	s, err := Parse("x.yaml", []byte(externalHead+`
  - id: mine
    exec: [python3, my.py, -v]
    files: [scripts/b.py, my.py]
    params: {lambda: {grid: [0.1, 2^-3]}, name: plain, on: true}
    tune: {zeta: {grid: [1, 2]}, alpha: {grid: [x, y]}}
    when: [{datasets: [tiny], params: {name: "7"}}]
  - id: taught
    method: ledl
    exec: [./mine]
    files: [mine]
    select: fixed
    pretext_params: {k: 5}
  - id: theirs
    predictions: "p/{dataset}-{seed}.npy"
    splits: "s/{dataset}-{seed}.json"
`))
	if err != nil {
		t.Fatal(err)
	}
	mine, taught, theirs := s.Rows[0], s.Rows[1], s.Rows[2]
	if mine.Method != job.ExecName || mine.Title() != "mine" || !cmp.Equal(mine.Files, []string{"my.py", "scripts/b.py"}) || !cmp.Equal(mine.Exec, []string{"python3", "my.py", "-v"}) {
		t.Errorf("%+v", mine)
	}
	if taught.Name() != "exec+ledl" || taught.Title() != "taught LEDL" {
		t.Errorf("%s, %s", taught.Name(), taught.Title())
	}
	cells := s.Cells()
	if len(cells) != 4 || len(cells[0].Candidates) != 4 {
		t.Fatalf("%d cells, %d candidates", len(cells), len(cells[0].Candidates))
	}
	// The order of candidates is that of the names of the parameters, not of the file.
	want := catalog.Values{"lambda": 0.1, "name": "7", "on": true, "zeta": 2., "alpha": "x"}
	if got := cells[0].Candidates[1].Params; !cmp.Equal(got, want) {
		t.Errorf("candidate %v, want %v", got, want)
	}
	j := s.Jobs(cells[2], 0, job.EvalTest, s.Seeds)[0]
	if j.Name() != "exec+ledl" || !cmp.Equal(j.Pretext.Params, map[string]any{"k": 5.}) || j.Pretext.Version != externalVersion {
		t.Errorf("%+v", j)
	}
	j = s.Jobs(cells[3], 0, job.EvalTest, s.Seeds)[1]
	if j.Predictions != (Predictions{"p/tiny-1001.npy", "s/tiny-1001.json"}) || theirs.Select != SelectFixed || theirs.Title() != "theirs (not run here)" || j.Method.Name != job.PredictionsName {
		t.Errorf("%+v", j)
	}
}

func TestFaultsOfExternalRows(t *testing.T) {
	for row, want := range map[string]string{
		`{id: a}`:                                                       "a row needs a method, a pretext, or both",
		`{id: a, method: crc, files: [x]}`:                              "files belongs to exec",
		`{id: a, method: crc, splits: x}`:                               "splits belongs to predictions",
		`{id: a, exec: python3}`:                                        "exec must be a list",
		`{id: a, exec: [x], files: [../x]}`:                             "must be a plain path below the folder",
		`{id: a, exec: [x], files: [/x]}`:                               "must be a plain path below the folder",
		`{id: a, exec: [x], files: [a/./x]}`:                            "must be a plain path below the folder",
		`{id: a, exec: [x], files: [x, x]}`:                             `files has "x" twice`,
		`{id: a, exec: [x], pretext: hl}`:                               "exec takes no pseudo labels",
		`{id: a, exec: [x], method: crc}`:                               "crc takes no pseudo labels, so it cannot follow exec",
		`{id: a, exec: [x], params: {loss: 1}}`:                         `"loss" cannot name a parameter`,
		`{id: a, exec: [x], params: {a-b: 1}}`:                          `"a-b" cannot name a parameter`,
		`{id: a, exec: [x], params: {a: }}`:                             "needs a value, not nothing",
		`{id: a, exec: [x], params: {a: 007}}`:                          "without the leading zero",
		`{id: a, exec: [x], pretext_params: {a: 1}}`:                    "the row has no pretext",
		`{id: a, exec: [x], predictions: y, splits: z}`:                 "not both",
		`{id: a, predictions: y}`:                                       `predictions need "splits"`,
		`{id: a, predictions: y, splits: z, params: {a: 1}}`:            "a row of predictions has no params",
		`{id: a, predictions: "y-{sed}.npy", splits: z}`:                "braces may stand only in {dataset} and {seed}",
		`{id: a, predictions: y, splits: z, select: val}`:               "select of a row of predictions is fixed",
		`{id: a, exec: [x], select: fixed, tune: {a: {grid: [1, 2]}}}`:  "select is fixed",
		`{id: a, exec: [x], params: {a: 1}, tune: {a: {grid: [1, 2]}}}`: "a is tuned, but on line",
	} {
		_, err := Parse("x.yaml", []byte(externalHead+"  - "+row+"\n"))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", row, err, want)
		}
	}
}
