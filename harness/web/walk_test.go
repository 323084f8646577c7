package web_test

import (
	"context"
	"encoding/json"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"ssdl/harness/cli"
	"ssdl/harness/store"
)

// broad matches pages with a chart that a narrow window scrolls: it has a point for each reading or sample.
var broad = regexp.MustCompile("^/(readings|data)/")

// Under the policy the browser reports no error on any kind of page, no page is wider than a phone, and no chart is
// crowded, except on broad pages.
func TestPagesInABrowser(t *testing.T) {
	b := newBrowser(t)
	address := serve(t, labArgs(t)...)
	for _, path := range onePerKind(crawl(t, address)) {
		for _, width := range []int64{1280, 360} {
			b.dress(width, "dark")
			b.open(address + path)
			if what := eval[string](b, overflow); what != "" {
				t.Errorf("%s is wider than %d: %s", path, width, what)
			}
			if what := eval[string](b, crowded); what != "" && !broad.MatchString(path) {
				t.Errorf("charts of %s at %d: %s", path, width, what)
			}
		}
		b.clean(path)
		if n := eval[int](b, `document.querySelectorAll("main h1").length`); n != 1 {
			t.Errorf("%s has %d headings of the first rank", path, n)
		}
		if n := eval[float64](b, `Math.max(0, ...[...document.querySelectorAll("tbody th")].map((e) => e.getBoundingClientRect().height))`); n > 200 {
			t.Errorf("%s has a row head that is %v high in a narrow window", path, n)
		}
		if s := eval[string](b, `[...document.querySelectorAll("svg.chart")].filter((e) => !e.getAttribute("aria-label")).length + ""`); s != "0" {
			t.Errorf("%s has %s charts without a name", path, s)
		}
	}
	for _, r := range b.requests {
		if !strings.HasPrefix(r, address+"/") && !strings.HasPrefix(r, "data:") {
			t.Errorf("a page asks for %s", r)
		}
	}
}

// A reader clicks from the front page to a table, a cell, a run and a comparison.
func walk(t *testing.T, b *browser, start string) {
	t.Helper()
	click := func(selector, heading string) {
		t.Helper()
		b.click(selector)
		b.until(`document.querySelector("main h1")?.textContent.includes(` + "`" + heading + "`" + `)`)
	}
	b.open(start)
	if s := b.text("h1"); s != "What of the paper holds" {
		t.Errorf("the front page is headed %q", s)
	}
	click(`main h2 a[href$="/table/table1"]`, "Table 1")
	click(`td a[href$="/cell/table1/crc/stanford40"]`, "CRC")
	if s := b.text("main"); !strings.Contains(s, "Candidates") || !strings.Contains(s, "70.1") {
		t.Errorf("the cell says neither its candidates nor the printed number:\n%s", s)
	}
	click(`th a[href*="/run/"]`, "CRC on Stanford40, seed 1000")
	click(`.steps a`, "seed 1001")
	click(`.steps a:first-child`, "seed 1000")
	if s := b.text("main"); !strings.Contains(s, "Provenance") || !strings.Contains(s, "Mistaken for") {
		t.Errorf("the run says too little:\n%s", s)
	}
	for _, what := range []string{"data hash", "split hash", "job hash"} {
		is := "[...document.querySelectorAll('dt')].find((e) => e.textContent === '" + what + "').nextElementSibling.firstElementChild"
		full, short := eval[string](b, is+".dataset.copy"), eval[string](b, is+".textContent")
		if len(full) != 64 || short != full[:12] {
			t.Errorf("the %s of the run is shown as %q, and copied as %q", what, short, full)
		}
	}
	click(`.crumbs a[href*="/cell/"]`, "CRC")
	click(`.inline a[href*="/compare/"]`, "against")
	if s := b.text("main"); !strings.Contains(s, "Nadeau and Bengio") || !strings.Contains(s, "Neither") {
		t.Errorf("the comparison says too little:\n%s", s)
	}
	b.clean("the walk")
}

func TestWalk(t *testing.T) {
	b := newBrowser(t)
	walk(t, b, serve(t, labArgs(t)...)+"/")
}

// shown returns the titles of the rows that a table shows.
const shown = `[...document.querySelectorAll("table.results tbody tr")].filter((r) => !r.hidden).map((r) => r.dataset.role + ":" + r.cells[0].dataset.v.trim()).join(", ")`

// The address has the state of a table: opened again, it shows the same.
func tableState(t *testing.T, b *browser, page string) {
	t.Helper()
	b.open(page)
	b.until(`document.querySelector("[data-tools]")`)
	original := eval[string](b, shown)
	b.click(`th.num:not(.paper) button`)
	down := eval[[]float64](b, `[...document.querySelectorAll("table.results tbody td.ours")].filter((c) => c.dataset.set === "stanford40" && c.dataset.v).map((c) => Number(c.dataset.v))`)
	if len(down) < 3 || !slices.IsSortedFunc(down, func(a, b float64) int {
		if a >= b {
			return -1
		}
		return 1
	}) {
		t.Errorf("sorted from the best: %v", down)
	}
	b.click(`input[name=role][value=variant]`)
	b.click(`input[name=set][value=sports8]`)
	b.do(chromedp.SendKeys(chromedp.CSS(`input[name=q]`), "s"))
	sorted, address := eval[string](b, shown), eval[string](b, "location.href")
	if strings.Contains(sorted, "variant:") || strings.Contains(sorted, "paper:CRC") || sorted == original {
		t.Errorf("after filtering there are %s", sorted)
	}
	for _, want := range []string{"sort=", "dir=down", "no-role=variant", "no-set=sports8", "q=s"} {
		if !strings.Contains(address, want) {
			t.Errorf("the address %s lacks %s", address, want)
		}
	}
	b.do(chromedp.Navigate("about:blank"))
	b.open(address)
	b.until(`document.querySelector("[data-tools]")`)
	if again := eval[string](b, shown); again != sorted {
		t.Errorf("opened again the table shows %s, want %s", again, sorted)
	}
	if n := eval[int](b, `[...document.querySelectorAll("[data-set=sports8]")].filter((c) => !c.hidden).length`); n != 0 {
		t.Errorf("%d cells of the hidden data set are shown", n)
	}
	b.click(`input[name=role][value=variant]`)
	b.do(chromedp.SendKeys(chromedp.CSS(`input[name=q]`), "\b"))
	b.click(`th.num:not(.paper) button`)
	b.click(`th.num:not(.paper) button`)
	if back := eval[string](b, shown); back != original {
		t.Errorf("without sort and filters there are %s, want %s", back, original)
	}
	b.clean("the table")
}

func TestTableState(t *testing.T) {
	b := newBrowser(t)
	tableState(t, b, serve(t, labArgs(t)...)+"/table/table1")
}

// Selecting a value of a switch filters the readings, and a click on a reading opens it.
func TestReadings(t *testing.T) {
	b := newBrowser(t)
	address := serve(t, labArgs(t)...)
	b.open(address + "/readings/multiverse")
	const left = `document.querySelectorAll("svg [data-key]:not(.off)").length`
	if n := eval[int](b, left); n != 8 {
		t.Fatalf("%d readings, want 2 x 2 x 2", n)
	}
	b.do(chromedp.SetValue(chromedp.CSS(`select[name=norm]`), "ball"), chromedp.Evaluate[chromedp.Void](`document.querySelector("select[name=norm]").dispatchEvent(new Event("change", {bubbles: true}))`))
	if n := eval[int](b, left); n != 4 {
		t.Errorf("%d readings with norm=ball, want 4", n)
	}
	if s := eval[string](b, "location.search"); s != "?norm=ball" {
		t.Errorf("the address has %q", s)
	}
	b.do(chromedp.Reload())
	b.until(left + " === 4")
	if s := b.text("[data-count]"); s != "4 of 8 readings" {
		t.Errorf("it says %q", s)
	}
	path := eval[string](b, `document.querySelector("svg a[data-key]:not(.off)").getAttribute("href")`)
	b.do(chromedp.Evaluate[chromedp.Void](`document.querySelector("svg a[data-key]:not(.off)").dispatchEvent(new MouseEvent("click", {bubbles: true, cancelable: true, view: window}))`))
	b.until(`location.pathname === ` + "`" + path + "`")
	b.until(`document.readyState === "complete" && document.querySelector("main h1")`)
	if s := b.text("h1"); !strings.Contains(s, "norm=ball") {
		t.Errorf("the reading opened is %q", s)
	}
	b.clean("readings")
}

// The live page follows other programs, also before the store exists: what has failed, what runs, what
// is done.
func TestLive(t *testing.T) {
	b := newBrowser(t)
	data, dir := filepath.Join(labFolder(t), "data"), filepath.Join(t.TempDir(), "new")
	spec := filepath.Join(labFolder(t), "sweep.yaml")
	args := []string{spec, "--data", data, "--results", dir}
	ssdl := func(want int, args ...string) string {
		t.Helper()
		var out strings.Builder
		if code := cli.Main(t.Context(), nil, args, nil, &out, &strings.Builder{}); code != want {
			t.Fatalf("ssdl %v ends with %d: %s", args, code, out.String())
		}
		return out.String()
	}
	b.open(serve(t, args...) + "/live")
	if s := b.text("main"); !strings.Contains(s, "does not exist yet") {
		t.Errorf("before the first run it says %q", s)
	}
	ssdl(4, append([]string{"run", "--timeout", "1ns"}, args...)...)
	b.until(`document.querySelector(".progress")?.textContent.includes("10 failed")`)

	var plans struct{ Jobs []struct{ Key string } }
	if err := json.Unmarshal([]byte(ssdl(0, append([]string{"plan", "--format", "json"}, args...)...)), &plans); err != nil || len(plans.Jobs) != 10 {
		t.Fatalf("%d jobs, %v", len(plans.Jobs), err)
	}
	st, err := store.Open(t.Context(), filepath.Join(dir, "runs.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	release, ok, err := st.Claim(plans.Jobs[0].Key)
	if err != nil || !ok {
		t.Fatal(ok, err)
	}
	b.until(`document.querySelector(".running")?.textContent.includes("CRC on stanford40, seed 1000")`)
	release()
	b.until(`!document.querySelector(".running")`)

	ssdl(0, append([]string{"run", "--retry", "failed"}, args...)...)
	b.until(`document.querySelector("progress")?.value === 10 && document.querySelector("main").textContent.includes("Latest of 20 runs")`)
	b.clean("the live page")
}

// One file has the same pages and loads nothing; the same clicks and table states work in it.
func TestFile(t *testing.T) {
	b := newBrowser(t)
	at, again := filepath.Join(t.TempDir(), "results.html"), filepath.Join(t.TempDir(), "again.html")
	for _, name := range []string{at, again} {
		var out strings.Builder
		if code := cli.Main(context.Background(), nil, append([]string{"site", "-o", name}, labArgs(t)...), nil, &out, &out); code != 0 {
			t.Fatal(out.String())
		}
	}
	one, err := os.ReadFile(at)
	if err != nil {
		t.Fatal(err)
	}
	if two, err := os.ReadFile(again); err != nil || string(one) != string(two) {
		t.Errorf("the same results make two files: %v", err)
	}
	file := (&url.URL{Scheme: "file", Path: at}).String()
	walk(t, b, file)
	b.do(chromedp.Navigate("about:blank"))
	tableState(t, b, file+"#/table/table1")
	b.do(chromedp.Navigate("about:blank"))
	b.open(file + "#/readings/multiverse?norm=ball")
	b.until(`document.querySelectorAll("svg [data-key]:not(.off)").length === 4`)
	b.do(chromedp.Evaluate[chromedp.Void](`location.hash = "/nothing"`))
	b.until(`document.querySelector("h1").textContent === "Not in this file"`)
	// Every link within the file leads to a page of the file.
	missing := eval[string](b, `(async () => {
  const unpack = async (id) => JSON.parse(await new Response(new Blob([Uint8Array.from(atob(document.getElementById(id).textContent), (c) => c.charCodeAt(0))]).stream().pipeThrough(new DecompressionStream("gzip"))).text());
  const index = await unpack("index");
  const missing = [];
  for (let i = 0; document.getElementById("piece-" + i); i++) {
    for (const [path, page] of Object.entries(await unpack("piece-" + i))) {
      for (const [, to] of page.body.matchAll(/href="#([^"?]*)/g)) if (to !== "/" && index[to] === undefined) missing.push(path + " -> " + to);
      if (/href="[^#]/.test(page.body)) missing.push(path + " leads elsewhere");
    }
  }
  return missing.slice(0, 5).join("; ");
})()`)
	if missing != "" {
		t.Error(missing)
	}
	b.clean("the file")
	for _, r := range b.requests {
		if r != file && !strings.HasPrefix(r, file+"#") && !strings.HasPrefix(r, "data:") && r != "about:blank" {
			t.Errorf("the file asks for %s", r)
		}
	}
}
