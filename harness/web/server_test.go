package web_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"ssdl/harness/cli"
	"ssdl/harness/web"
)

var hrefs = regexp.MustCompile(`href="([^"]*)"`)

// get reads a page.
func get(t testing.TB, address string) (page string, r *http.Response) {
	t.Helper()
	r, err := http.Get(address)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	raw, err := io.ReadAll(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw), r
}

// crawl reads every page that links lead to, by address.
func crawl(t testing.TB, address string) map[string]string {
	t.Helper()
	pages, todo := map[string]string{}, []string{"/"}
	for len(todo) > 0 {
		path := todo[0]
		todo = todo[1:]
		if _, ok := pages[path]; ok {
			continue
		}
		page, r := get(t, address+path)
		if r.StatusCode != http.StatusOK {
			t.Errorf("%s: %s", path, r.Status)
		}
		pages[path] = page
		for _, m := range hrefs.FindAllStringSubmatch(page, -1) {
			to := strings.ReplaceAll(m[1], "&amp;", "&")
			if strings.HasPrefix(to, "/") && !strings.HasPrefix(to, "/assets/") {
				todo = append(todo, to)
			}
		}
	}
	return pages
}

// Every link leads to a page, the front page leads to every kind of page, and each page has the
// security headers.
func TestEveryLinkLeadsSomewhere(t *testing.T) {
	address := serve(t, labArgs(t)...)
	pages := crawl(t, address)
	kinds := map[string]int{}
	for path := range pages {
		kinds[strings.Split(path, "/")[1]]++
	}
	for _, kind := range []string{"", "tables", "table", "cell", "run", "compare", "readings", "figures", "data", "runs", "live"} {
		if kinds[kind] == 0 {
			t.Errorf("no page of the kind %q is reached: %v", kind, kinds)
		}
	}
	if kinds["cell"] < 6*2+5+2+2+8 || kinds["run"] < 60 {
		t.Errorf("pages %v, want one for each cell and each run", kinds)
	}
	for path, page := range pages {
		if strings.Contains(page, "NaN") || strings.Contains(page, "ZgotmplZ") || strings.Contains(page, "%!") {
			t.Errorf("%s has a number or a word that is none", path)
		}
	}
}

func TestServerRefuses(t *testing.T) {
	x := &web.Explorer{Path: filepath.Join(t.TempDir(), "runs.db")}
	for _, c := range []struct {
		name, method, host, on, token, target string
		status                                int
	}{
		{"its own address", "GET", "127.0.0.1:8765", "127.0.0.1", "", "/", 200},
		{"its name", "GET", "localhost:8765", "127.0.0.1", "", "/", 200},
		{"its address of version 6", "GET", "[::1]:8765", "::1", "", "/", 200},
		{"a foreign name", "GET", "evil.example:8765", "127.0.0.1", "", "/", 403},
		{"a foreign name that begins like ours", "GET", "127.0.0.1.evil.example", "127.0.0.1", "", "/", 403},
		{"no name", "GET", "", "127.0.0.1", "", "/", 403},
		{"another machine's number", "GET", "10.0.0.7:8765", "127.0.0.1", "", "/", 403},
		{"a foreign name for the style sheet", "GET", "evil.example", "127.0.0.1", "", "/assets/style.css", 403},
		{"a foreign name for events", "GET", "evil.example", "127.0.0.1", "", "/live/events", 403},
		{"a form", "POST", "127.0.0.1:8765", "127.0.0.1", "", "/", 405},
		{"a removal", "DELETE", "127.0.0.1:8765", "127.0.0.1", "", "/run/1", 405},
		{"a page that there is not", "GET", "127.0.0.1:8765", "127.0.0.1", "", "/nothing", 404},
		{"a way up", "GET", "127.0.0.1:8765", "127.0.0.1", "", "/assets/..%2f..%2fweb.go", 404},
		{"no token", "GET", "10.0.0.7:8765", "0.0.0.0", "secret", "/", 401},
		{"a wrong token", "GET", "10.0.0.7:8765", "0.0.0.0", "secret", "/?token=secre", 401},
		{"no token for the style sheet", "GET", "10.0.0.7:8765", "0.0.0.0", "secret", "/assets/style.css", 401},
		{"the token", "GET", "10.0.0.7:8765", "0.0.0.0", "secret", "/?token=secret", 303},
		{"a foreign name with the token", "GET", "evil.example", "0.0.0.0", "secret", "/?token=secret", 403},
	} {
		s, err := web.NewServer(x, c.on, c.token)
		if err != nil {
			t.Fatal(err)
		}
		r := httptest.NewRequest(c.method, c.target, nil)
		r.Host = c.host
		w := httptest.NewRecorder()
		s.ServeHTTP(w, r)
		if w.Code != c.status {
			t.Errorf("%s: status %d, want %d", c.name, w.Code, c.status)
		}
		h := w.Header()
		if !strings.HasPrefix(h.Get("Content-Security-Policy"), "default-src 'none'") || h.Get("X-Content-Type-Options") != "nosniff" ||
			h.Get("X-Frame-Options") != "DENY" || h.Get("Referrer-Policy") != "no-referrer" || h.Get("Access-Control-Allow-Origin") != "" {
			t.Errorf("%s: headers %v", c.name, h)
		}
	}
}

// The browser sends the token in the address once. Then it has it in a cookie that scripts and other
// sites cannot read.
func TestToken(t *testing.T) {
	s, err := web.NewServer(&web.Explorer{Path: filepath.Join(t.TempDir(), "runs.db")}, "0.0.0.0", "secret")
	if err != nil {
		t.Fatal(err)
	}
	r := httptest.NewRequest("GET", "//evil.example/table/a%2Fb?sort=1&token=secret", nil)
	r.Host = "10.0.0.7:1"
	w := httptest.NewRecorder()
	s.ServeHTTP(w, r)
	to, err := url.Parse(w.Header().Get("Location"))
	if err != nil || w.Code != http.StatusSeeOther || to.Host != "" || to.RawQuery != "sort=1" {
		t.Errorf("%d, to %q: %v", w.Code, w.Header().Get("Location"), err)
	}
	cookies := w.Result().Cookies()
	if len(cookies) != 1 || !cookies[0].HttpOnly || cookies[0].SameSite != http.SameSiteStrictMode {
		t.Fatalf("cookies %v", cookies)
	}
	r = httptest.NewRequest("GET", "/", nil)
	r.Host = "10.0.0.7:1"
	r.AddCookie(cookies[0])
	w = httptest.NewRecorder()
	s.ServeHTTP(w, r)
	if w.Code != http.StatusOK {
		t.Errorf("with the cookie: %d", w.Code)
	}
}

func TestLoopback(t *testing.T) {
	for host, want := range map[string]bool{"127.0.0.1": true, "127.9.9.9": true, "::1": true, "localhost": true, "0.0.0.0": false, "": false, "10.0.0.1": false, "localhost.evil.example": false} {
		if web.Loopback(host) != want {
			t.Errorf("%q: %v", host, !want)
		}
	}
}

// One page of every kind, for tests in a browser.
func onePerKind(pages map[string]string) []string {
	var out, kinds []string
	var paths []string
	for path := range pages {
		paths = append(paths, path)
	}
	slices.Sort(paths)
	for _, path := range paths {
		parts := strings.Split(path, "/")
		kind := parts[1] + strings.Repeat("/", len(parts))
		if !slices.Contains(kinds, kind) {
			kinds, out = append(kinds, kind), append(out, path)
		}
	}
	return out
}

// The page of a data set has no statistics of local data that no run is of, also if the data changes while the
// server runs.
func TestDataPageOfOtherData(t *testing.T) {
	dir := t.TempDir()
	file, spec := filepath.Join(dir, "mine.csv"), filepath.Join(dir, "mine.yaml")
	write := func(path string, content []byte) {
		t.Helper()
		if err := os.WriteFile(path, content, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write(file, tinySet(3))
	write(spec, []byte("name: mine\ndatasets: [mine]\nseeds: 1000\nsplit: {kind: class, train: 0.7, labels: 0.4}\nselect: fixed\nrows: [{method: crc}]\n"))
	args := []string{spec, "--data", dir, "--results", filepath.Join(dir, "results")}
	var out strings.Builder
	if code := cli.Main(t.Context(), nil, append([]string{"run"}, args...), nil, &out, &out); code != 0 {
		t.Fatal(out.String())
	}
	address := serve(t, args...)
	page := func(want string) string {
		t.Helper()
		for range 300 {
			is, _ := get(t, address+"/data/mine")
			if strings.Contains(is, want) {
				return is
			}
			time.Sleep(100 * time.Millisecond)
		}
		t.Fatalf("the page does not say %q", want)
		return ""
	}
	page("<h2>Duplicates</h2>")
	write(file, tinySet(4))
	if is := page("and no run is of it"); strings.Contains(is, "<h2>Duplicates</h2>") {
		t.Error("the page has the statistics of other data")
	}
}
