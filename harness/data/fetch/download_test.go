package fetch

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// server serves one file and records the Range headers of the requests.
type server struct {
	*httptest.Server
	content []byte
	etag    string
	// cut lists after how many bytes of the body the first connections break.
	cut []int
	// answer, if not nil, answers instead.
	answer http.HandlerFunc
	ranges []string
}

func serve(t *testing.T, content []byte) *server {
	s := &server{content: content, etag: `"v1"`}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.ranges = append(s.ranges, r.Header.Get("Range"))
		if e := r.Header.Get("Accept-Encoding"); e != "identity" {
			t.Errorf("asked for the encoding %q: ranges of compressed bytes are of another file", e)
		}
		if s.answer != nil {
			s.answer(w, r)
			return
		}
		if s.etag != "" {
			w.Header().Set("ETag", s.etag)
		}
		if len(s.cut) > 0 {
			w = &breaking{w, s.cut[0]}
			s.cut = s.cut[1:]
		}
		http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(s.content))
	}))
	t.Cleanup(s.Close)
	return s
}

// breaking breaks the connection after left bytes of the body.
type breaking struct {
	http.ResponseWriter
	left int
}

func (b *breaking) Write(p []byte) (int, error) {
	n, err := b.ResponseWriter.Write(p[:min(len(p), b.left)])
	if b.left -= n; b.left == 0 {
		b.ResponseWriter.(http.Flusher).Flush()
		panic(http.ErrAbortHandler)
	}
	return n, err
}

// content is n bytes that begin as a zip file does.
func content(n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(i * 7 >> 3)
	}
	copy(b, "PK\x03\x04")
	return b
}

func sum(b []byte) string {
	h := sha256.Sum256(b)
	return hex.EncodeToString(h[:])
}

func (s *server) archive() Archive {
	return Archive{URL: s.URL + "/set.zip", Size: int64(len(s.content)), SHA256: sum(s.content)}
}

// quick repeats requests without waiting.
func quick() *Fetcher { return &Fetcher{retryDelay: time.Nanosecond} }

// get downloads one archive. Tests look for damaged files on the disk.
func (f *Fetcher) get(ctx context.Context, a Archive, path string) (Record, error) {
	var damaged []Damaged
	return f.download(ctx, a, path, &damaged)
}

func target(t *testing.T) string { return filepath.Join(t.TempDir(), "set.zip") }

// mustHave checks that path holds want with its record, and that no parts are left.
func mustHave(t *testing.T, path string, want []byte) {
	t.Helper()
	have, err := os.ReadFile(path)
	if err != nil || !bytes.Equal(have, want) {
		t.Fatalf("%s has %d bytes, want the %d that were served (%v)", path, len(have), len(want), err)
	}
	if r, ok, _ := readRecord(path); !ok || r.SHA256 != sum(want) || r.Size != int64(len(want)) {
		t.Errorf("the record is %+v", r)
	}
	names, err := filepath.Glob(filepath.Join(filepath.Dir(path), "*"))
	if err != nil || len(names) != 2 {
		t.Errorf("the folder has %v, want the file and its record", names)
	}
}

func TestDownload(t *testing.T) {
	s, path := serve(t, content(1<<20)), target(t)
	var last int64
	f := quick()
	f.Progress = func(name string, done, total int64) {
		if name != "set.zip" || done <= last || total != 1<<20 {
			t.Errorf("progress %s %d of %d after %d", name, done, total, last)
		}
		last = done
	}
	r, err := f.get(t.Context(), s.archive(), path)
	if err != nil {
		t.Fatal(err)
	}
	mustHave(t, path, s.content)
	if !r.Verified || r.ETag != s.etag || last != 1<<20 {
		t.Errorf("record %+v, progress up to %d", r, last)
	}
	// A second download makes no request.
	if _, err := f.get(t.Context(), s.archive(), path); err != nil || len(s.ranges) != 1 {
		t.Errorf("the second call made requests %q: %v", s.ranges, err)
	}
}

func TestDownloadResumes(t *testing.T) {
	s, path := serve(t, content(1<<20)), target(t)
	s.cut = []int{300_000, 200_000, 1}
	if _, err := quick().get(t.Context(), s.archive(), path); err != nil {
		t.Fatal(err)
	}
	mustHave(t, path, s.content)
	if want := []string{"", "bytes=300000-", "bytes=500000-", "bytes=500001-"}; !slices.Equal(s.ranges, want) {
		t.Errorf("asked for %q, want %q", s.ranges, want)
	}
}

// A killed process leaves a part and the description of the server's file.
func TestDownloadResumesInAnotherProcess(t *testing.T) {
	for name, c := range map[string]struct {
		change func(s *server)
		asked  []string
	}{
		"the file is the same":                              {func(*server) {}, []string{"bytes=1000-"}},
		"the file has changed":                              {func(s *server) { s.etag, s.content[500] = `"v2"`, 'x' }, []string{"bytes=1000-"}},
		"ranges are ignored":                                {func(s *server) { s.answer = s.whole }, []string{"bytes=1000-"}},
		"the file has changed and the server does not look": {func(s *server) { s.answer = s.careless }, []string{"bytes=1000-", ""}},
		"another range is answered":                         {func(s *server) { s.answer = s.wrongRange }, []string{"bytes=1000-", ""}},
	} {
		t.Run(name, func(t *testing.T) {
			s, path := serve(t, content(10_000)), target(t)
			s.cut = []int{1000}
			ctx, cancel := context.WithCancel(t.Context())
			f := &Fetcher{retryDelay: time.Hour, Progress: func(_ string, done, _ int64) {
				if done == 1000 {
					cancel()
				}
			}}
			if _, err := f.get(ctx, s.archive(), path); !errors.Is(err, context.Canceled) {
				t.Fatalf("got %v", err)
			}
			s.ranges = nil
			c.change(s)
			if _, err := quick().get(t.Context(), s.archive(), path); err != nil {
				t.Fatal(err)
			}
			mustHave(t, path, s.content)
			if !slices.Equal(s.ranges, c.asked) {
				t.Errorf("asked for %q, want %q", s.ranges, c.asked)
			}
		})
	}
}

// whole answers like a server without support for ranges.
func (s *server) whole(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("ETag", s.etag)
	w.Write(s.content)
}

// careless serves ranges of a changed file and ignores the condition.
func (s *server) careless(w http.ResponseWriter, r *http.Request) {
	r.Header.Del("If-Range")
	w.Header().Set("ETag", `"v2"`)
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(s.content))
}

// wrongRange answers every range request with the first bytes of the file.
func (s *server) wrongRange(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("ETag", s.etag)
	if r.Header.Get("Range") != "" {
		w.Header().Set("Content-Range", fmt.Sprintf("bytes 0-99/%d", len(s.content)))
		w.WriteHeader(http.StatusPartialContent)
		w.Write(s.content[:100])
		return
	}
	w.Write(s.content)
}

// Without a strong validator a part may belong to another file, and is not used.
func TestDownloadStartsAgainWithoutValidator(t *testing.T) {
	for _, etag := range []string{"", `W/"weak"`} {
		s, path := serve(t, content(10_000)), target(t)
		s.etag, s.cut = etag, []int{1000}
		if _, err := quick().get(t.Context(), s.archive(), path); err != nil {
			t.Fatal(err)
		}
		mustHave(t, path, s.content)
		if !slices.Equal(s.ranges, []string{"", ""}) {
			t.Errorf("ETag %q: asked for %q", etag, s.ranges)
		}
	}
}

// The process was killed between the complete transfer and the verification.
func TestDownloadVerifiesCompletePart(t *testing.T) {
	s, path := serve(t, content(10_000)), target(t)
	a := s.archive()
	for _, known := range []int64{10_000, -1} { // the size that the server sent; -1 for none
		if err := os.WriteFile(path+".part", s.content, 0o644); err != nil {
			t.Fatal(err)
		}
		if err := (Record{URL: a.URL, Size: known, ETag: s.etag}).write(path + ".part"); err != nil {
			t.Fatal(err)
		}
		if _, err := quick().get(t.Context(), a, path); err != nil {
			t.Fatal(err)
		}
		mustHave(t, path, s.content)
		os.Remove(path)
	}
	if !slices.Equal(s.ranges, []string{"bytes=10000-"}) { // none in the first case
		t.Errorf("asked for %q", s.ranges)
	}
}

func TestDownloadStalls(t *testing.T) {
	s, path := serve(t, content(10_000)), target(t)
	release := make(chan struct{})
	t.Cleanup(func() { close(release) })
	s.answer = func(w http.ResponseWriter, r *http.Request) {
		s.answer = nil
		w.Header().Set("ETag", s.etag)
		w.Header().Set("Content-Length", "10000")
		w.Write(s.content[:1000])
		w.(http.Flusher).Flush()
		select {
		case <-release:
		case <-r.Context().Done():
		}
	}
	f := quick()
	f.stallTimeout = 50 * time.Millisecond
	if _, err := f.get(t.Context(), s.archive(), path); err != nil {
		t.Fatal(err)
	}
	mustHave(t, path, s.content)
	if !slices.Equal(s.ranges, []string{"", "bytes=1000-"}) {
		t.Errorf("asked for %q", s.ranges)
	}
}

func TestDownloadRefuses(t *testing.T) {
	status := func(code int) func(*server, *Archive) {
		return func(s *server, _ *Archive) {
			s.answer = func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(code) }
		}
	}
	for _, c := range []struct {
		name     string
		change   func(s *server, a *Archive)
		want     string
		requests int
	}{
		{"not found", status(404), "answered 404 Not Found", 1},
		{"forbidden", status(403), "answered 403", 1},
		{"overloaded", status(503), "answered 503", attempts},
		{"wrong hash", func(_ *server, a *Archive) { a.SHA256 = strings.Repeat("0", 64) }, "expected 0000", 1},
		{"another size", func(_ *server, a *Archive) { a.Size++ }, "a file of 10000 bytes, expected 10001", 1},
		{"short file of unknown size", func(s *server, a *Archive) {
			a.Size++
			s.answer = func(w http.ResponseWriter, _ *http.Request) {
				w.(http.Flusher).Flush() // chunked: no Content-Length
				w.Write(s.content)
			}
		}, "has 10000 bytes, expected 10001", 1},
		{"endless file", func(s *server, a *Archive) {
			a.Size = 5000
			s.answer = func(w http.ResponseWriter, _ *http.Request) {
				w.(http.Flusher).Flush()
				w.Write(s.content)
			}
		}, "sent more than the 5000 bytes that are expected", 1},
		{"always cut short", func(s *server, _ *Archive) {
			s.etag = "" // so that every request starts from the beginning
			s.cut = slices.Repeat([]int{1000}, 2*attempts)
		}, "broke off after 1000 bytes", attempts},
		{"larger than anything", func(s *server, a *Archive) {
			a.Size, a.SHA256 = 0, ""
			s.answer = func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Length", fmt.Sprint(int64(maxDownload)+1))
			}
		}, "4294967297 bytes, expected at most 4294967296", 1},
		{"a web page", func(s *server, a *Archive) {
			s.content = []byte("\n<!DOCTYPE html><html>Please log in</html>")
			*a = Archive{URL: a.URL}
		}, "a web page", 1},
		{"no archive", func(s *server, a *Archive) {
			s.content = []byte("nothing")
			*a = Archive{URL: a.URL}
		}, "neither a .zip nor a .rar", 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, path := serve(t, content(10_000)), target(t)
			a := s.archive()
			c.change(s, &a)
			_, err := quick().get(t.Context(), a, path)
			if !errors.Is(err, ErrSource) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want an error with %q", err, c.want)
			}
			if len(s.ranges) != c.requests {
				t.Errorf("%d requests, want %d", len(s.ranges), c.requests)
			}
			if _, err := os.Stat(path); err == nil {
				t.Error("there is a file")
			}
		})
	}
}

// gone is an archive on a server that cannot be reached.
var gone = Archive{URL: "http://127.0.0.1:1/set.zip"}

// A file copied there by hand needs no network.
func TestDownloadUsesFileThatIsThere(t *testing.T) {
	path := target(t)
	if err := os.WriteFile(path, content(100), 0o644); err != nil {
		t.Fatal(err)
	}
	if r, err := quick().get(t.Context(), gone, path); err != nil || r.Verified {
		t.Fatalf("record %+v: %v", r, err)
	}
	mustHave(t, path, content(100))
	// Its authors publish the hash afterwards.
	a := gone
	a.SHA256 = sum(content(100))
	if r, err := quick().get(t.Context(), a, path); err != nil || !r.Verified {
		t.Errorf("record %+v: %v", r, err)
	}
	mustHave(t, path, content(100))
}

func TestDownloadOffline(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr := l.Addr().String()
	l.Close()                            // the port is closed now
	f := &Fetcher{retryDelay: time.Hour} // there is no second request
	if _, err := f.get(t.Context(), Archive{URL: "http://" + addr + "/set.zip"}, target(t)); !errors.Is(err, ErrOffline) {
		t.Errorf("got %v", err)
	}
}

// A server that was reached before is retried.
func TestDownloadWaitsForServer(t *testing.T) {
	s, path := serve(t, content(10_000)), target(t)
	s.cut = []int{1000}
	var dials int
	dialer := &net.Dialer{}
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true, DialContext: func(ctx context.Context, network, addr string) (net.Conn, error) {
		if dials++; dials == 2 || dials == 3 {
			addr = "127.0.0.1:0" // no server
		}
		return dialer.DialContext(ctx, network, addr)
	}}}
	f := &Fetcher{retryDelay: time.Nanosecond, client: client}
	if _, err := f.get(t.Context(), s.archive(), path); err != nil {
		t.Fatal(err)
	}
	mustHave(t, path, s.content)
	if dials != 4 {
		t.Errorf("%d connections, want 4", dials)
	}
}

func TestArchiveName(t *testing.T) {
	for url, want := range map[string]string{
		"http://a/b/set.zip":       "set.zip",
		"https://a/set.rar?x=../y": "set.rar",
		"http://a/":                "",
		"http://a":                 "",
		"http://a/b/..":            "",
		"http://a/b%2f..%2fc":      "c",
		"http://a/x%5cy.zip":       "",
		"file:///etc/passwd":       "",
		"/set.zip":                 "",
		"http://a/\x7f":            "",
	} {
		if got, err := (Archive{URL: url}).name(); got != want || (err == nil) != (want != "") {
			t.Errorf("%q has the name %q (%v), want %q", url, got, err, want)
		}
	}
}
