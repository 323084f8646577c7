package web_test

import (
	"bytes"
	"context"
	"fmt"
	"log"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	cdplog "github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"ssdl/harness/cli"
	"ssdl/methods/linalg"
)

func TestMain(m *testing.M) {
	linalg.Register()
	os.Exit(m.Run())
}

// tinySet is a data set of 90 samples in three classes, as CSV.
func tinySet(seed uint64) []byte {
	r := rand.New(rand.NewPCG(seed, 2))
	var b bytes.Buffer
	for i := range 90 {
		for f := range 12 {
			v := 1 + 0.8*r.Float64()
			if f%3 == i%3 {
				v += 1.1 * r.Float64()
			}
			fmt.Fprintf(&b, "%.6f,", v)
		}
		fmt.Fprintf(&b, "%d\n", i%3)
	}
	return b.Bytes()
}

// The specs of the test store: a table of the paper on its own set and on a stand-in, with rows that
// are tuned over one and two parameters, a row that fails and one that is tuned on the test part; a
// sweep; and readings.
var testSpecs = map[string]string{
	"table1.yaml": `name: table1
title: Recognition rate
table: table1
datasets: [stanford40, sports8]
seeds: 1000..1002
split: {kind: class, train: 0.7, labels: 0.4}
rows:
  - {id: src, method: src, select: fixed, params: {lambda: 2^-5}}
  - {id: crc, method: crc, tune: {lambda: {grid: [0.01, 0.1, 1]}}}
  - {id: nrc, method: nrc, params: {solver: admm}, tune: {rho: {grid: [0.5, 1]}, passes: {grid: [3, 5]}}}
  - {id: ledl, method: crc, select: test, tune: {lambda: {grid: [0.1, 1]}}}
  - {id: ssdl, method: ssdl, pretext: hl, select: fixed, params: {K: 12, iterations: 4}, pretext_params: {k: 4}}
  - {id: ssdl-more, label: 'SSDL, more atoms', method: ssdl, pretext: hl, select: fixed, params: {K: 20, iterations: 4}, pretext_params: {k: 4}}
`,
	"sweep.yaml": `name: sweep
title: Recognition rate over lambda
datasets: [stanford40]
seeds: 1000..1001
split: {kind: class, train: 0.7, labels: 0.4}
select: fixed
rows:
  - {id: crc, method: crc, params: {lambda: {log2: [-6, 2, 2]}}}
`,
	"multiverse.yaml": `name: multiverse
title: Recognition rate under every reading
datasets: [sports8]
seeds: 1000..1001
split: {kind: class, train: 0.7, labels: 0.4}
select: fixed
rows:
  - {id: crc, method: crc}
  - {id: ledl, method: src}
  - {id: ssdl-labelled, method: ssdl, params: {K: 10, iterations: 2, norm: {grid: [ball, sphere]}}}
  - id: ssdl
    method: ssdl
    pretext: hl
    params: {K: 10, iterations: 2, norm: {grid: [ball, sphere]}, targets: {grid: [unit, raw]}}
    pretext_params: {k: 4, fill: {grid: [0, 0.5]}}
`,
}

// lab is a folder with data, specs and a store of their results, shared by all tests.
var lab = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "ssdl-web-")
	if err != nil {
		return "", err
	}
	files := map[string][]byte{"data/stanford40.csv": tinySet(1), "data/sports8.csv": tinySet(2)}
	for name, text := range testSpecs {
		files[name] = []byte(text)
	}
	for name, content := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return "", err
		}
		if err := os.WriteFile(path, content, 0o644); err != nil {
			return "", err
		}
	}
	for _, name := range slices.Sorted(maps.Keys(testSpecs)) {
		var out bytes.Buffer
		args := []string{"run", filepath.Join(dir, name), "--data", filepath.Join(dir, "data"), "--results", filepath.Join(dir, "results")}
		if code := cli.Main(context.Background(), nil, args, nil, &out, &out); code != 0 {
			return "", fmt.Errorf("ssdl %v ends with %d: %s", args, code, out.String())
		}
	}
	return dir, nil
})

// results returns the lab; it skips short tests.
func labFolder(t testing.TB) string {
	t.Helper()
	dir, err := lab()
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// serve starts ssdl serve on a free port and returns its address.
func serve(t testing.TB, args ...string) string {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	out := &lines{ready: make(chan string, 1)}
	done := make(chan int)
	go func() {
		done <- cli.Main(ctx, nil, append([]string{"serve", "--addr", "127.0.0.1:0"}, args...), nil, out, out)
	}()
	t.Cleanup(func() { cancel(); <-done })
	select {
	case address := <-out.ready:
		return strings.TrimSuffix(address, "/")
	case code := <-done:
		go func() { done <- code }()
		t.Fatalf("ssdl serve ends with %d: %s", code, out.text())
	case <-time.After(30 * time.Second):
		t.Fatal("ssdl serve prints no address")
	}
	return ""
}

// lines sends the first line written to it.
type lines struct {
	mu    sync.Mutex
	all   strings.Builder
	ready chan string
	said  bool
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.all.Write(p)
	if line, _, ok := strings.Cut(l.all.String(), "\n"); ok && !l.said {
		l.said = true
		l.ready <- line
	}
	return len(p), nil
}

func (l *lines) text() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.all.String()
}

// browser is a tab of a headless Chromium that records errors and requests.
type browser struct {
	*testing.T
	ctx      context.Context
	mu       sync.Mutex
	faults   []string // errors of the console, exceptions, refused loads
	requests []string
}

// newBrowser opens a tab; without Chromium it skips the test.
func newBrowser(t *testing.T) *browser {
	t.Helper()
	path := ""
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome", "chrome"} {
		if p, err := exec.LookPath(name); err == nil {
			path = p
			break
		}
	}
	if path == "" {
		t.Skip("no Chromium: install Debian's package chromium to test pages in a browser")
	}
	profile, err := os.MkdirTemp("", "ssdl-browser-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(profile) }) // what the browser still writes as it ends is left to the system
	options := append(slices.Clone(chromedp.DefaultExecAllocatorOptions[:]),
		chromedp.ExecPath(path), chromedp.UserDataDir(profile), chromedp.NoSandbox, chromedp.DisableGPU,
		chromedp.Flag("disable-quic", true), chromedp.Flag("disable-component-update", true), chromedp.Flag("disable-background-networking", true),
		chromedp.WSURLReadTimeout(60*time.Second))
	alloc, cancel := chromedp.NewExecAllocator(t.Context(), options...)
	t.Cleanup(cancel)
	quiet := log.New(&bytes.Buffer{}, "", 0)
	ctx, cancel := chromedp.NewContext(alloc, chromedp.WithLogf(quiet.Printf), chromedp.WithErrorf(quiet.Printf))
	t.Cleanup(cancel)
	b := &browser{T: t, ctx: ctx}
	err = chromedp.Listen(ctx, func(event any) {
		b.mu.Lock()
		defer b.mu.Unlock()
		switch e := event.(type) {
		case *runtime.EventConsoleAPICalled:
			if e.Type == runtime.ConsoleAPICalledTypeError || e.Type == runtime.ConsoleAPICalledTypeWarning {
				b.faults = append(b.faults, fmt.Sprintf("console: %s", e.Args[0].Value))
			}
		case *runtime.EventExceptionThrown:
			b.faults = append(b.faults, "exception: "+exceptionText(e.ExceptionDetails))
		case *cdplog.EventEntryAdded:
			if e.Entry.Level == cdplog.EntryLevelError || e.Entry.Level == cdplog.EntryLevelWarning {
				b.faults = append(b.faults, fmt.Sprintf("%s: %s %s", e.Entry.Source, e.Entry.Text, e.Entry.URL))
			}
		case *network.EventRequestWillBeSent:
			b.requests = append(b.requests, e.Request.URL)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	b.do(call(cdplog.Enable, cdp.Empty{}), call(network.Enable, network.EnableParams{}), call(runtime.Enable, cdp.Empty{}))
	return b
}

// call is an action that sends a command without a result.
func call[P any](command cdp.Command[P, cdp.Empty], params P) chromedp.Action[chromedp.Void] {
	return chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		_, err := cdp.Call(ctx, t, command, params)
		return err
	})
}

func exceptionText(e *runtime.ExceptionDetails) string {
	if e.Exception != nil {
		return e.Text + " " + e.Exception.Description
	}
	return e.Text
}

// do runs actions for at most a minute.
func (b *browser) do(actions ...chromedp.Action[chromedp.Void]) {
	b.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, time.Minute)
	defer cancel()
	if err := chromedp.Do(ctx, actions...); err != nil {
		b.Fatal(err)
	}
}

// open goes to an address and waits for its heading.
func (b *browser) open(address string) {
	b.Helper()
	b.do(chromedp.Navigate(address))
	b.until(`document.readyState === "complete" && document.querySelector("main h1")`)
}

// click clicks on an element once the page is loaded. It looks again for a node that belonged to the
// previous page.
func (b *browser) click(selector string) {
	b.Helper()
	b.until("document.readyState === 'complete' && document.querySelector(" + strconv.Quote(selector) + ")")
	var err error
	for range 5 {
		ctx, cancel := context.WithTimeout(b.ctx, 10*time.Second)
		err = chromedp.Do(ctx, chromedp.Click(chromedp.CSS(selector)))
		cancel()
		if err == nil {
			return
		}
	}
	b.Fatalf("%s cannot be clicked: %v", selector, err)
}

// text is the text of an element.
func (b *browser) text(selector string) string {
	b.Helper()
	return eval[string](b, "document.querySelector("+strconv.Quote(selector)+").innerText")
}

// eval is the value of an expression.
func eval[T any](b *browser, expression string) T {
	b.Helper()
	return run(b, chromedp.Evaluate[T](expression, func(p *runtime.EvaluateParams) {
		await := true
		p.AwaitPromise = &await
	}))
}

// run returns the value of an action within a minute.
func run[T any](b *browser, action chromedp.Action[T]) T {
	b.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, time.Minute)
	defer cancel()
	v, err := chromedp.Run(ctx, action)
	if err != nil {
		b.Fatal(err)
	}
	return v
}

// until waits for an expression to be true on a completely loaded page, also while another page loads.
func (b *browser) until(expression string) {
	b.Helper()
	var err error
	for end := time.Now().Add(30 * time.Second); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		var is bool
		if is, err = chromedp.Run(b.ctx, chromedp.Evaluate[bool](`document.readyState === "complete" && Boolean(`+expression+`)`)); err == nil && is {
			return
		}
	}
	b.Fatalf("it never comes true: %s: %v; the page is\n%s", expression, err, b.text("main"))
}

// clean fails the test on errors that the browser reported.
func (b *browser) clean(where string) {
	b.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, f := range b.faults {
		b.Errorf("%s: %s", where, f)
	}
	b.faults = nil
}

// dress sets the size of the window and the colour scheme.
func (b *browser) dress(width int64, scheme string) {
	b.Helper()
	b.do(
		call(emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{Width: width, Height: 800, DeviceScaleFactor: 1}),
		call(emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}}),
	)
}

// overflow names the elements wider than the window, outside of boxes that scroll.
const overflow = `(() => {
  if (document.documentElement.scrollWidth <= innerWidth) return "";
  const scrolls = (e) => { for (e = e.parentElement; e; e = e.parentElement) if (/auto|scroll/.test(getComputedStyle(e).overflowX)) return true; return false; };
  return [...document.querySelectorAll("body *")].filter((e) => e.getBoundingClientRect().right > innerWidth + 1 && !scrolls(e))
    .slice(0, 5).map((e) => e.tagName + "." + e.className + " " + e.textContent.slice(0, 40)).join("; ") || "something";
})()`

// crowded returns labels of charts that are cut or overlap, and charts that scroll in their box.
const crowded = `(() => {
  const out = [];
  for (const svg of document.querySelectorAll("svg.chart")) {
    const box = svg.getBoundingClientRect(), around = svg.parentElement;
    if (!box.width) continue;
    if (around.scrollWidth > around.clientWidth + 1 || around.scrollHeight > around.clientHeight + 1) out.push("scrolls: " + svg.getAttribute("aria-label"));
    const words = [...svg.querySelectorAll("text")].map((e) => [e.textContent, e.getBoundingClientRect()]).filter(([s]) => s);
    words.forEach(([s, a], i) => {
      if (a.left < box.left - 2 || a.right > box.right + 2 || a.top < box.top - 2 || a.bottom > box.bottom + 2) out.push("cut: " + s);
      for (const [o, b] of words.slice(i + 1)) {
        if (Math.min(a.right, b.right) - Math.max(a.left, b.left) > 1 && Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 4) out.push("touch: " + s + " | " + o);
      }
    });
  }
  return out.slice(0, 12).join("; ");
})()`

// labArgs are the arguments of serve and site for the lab.
func labArgs(t testing.TB) []string {
	t.Helper()
	dir := labFolder(t)
	args := []string{"--results", filepath.Join(dir, "results"), "--data", filepath.Join(dir, "data")}
	for _, name := range slices.Sorted(maps.Keys(testSpecs)) {
		args = append(args, filepath.Join(dir, name))
	}
	return args
}
