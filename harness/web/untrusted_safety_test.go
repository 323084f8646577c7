package web_test

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/chromedp/chromedp"

	"ssdl/harness/cli"
	"ssdl/harness/data"
	"ssdl/harness/store"
)

// untrusted is text that anybody may put into specs, data and archives. It attacks browsers, templates,
// SVG and terminals.
var untrusted = []string{
	"<script>document.title='owned'</script>", "<img src=x onerror=\"document.title='owned'\">", `" onload="document.title='owned'`,
	"</title></svg><script>document.title='owned'</script>", "</script><script>document.title='owned'</script>", "javascript:document.title='owned'",
	"{{.}}{{template \"frame.html\" .}}", "]]>--><!--<b>", "&lt;b&gt;&amp;", "a\x1b[2J\x1b]0;owned\x07\u202eb", "<a href=//evil.example/>x</a>", "'`${document.title='owned'}`",
}

// untrustedStore is a results folder with such text in every field of a store or a spec that takes
// text.
func untrustedStore(t *testing.T) (dir string, args []string) {
	t.Helper()
	dir = t.TempDir()
	next := 0
	text := func() string { next++; return untrusted[next%len(untrusted)] }
	var rows strings.Builder
	for i := range untrusted {
		fmt.Fprintf(&rows, "  - {id: r%d, label: %q, method: crc, select: fixed, params: {lambda: %g}}\n", i, text(), 0.1+float64(i))
	}
	spec := fmt.Sprintf("name: bad\ntitle: %q\ndatasets: [bad]\nseeds: 1000..1001\nsplit: {kind: class, train: 0.7, labels: 0.4}\nselect: fixed\nrows:\n%s"+
		"  - {id: swept, label: %q, method: ssdl, params: {K: 10, iterations: 2, norm: {grid: [ball, sphere]}}}\n", text(), rows.String(), text())
	for name, content := range map[string][]byte{"data/bad.csv": tinySet(3), "bad.yaml": []byte(spec)} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, content, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	set, err := data.Load(t.Context(), filepath.Join(dir, "data", "bad.csv"), data.Options{})
	if err != nil {
		t.Fatal(err)
	}
	st, err := store.Open(t.Context(), filepath.Join(dir, "results", "runs.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	// The first registration stays.
	is := store.Dataset{Hash: set.Hash, Name: "bad", Samples: set.Samples(), Dim: set.Dim(), Classes: 3, Source: text(), ClassNames: []string{text(), text(), text()}}
	if err := st.Register(t.Context(), []store.Dataset{is}, nil); err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	args = []string{filepath.Join(dir, "bad.yaml"), "--data", filepath.Join(dir, "data"), "--results", filepath.Join(dir, "results")}
	if code := cli.Main(context.Background(), nil, append([]string{"run"}, args...), nil, &out, &out); code != 0 {
		t.Fatal(out.String())
	}
	var entries []store.RunRecord
	if err := st.Each(t.Context(), nil, func(e store.RunRecord) error { entries = append(entries, e); return nil }); err != nil {
		t.Fatal(err)
	}
	for i := range entries {
		if _, entries[i].Run, err = st.RunByUID(t.Context(), entries[i].Run.UID); err != nil { // with its predictions
			t.Fatal(err)
		}
	}
	for i, e := range entries {
		e.Run.Replaces, e.Run.UID = e.Run.UID, store.NewUID()
		e.Run.Env = map[string]string{"cpu": text(), text(): text(), "modules": text() + "; " + text()}
		e.Run.Reason = text()
		e.Run.Metrics[text()] = 1
		for k := range 3 {
			e.Run.Series = append(e.Run.Series, store.Point{Name: text(), Iteration: k, Value: 1}, store.Point{Name: "one" + untrusted[i%len(untrusted)], Iteration: k, Value: float64(k)})
		}
		if i%4 == 0 { // an attempt that failed
			e.Run.Status, e.Run.Error, e.Run.Metrics, e.Run.Predictions, e.Run.Truth, e.Run.Replaces = store.StatusError, text(), nil, nil, nil, ""
		}
		seen := map[string]bool{}
		e.Run.Series = slices.DeleteFunc(e.Run.Series, func(p store.Point) bool {
			key := fmt.Sprint(p.Name, p.Iteration)
			was := seen[key]
			seen[key] = true
			return was
		})
		if err := st.Record(t.Context(), e.Job, e.Run); err != nil {
			t.Fatal(err)
		}
	}
	return dir, args
}

// harmless fails if text became an element or an attribute.
const harmless = `(() => {
  const bad = [];
  if (document.title.startsWith("owned")) bad.push("a script ran");
  for (const e of document.querySelectorAll("main *")) {
    if (/^(script|img|iframe|object|b|base|form)$/i.test(e.tagName) && !e.closest("form.tools") && !(e.tagName === "B" && e.closest(".big, .tests, .progress, th, .note"))) bad.push(e.outerHTML.slice(0, 80));
    for (const a of e.attributes) if (/^on/i.test(a.name) || a.name === "style" || /^(javascript|data|http|\/\/)/i.test(a.value) && /href|src|action/.test(a.name)) bad.push(e.tagName + " " + a.name + "=" + a.value);
  }
  return bad.join("; ");
})()`

// Text of a spec, a data set or a store stays text on every page, in the server and in a file.
func TestUntrustedText(t *testing.T) {
	b := newBrowser(t)
	dir, args := untrustedStore(t)
	address := serve(t, args...)
	pages := crawl(t, address)
	seen := 0
	for path, page := range pages {
		for _, r := range page {
			if unicode.IsControl(r) && r != '\n' && r != '\t' || unicode.Is(unicode.Bidi_Control, r) {
				t.Errorf("%s has the character %U", path, r)
				break
			}
		}
		b.open(address + path)
		if what := eval[string](b, harmless); what != "" {
			t.Errorf("%s: %s", path, what)
		}
		seen += strings.Count(page, "&lt;script&gt;document")
	}
	if len(pages) < 40 || seen < 50 {
		t.Errorf("%d pages show such text %d times: little was tested", len(pages), seen)
	}
	b.clean("pages")
	at := filepath.Join(dir, "results.html")
	var out strings.Builder
	if code := cli.Main(context.Background(), nil, append([]string{"site", "-o", at}, args...), nil, &out, &out); code != 0 {
		t.Fatal(out.String())
	}
	file := (&url.URL{Scheme: "file", Path: at}).String()
	b.open(file)
	for path := range pages {
		if strings.HasPrefix(path, "/runs") || path == "/live" {
			continue
		}
		b.do(chromedp.Evaluate[chromedp.Void]("location.hash = " + fmt.Sprintf("%q", path)))
		b.until(fmt.Sprintf("document.getElementById('main').dataset.path === %q", path))
		if what := eval[string](b, harmless); what != "" {
			t.Errorf("%s in a file: %s", path, what)
		}
	}
	b.clean("the file")
}
