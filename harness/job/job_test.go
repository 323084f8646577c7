package job

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func someJob() Job {
	return Job{
		DatasetHash: "d0", SplitHash: "e1", Seed: 1<<64 - 1, Eval: EvalVal, Protocol: 1,
		Method:  Part{Name: "ssdl", Version: 2, Params: map[string]any{"variant": "as-intended", "alpha": 1. / (1 << 14), "K": 512, "x": true}},
		Pretext: Part{Name: "pahl", Version: 1, Params: map[string]any{"p": 1.8}},
	}
}

// The encoding is fixed by every existing store: it must not change.
func TestEncodingIsFrozen(t *testing.T) {
	j := someJob()
	const want = `{"dataset":"d0","split":"e1",` +
		`"method":{"name":"ssdl","version":2,"params":{"K":512,"alpha":0.00006103515625,"variant":"as-intended","x":true}},` +
		`"pretext":{"name":"pahl","version":1,"params":{"p":1.8}},"seed":18446744073709551615,"eval":"val","metric_version":1}`
	if got := string(j.Encode()); got != want {
		t.Errorf("encoded\n%s, want\n%s", got, want)
	}
	if got, want := j.Key(), "e486ac70"; !strings.HasPrefix(got, want) || len(got) != 64 {
		t.Errorf("key %s, want %s...", got, want)
	}
	alone := Job{Pretext: Part{Name: "hl", Version: 1, Params: map[string]any{}}, Eval: EvalTest, Score: ScoreOOS, Protocol: 1}
	const wantAlone = `{"dataset":"","split":"","pretext":{"name":"hl","version":1,"params":{}},` +
		`"seed":0,"eval":"test","score":"oos","metric_version":1}`
	if got := string(alone.Encode()); got != wantAlone {
		t.Errorf("encoded\n%s, want\n%s", got, wantAlone)
	}
	if j.Name() != "pahl+ssdl" || alone.Name() != "hl" {
		t.Errorf("names %s and %s", j.Name(), alone.Name())
	}
}

func TestDecode(t *testing.T) {
	j := someJob()
	got, err := Decode(j.Encode())
	if err != nil {
		t.Fatal(err)
	}
	if got.Key() != j.Key() {
		t.Errorf("decoded %+v has another key than %+v", got, j)
	}
	if k, ok := got.Method.Params["K"].(float64); !ok || k != 512 {
		t.Errorf("K is %v (%[1]T), want the number 512", got.Method.Params["K"])
	}
	good := string(j.Encode())
	for _, bad := range []string{
		"", "{", "null", "[]", good + " ", good + "{}", " " + good,
		strings.Replace(good, `"seed"`, `"sed"`, 1),
		strings.Replace(good, `"K":512`, `"K":5.12e2`, 1),
		strings.Replace(good, `"K":512`, `"K":[512]`, 1),
		strings.Replace(good, `"K":512`, `"K":null`, 1),
		strings.Replace(good, `"K":512,"alpha":0.00006103515625`, `"alpha":0.00006103515625,"K":512`, 1),
		strings.Replace(good, `"eval":"val"`, `"eval":"val","score":""`, 1),
		strings.Replace(good, `"eval":"val"`, `"eval":"test","eval":"val"`, 1),
	} {
		if j, err := Decode([]byte(bad)); err == nil {
			t.Errorf("decoded %s as %+v", bad, j)
		}
	}
}

func FuzzDecode(f *testing.F) {
	f.Add(someJob().Encode())
	f.Fuzz(func(t *testing.T, raw []byte) {
		j, err := Decode(raw)
		if err == nil && !bytes.Equal(j.Encode(), raw) {
			t.Errorf("%s decodes to what encodes as %s", raw, j.Encode())
		}
	})
}

func TestChanges(t *testing.T) {
	was := Job{DatasetHash: "d", SplitHash: "s", Method: Part{Name: "crc", Version: 1, Params: map[string]any{"lambda": 0.5}}, Eval: EvalTest, Seed: 3, Protocol: 1}
	raised := was
	raised.Method.Version = 2
	if !raised.SameQuestion(was) || raised.Key() == was.Key() {
		t.Error("a new version must change the key and not the question")
	}
	other := was
	other.Method.Params = map[string]any{"lambda": 0.25}
	if other.SameQuestion(was) {
		t.Error("other parameters must change the question")
	}
	moved, split, later := raised, was, was
	moved.DatasetHash, moved.SplitHash = "e", "t"
	split.SplitHash = "t"
	later.Protocol = 2
	for _, c := range []struct {
		is   Job
		want []Change
	}{
		{was, nil},
		{moved, []Change{{"data", "d", "e"}, {"method version", "1", "2"}}},
		{split, []Change{{"split", "s", "t"}}},
		{later, []Change{{"protocol version", "1", "2"}}},
	} {
		if diff := cmp.Diff(c.want, c.is.Changes(was)); diff != "" {
			t.Errorf("changes (-want +got):\n%s", diff)
		}
	}
}

// An external program is part of a job by its arguments, its files and its interpreter. A file that
// changes makes another job of the same question; other arguments make another question.
func TestExternalParts(t *testing.T) {
	of := func(args, content, version string) Job {
		j := someJob()
		j.Method = Part{Name: ExecName, Version: 1, Params: map[string]any{"lambda": 0.1}, Command: &Command{
			Args: []string{"python3", args}, Files: []File{{"my.py", content}}, Interpreter: version,
		}}
		return j
	}
	was := of("my.py", "aa", "Python 3.11.2")
	back, err := Decode(was.Encode())
	if err != nil || back.Key() != was.Key() {
		t.Fatalf("decoded %+v, %v", back, err)
	}
	for name, c := range map[string]struct {
		is      Job
		same    bool
		changes []Change
	}{
		"file":        {of("my.py", "bb", "Python 3.11.2"), true, []Change{{"my.py", "aa", "bb"}}},
		"interpreter": {of("my.py", "aa", "Python 3.12.0"), true, []Change{{"interpreter", "Python 3.11.2", "Python 3.12.0"}}},
		"arguments":   {of("other.py", "aa", "Python 3.11.2"), false, nil},
	} {
		if c.is.Key() == was.Key() || c.is.SameQuestion(was) != c.same || !cmp.Equal(c.is.Changes(was), c.changes) {
			t.Errorf("%s: same question %v, changes %v", name, c.is.SameQuestion(was), c.is.Changes(was))
		}
	}
	elsewhere := someJob()
	elsewhere.Method = Part{Name: PredictionsName, Version: 1, Params: map[string]any{}, Predictions: &File{"p.npy", "aa"}}
	changed := elsewhere
	changed.Method.Predictions = &File{"p.npy", "bb"}
	if !changed.SameQuestion(elsewhere) || changed.Key() == elsewhere.Key() {
		t.Error("predictions that changed are the same job, or another question")
	}
	if back, err := Decode(elsewhere.Encode()); err != nil || !cmp.Equal(back, elsewhere) {
		t.Errorf("decoded %+v, %v", back, err)
	}
}
