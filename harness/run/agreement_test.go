package run

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"ssdl/harness/executor"
	"ssdl/harness/spec"
	"ssdl/harness/store"
)

// CRC in Python, Octave and R predicts what the program does, on at least 99.9 % of the test samples; the
// same holds for the others within what their rows of docs/exec.md say. All rows under all seeds are
// compared with SSDL_AGREEMENT=1, which takes minutes, else those of CRC under one seed.
func TestProgramsAgree(t *testing.T) {
	root := os.Getenv("SSDL_DATA")
	if _, err := os.Stat(filepath.Join(root, "sports8")); root == "" || err != nil {
		t.Skip("SSDL_DATA has no sports8")
	}
	t.Chdir("../..")
	s, err := spec.Load("scripts/exec/agreement.yaml")
	if err != nil {
		t.Fatal(err)
	}
	all := os.Getenv("SSDL_AGREEMENT") != ""
	filter := spec.Filter{Seeds: s.Seeds[:1]}
	if all {
		filter.Seeds = s.Seeds
	}
	for _, r := range s.Rows {
		switch {
		case !all && !strings.HasPrefix(r.ID, "crc"):
			continue
		case r.Exec != nil && !installed(r.Exec[0]):
			t.Logf("%s is left out: its interpreter is not installed", r.ID)
			continue
		}
		filter.Methods = append(filter.Methods, r.ID)
	}
	if s, err = s.Select(filter); err != nil {
		t.Fatal(err)
	}
	st, err := store.Open(t.Context(), filepath.Join(t.TempDir(), "runs.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	r := &Runner{Store: st, Library: &executor.Library{Roots: filepath.SplitList(root)}, Jobs: 1}
	p, sum, err := r.Run(t.Context(), s)
	if err != nil || sum.Failed > 0 {
		t.Fatalf("%+v, %v", sum, err)
	}
	predicted := map[string][]int{}
	for _, c := range p.Cells {
		for _, task := range c.Final {
			_, run, err := st.RunByUID(t.Context(), task.Result.UID)
			if err != nil {
				t.Fatal(err)
			}
			predicted[c.Row.ID] = append(predicted[c.Row.ID], run.Predictions...)
		}
	}
	for _, c := range p.Cells {
		built, language, external := strings.Cut(c.Row.ID, "-")
		if !external {
			continue
		}
		same := 0
		for i, y := range predicted[built] {
			if y == predicted[c.Row.ID][i] {
				same++
			}
		}
		n := len(predicted[built])
		t.Logf("%s in %s: %d of %d predictions are equal, %.2f %%", built, language, same, n, 100*float64(same)/float64(n))
		if least := agreements[built]; float64(same) < least*float64(n) {
			t.Errorf("%s: %d of %d predictions are equal, want %g %%", c.Row.ID, same, n, 100*least)
		}
	}
}

// agreements are the least shares of equal predictions. LEDL starts from other random atoms.
var agreements = map[string]float64{"crc": 0.999, "src": 0.99, "ledl": 0.95}

// installed reports whether a program of the adapters can be run; Python needs numpy.
func installed(program string) bool {
	if program == "python3" {
		return exec.Command(program, "-c", "import numpy").Run() == nil
	}
	_, err := exec.LookPath(program)
	return err == nil
}
