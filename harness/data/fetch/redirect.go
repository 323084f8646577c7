package fetch

import (
	"cmp"
	"net/http"
	"net/url"
	"path"
	"strings"
)

// maxRedirects bounds the redirects of a request.
const maxRedirects = 5

// checkRedirect refuses redirects to another host, and from https to http: the user trusts this
// address only.
func checkRedirect(req *http.Request, via []*http.Request) error {
	first, last, next := via[0].URL, via[len(via)-1].URL, req.URL
	switch {
	case last.Scheme == "https" && next.Scheme != "https":
		return refuse(first.Redacted(), "redirects from https to %.200s, which is not encrypted. If you trust that address, download the file by hand.", next.Redacted())
	case !sameHost(first, next):
		folder := *next
		folder.Path, folder.RawPath, folder.RawQuery, folder.Fragment = path.Dir(next.Path), "", "", ""
		return refuse(first.Redacted(), "redirects to another host: %.200s. If you trust it, pass --from %.200s, or download the file by hand.", next.Redacted(), folder.Redacted())
	case len(via) > maxRedirects:
		return refuse(first.Redacted(), "redirects more than %d times. Download the file by hand.", maxRedirects)
	}
	return nil
}

// sameHost compares names and ports. The default port may change from http to https.
func sameHost(a, b *url.URL) bool {
	port := map[string]string{"http": "80", "https": "443"}
	p, q := cmp.Or(a.Port(), port[a.Scheme]), cmp.Or(b.Port(), port[b.Scheme])
	return strings.EqualFold(a.Hostname(), b.Hostname()) && (p == q || p == "80" && q == "443")
}
