package fetch

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// put writes a file.
func put(t *testing.T, path string, content []byte) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, content, 0o644); err != nil {
		t.Fatal(err)
	}
}

// fetchSet fetches the archive into a folder beside the downloads.
func fetchSet(t *testing.T, f *Fetcher, a Archive, base string) (Fetched, error) {
	t.Helper()
	return f.Fetch(t.Context(), []Archive{a}, filepath.Join(base, "downloads"), filepath.Join(base, "set"))
}

// Files that fail their check do not stop a fetch: they are renamed, kept, and fetched again.
func TestDamagedFileIsFetchedAgain(t *testing.T) {
	good := makeZip(t, member{"JPEGImages/a_001.jpg", "one", 0})
	rotten := bytes.Clone(good)
	rotten[30+len("JPEGImages/a_001.jpg")+1] ^= 1 // a byte of the compressed content
	for name, c := range map[string]struct {
		there  []byte // already at the path of the archive
		record []byte // its record
		known  bool   // the authors publish size and hash
		reason string
		file   string // the file that is renamed
	}{
		"another hash than published":  {rotten, nil, true, "has SHA-256 " + sum(rotten) + ", expected " + sum(good), "set.zip"},
		"another size than published":  {good[:50], nil, true, "has 50 bytes, expected", "set.zip"},
		"another hash than recorded":   {rotten, recordOf(t, good), false, "has SHA-256 " + sum(rotten) + ", and had " + sum(good) + " on 2026-01-02", "set.zip"},
		"a web page":                   {[]byte("<html>log in</html>"), nil, false, "is a web page", "set.zip"},
		"empty":                        {nil, nil, false, "is neither a .zip nor a .rar archive", "set.zip"},
		"cannot be unpacked":           {rotten, nil, false, "cannot be unpacked: ", "set.zip"},
		"recorded, cannot be unpacked": {rotten, recordOf(t, rotten), false, "cannot be unpacked: ", "set.zip"},
		"a broken record":              {good, []byte("{"), false, "is no record of a download", "set.zip.json"},
		"an empty record":              {good, []byte("{}"), false, "has no SHA-256", "set.zip.json"},
	} {
		t.Run(name, func(t *testing.T) {
			s, base := serve(t, good), t.TempDir()
			path := filepath.Join(base, "downloads", "set.zip")
			put(t, path, c.there)
			if c.record != nil {
				put(t, recordPath(path), c.record)
			}
			bad, err := os.ReadFile(filepath.Join(base, "downloads", c.file))
			if err != nil {
				t.Fatal(err)
			}
			a := s.archive()
			if !c.known {
				a = Archive{URL: a.URL}
			}
			got, err := fetchSet(t, quick(), a, base)
			if err != nil || !got.Unpacked || got.Files != 1 || got.Archives[0].SHA256 != sum(good) {
				t.Fatalf("got %+v, %v", got, err)
			}
			moved := filepath.Join(base, "downloads", c.file+".damaged")
			if len(got.Damaged) != 1 || got.Damaged[0].Path != moved || !strings.Contains(got.Damaged[0].Reason, c.reason) {
				t.Errorf("damaged: %+v, want %s: %s", got.Damaged, moved, c.reason)
			}
			if kept, err := os.ReadFile(moved); err != nil || !bytes.Equal(kept, bad) {
				t.Errorf("%s is not the file that failed: %v", moved, err)
			}
			if r, ok, _ := readRecord(path); !ok || r.SHA256 != sum(good) || r.Verified != c.known {
				t.Errorf("the record is %+v", r)
			}
			// A second fetch finds no damage and fetches nothing.
			requests := len(s.ranges)
			if err := os.RemoveAll(filepath.Join(base, "set")); err != nil {
				t.Fatal(err)
			}
			if got, err := fetchSet(t, quick(), a, base); err != nil || len(got.Damaged) > 0 || len(s.ranges) != requests {
				t.Errorf("the second time: %+v, %d requests, %v", got, len(s.ranges)-requests, err)
			}
		})
	}
}

func recordOf(t *testing.T, content []byte) []byte {
	t.Helper()
	b, err := json.Marshal(Record{Size: int64(len(content)), SHA256: sum(content), When: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)})
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// If no new file can be fetched, the error says where the old one is.
func TestDamagedFileWithoutNetwork(t *testing.T) {
	base := t.TempDir()
	path := filepath.Join(base, "downloads", "set.zip")
	for _, moved := range []string{path + ".damaged", path + ".damaged-2"} {
		put(t, path, []byte("<html>"))
		_, err := fetchSet(t, quick(), gone, base)
		if !errors.Is(err, ErrOffline) || !strings.Contains(err.Error(), "\n"+moved+" is kept; it is a web page") {
			t.Errorf("got %v", err)
		}
		if _, err := os.Stat(moved); err != nil {
			t.Error(err)
		}
	}
}

// An archive that is broken on the server is fetched once more, not for ever, and kept once.
func TestBrokenArchiveOnTheServer(t *testing.T) {
	broken := makeZip(t, member{"a.jpg", strings.Repeat("one", 99), 0})
	broken[45] ^= 1
	for name, known := range map[string]bool{"hash published": true, "hash not published": false} {
		t.Run(name, func(t *testing.T) {
			s, base := serve(t, broken), t.TempDir()
			a := s.archive()
			if !known {
				a = Archive{URL: a.URL}
			}
			for want := 1; want <= 2; want++ {
				_, err := fetchSet(t, quick(), a, base)
				if !errors.Is(err, ErrSource) || !strings.Contains(err.Error(), `"a.jpg"`) {
					t.Fatalf("got %v", err)
				}
				requests := 1
				if !known {
					requests = 1 + want
				}
				if len(s.ranges) != requests {
					t.Errorf("%d requests, want %d", len(s.ranges), requests)
				}
				names, err := filepath.Glob(filepath.Join(base, "downloads", "*.zip*"))
				if err != nil || len(names) != 2 {
					t.Errorf("the folder has %v, want the file and its record", names)
				}
			}
		})
	}
}

// The hash of the first download is pinned. A later file with another hash is refused; the error
// has both.
func TestPinnedHash(t *testing.T) {
	first := content(10_000)
	s, path := serve(t, bytes.Clone(first)), target(t)
	a := Archive{URL: s.URL + "/set.zip"}
	if _, err := quick().get(t.Context(), a, path); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	s.content[9999]++
	for range 2 { // refused each time, after a new request
		before := len(s.ranges)
		_, err := quick().get(t.Context(), a, path)
		if !errors.Is(err, ErrSource) {
			t.Fatalf("got %v", err)
		}
		for _, want := range []string{sum(s.content), sum(first), "delete " + recordPath(path)} {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%v\nlacks %q", err, want)
			}
		}
		if _, err := os.Stat(path); err == nil || len(s.ranges) != before+1 {
			t.Errorf("%d requests, and the file is there: %v", len(s.ranges)-before, err == nil)
		}
	}
	// A published hash takes precedence over the pinned one.
	verified := a
	verified.SHA256 = sum(s.content)
	if r, err := quick().get(t.Context(), verified, path); err != nil || !r.Verified {
		t.Errorf("record %+v: %v", r, err)
	}
	mustHave(t, path, s.content)
	// The same file from another server is accepted.
	for _, p := range []string{path, recordPath(path)} {
		if err := os.Remove(p); err != nil {
			t.Fatal(err)
		}
	}
	mirror := serve(t, first)
	put(t, recordPath(path), recordOf(t, first))
	if _, err := quick().get(t.Context(), Archive{URL: mirror.URL + "/set.zip"}, path); err != nil {
		t.Error(err)
	}
}

func TestRedirects(t *testing.T) {
	good := makeZip(t, member{"a.jpg", "x", 0})
	var s, other, encrypted *httptest.Server
	answer := func(to func() string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			switch r.URL.Path {
			case "/set.zip":
				http.Redirect(w, r, to(), http.StatusFound)
			case "/loop":
				http.Redirect(w, r, "/loop", http.StatusFound)
			default:
				w.Write(good)
			}
		}
	}
	to := ""
	s = httptest.NewServer(answer(func() string { return to }))
	other = httptest.NewServer(answer(nil))
	encrypted = httptest.NewTLSServer(answer(func() string { return to }))
	for _, server := range []*httptest.Server{s, other, encrypted} {
		t.Cleanup(server.Close)
	}
	for name, c := range map[string]struct {
		from   *httptest.Server
		to     string
		refuse []string // texts of the error; "" if the redirect is followed
	}{
		"same host":                {s, "/moved/set.zip", nil},
		"same host, whole address": {s, s.URL + "/moved/set.zip?x=1", nil},
		"same host, encrypted":     {encrypted, encrypted.URL + "/moved/set.zip", nil},
		"another port":             {s, other.URL + "/moved/set.zip?x=1", []string{"redirects to another host: " + other.URL + "/moved/set.zip?x=1", "pass --from " + other.URL + "/moved,", "by hand"}},
		"another host":             {s, "http://example.org/a/set.zip", []string{"redirects to another host", "pass --from http://example.org/a,"}},
		"to https on another port": {s, encrypted.URL + "/moved/set.zip", []string{"redirects to another host"}},
		"from https to http":       {encrypted, strings.Replace(encrypted.URL, "https", "http", 1) + "/moved/set.zip", []string{"redirects from https to http://", "not encrypted", "by hand"}},
		"a loop":                   {s, "/loop", []string{"more than 5 times"}},
	} {
		t.Run(name, func(t *testing.T) {
			to = c.to
			path := target(t)
			f := quick()
			f.client = encrypted.Client() // it trusts the certificate
			_, err := f.get(t.Context(), Archive{URL: c.from.URL + "/set.zip"}, path)
			if c.refuse == nil {
				if err != nil {
					t.Fatal(err)
				}
				mustHave(t, path, good)
				return
			}
			if !errors.Is(err, ErrSource) || errors.Is(err, ErrOffline) {
				t.Fatalf("got %v", err)
			}
			for _, want := range append(c.refuse, c.from.URL+"/set.zip: ") {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("%v\nlacks %q", err, want)
				}
			}
			if names, _ := filepath.Glob(filepath.Join(filepath.Dir(path), "*")); len(names) > 0 {
				t.Errorf("left behind: %v", names)
			}
		})
	}
}

func TestSameHost(t *testing.T) {
	for pair, want := range map[[2]string]bool{
		{"http://a/x", "https://a/x"}:         true,
		{"http://a:80/x", "https://A:443/y"}:  true,
		{"https://a/x", "https://a:443/x"}:    true,
		{"http://a/x", "http://a:8080/x"}:     false,
		{"http://a:8080/x", "https://a/x"}:    false,
		{"http://a/x", "http://www.a/x"}:      false,
		{"http://a/x", "http://a.evil.org/x"}: false,
	} {
		a, b := httptest.NewRequest("GET", pair[0], nil).URL, httptest.NewRequest("GET", pair[1], nil).URL
		if got := sameHost(a, b); got != want {
			t.Errorf("%v: %t", pair, got)
		}
	}
}

// Temporary files are beside their final path. The next fetch removes those of a killed one.
func TestLeftoversAreRemoved(t *testing.T) {
	s, base := serve(t, makeZip(t, member{"a.jpg", "x", 0})), t.TempDir()
	downloads := filepath.Join(base, "downloads")
	put(t, filepath.Join(base, ".set.unpacking", "deep", "half.jpg"), []byte("half"))
	put(t, filepath.Join(downloads, "set.zip.json.tmp"), []byte("{"))
	put(t, filepath.Join(downloads, "set.zip.part.json.tmp"), []byte("{"))
	put(t, filepath.Join(downloads, "mine.tmp"), []byte("mine"))
	if _, err := fetchSet(t, quick(), s.archive(), base); err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, dir := range []string{base, downloads} {
		entries, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			names = append(names, e.Name())
		}
	}
	slices.Sort(names)
	if d := cmp.Diff([]string{".lock", "downloads", "mine.tmp", "set", "set.zip", "set.zip.json"}, names); d != "" {
		t.Error(d)
	}
}

// A second fetch into a folder is refused while the first runs, and changes nothing.
func TestTwoFetchesAtOnce(t *testing.T) {
	s, base := serve(t, makeZip(t, member{"a.jpg", "x", 0})), t.TempDir()
	var second error
	f := quick()
	f.Progress = func(string, int64, int64) {
		if second == nil {
			_, second = fetchSet(t, quick(), s.archive(), base)
		}
	}
	if _, err := fetchSet(t, f, s.archive(), base); err != nil {
		t.Fatal(err)
	}
	if second == nil || !strings.Contains(second.Error(), "another process is fetching") {
		t.Errorf("got %v", second)
	}
}

// What is not a regular file is refused, and not renamed.
func TestFolderInPlaceOfArchive(t *testing.T) {
	path := target(t)
	if err := os.Mkdir(path, 0o755); err != nil {
		t.Fatal(err)
	}
	if _, err := quick().get(context.Background(), gone, path); err == nil || !strings.Contains(err.Error(), "is a folder, expected a regular file") {
		t.Errorf("got %v", err)
	}
}
