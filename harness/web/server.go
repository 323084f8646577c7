package web

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"fmt"
	"html/template"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"time"

	"ssdl/harness/chart"
	"ssdl/harness/sanitize"
)

// Server serves pages. It answers GET and HEAD only, only under the host it listens on, and, if that is not
// a loopback address, only with its token.
type Server struct {
	*Explorer
	// Host is the name or address that the server listens on.
	Host string
	// Token is the secret that a browser must send; "" requires none.
	Token string

	view      view
	templates *template.Template
	style     []byte
	script    []byte
}

// NewToken makes a token of 128 random bits.
func NewToken() string { return rand.Text() }

// NewServer makes the server of an explorer.
func NewServer(x *Explorer, host, token string) (*Server, error) {
	s := &Server{Explorer: x, Host: host, Token: token, view: view{Explorer: x}}
	var err error
	if s.templates, err = s.view.parse(); err != nil {
		return nil, err
	}
	if s.script, err = assets.ReadFile("assets/app.js"); err != nil {
		return nil, err
	}
	s.style, err = styleSheet()
	return s, err
}

// styleSheet is the CSS of pages and charts.
func styleSheet() ([]byte, error) {
	css, err := assets.ReadFile("assets/style.css")
	return append(css, chart.StyleSheet()...), err
}

// Loopback reports whether an address is reachable from this machine only.
func Loopback(host string) bool {
	if host == "localhost" {
		return true
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.IsLoopback()
}

// policy is the Content-Security-Policy: pages load only their own files.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src data:; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

const cookie = "ssdl-token"

// ServeHTTP implements http.Handler.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Content-Security-Policy", policy)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-Frame-Options", "DENY")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cache-Control", "no-cache")
	switch {
	case !s.hosts(r.Host):
		http.Error(w, "403: this server answers only to its own address, not to the name in the request.", http.StatusForbidden)
	case r.Method != http.MethodGet && r.Method != http.MethodHead:
		h.Set("Allow", "GET, HEAD")
		http.Error(w, "405: this server only answers GET and HEAD.", http.StatusMethodNotAllowed)
	case !s.allowed(w, r):
	case r.URL.Path == "/assets/style.css":
		asset(w, "text/css; charset=utf-8", s.style)
	case r.URL.Path == "/assets/app.js":
		asset(w, "text/javascript; charset=utf-8", s.script)
	case r.URL.Path == "/live/events":
		s.events(w, r)
	default:
		s.page(w, r)
	}
}

func asset(w http.ResponseWriter, kind string, content []byte) {
	w.Header().Set("Content-Type", kind)
	w.Write(content)
}

// hosts reports whether a Host header names this server. This refuses pages of other sites whose name
// points at this machine. A numeric address cannot be redirected so.
func (s *Server) hosts(header string) bool {
	host := header
	if h, _, err := net.SplitHostPort(header); err == nil {
		host = h
	}
	host = strings.TrimSuffix(strings.TrimPrefix(host, "["), "]")
	if Loopback(s.Host) {
		return Loopback(host)
	}
	_, err := netip.ParseAddr(host)
	return err == nil || Loopback(host) || strings.EqualFold(host, s.Host)
}

// allowed reports whether the browser has the token. The first request has it in the address, which is then
// replaced; later ones have it in a cookie.
func (s *Server) allowed(w http.ResponseWriter, r *http.Request) bool {
	if s.Token == "" {
		return true
	}
	same := func(given string) bool { return subtle.ConstantTimeCompare([]byte(given), []byte(s.Token)) == 1 }
	query := r.URL.Query()
	if given := query.Get("token"); same(given) {
		http.SetCookie(w, &http.Cookie{Name: cookie, Value: given, Path: "/", HttpOnly: true, SameSite: http.SameSiteStrictMode})
		query.Del("token")
		to := *r.URL
		to.Scheme, to.Host, to.RawQuery = "", "", query.Encode()
		to.Path = "/" + strings.TrimLeft(to.Path, "/")
		http.Redirect(w, r, to.RequestURI(), http.StatusSeeOther)
		return false
	}
	if c, err := r.Cookie(cookie); err == nil && same(c.Value) {
		return true
	}
	http.Error(w, "401: open the address with the token that ssdl serve printed.", http.StatusUnauthorized)
	return false
}

// problem is a page about an error.
type problem struct{ Title, Text string }

func (s *Server) page(w http.ResponseWriter, r *http.Request) {
	status := http.StatusOK
	p, err := s.view.page(r.Context(), r.URL.EscapedPath(), r.URL.Query())
	switch {
	case r.Context().Err() != nil:
		return
	case errors.Is(err, errNotFound):
		status, p = http.StatusNotFound, page{Title: "Not found", Template: "problem", Data: problem{"Not found", err.Error() + "."}}
	case err != nil:
		status, p = http.StatusInternalServerError, page{Title: "Error", Template: "problem", Data: problem{"The page could not be made", err.Error()}}
	}
	content, err := s.view.framed(s.templates, p, nil)
	if err != nil {
		http.Error(w, "500: "+sanitize.Line(err.Error()), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	w.Write(content)
}

// lookEvery is the interval at which the live page checks the store and the running jobs. restEvery is the
// pause after it has sent a page, to leave the machine to runs.
const (
	lookEvery = 500 * time.Millisecond
	restEvery = 2 * time.Second
)

// events sends the live page whenever it changes, until the browser disconnects.
func (s *Server) events(w http.ResponseWriter, r *http.Request) {
	control := http.NewResponseController(w)
	control.SetWriteDeadline(time.Time{})
	w.Header().Set("Content-Type", "text/event-stream")
	sent, pause := "", time.Duration(0)
	for wait(r.Context(), pause) {
		body, err := s.live(r.Context())
		if err != nil {
			return
		}
		if pause = lookEvery; body == sent {
			continue
		}
		sent, pause = body, restEvery
		raw, err := json.Marshal(body)
		if err != nil {
			return
		}
		if _, err := fmt.Fprintf(w, "data: %s\n\n", raw); err != nil {
			return
		}
		if err := control.Flush(); err != nil {
			return
		}
	}
}

// wait reports whether the time has passed before ctx is done.
func wait(ctx context.Context, d time.Duration) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(d):
		return true
	}
}

func (s *Server) live(ctx context.Context) (string, error) {
	p, err := s.view.livePage(ctx)
	if err != nil {
		return "", err
	}
	return s.view.body(s.templates, p)
}
