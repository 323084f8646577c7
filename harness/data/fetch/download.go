package fetch

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

const (
	// maxDownload bounds an archive whose size is not known, in bytes: several times the
	// largest there is.
	maxDownload = 4 << 30
	// attempts is how often a request is made in a row without a byte having come.
	attempts = 4
	// stall is how long a transfer may stand still before it is broken off and resumed.
	stall = 60 * time.Second
)

// Download fetches an archive to path, or verifies the one that is there. What has come of
// an interrupted transfer lies in path + ".part" and is used again, if the server can tell
// that the file is still the same. The error wraps ErrOffline, ErrSource, ctx's error or
// that of the file system.
func (f *Fetcher) Download(ctx context.Context, a Archive, path string) (Record, error) {
	if r, ok, err := present(ctx, a, path); ok || err != nil {
		return r, err
	}
	t := &transfer{Fetcher: f, archive: a, path: path, part: path + ".part", limit: maxDownload}
	if a.Size > 0 {
		t.limit = a.Size
	}
	if err := t.run(ctx); err != nil {
		return Record{}, err
	}
	return t.finish(ctx)
}

// transfer is one archive on its way.
type transfer struct {
	*Fetcher
	archive    Archive
	path, part string
	limit      int64 // bytes that are accepted
	// state is what the server said of the file that part is the beginning of. It is kept
	// beside part, for the next process.
	state Record
}

var defaultClient = &http.Client{Transport: &http.Transport{
	Proxy:                 http.ProxyFromEnvironment,
	DialContext:           (&net.Dialer{Timeout: 30 * time.Second}).DialContext,
	TLSHandshakeTimeout:   30 * time.Second,
	ResponseHeaderTimeout: stall,
	IdleConnTimeout:       stall,
}}

// errAgain wraps failures that a further request may mend.
type errAgain struct{ err error }

func (e errAgain) Error() string { return e.err.Error() }
func (e errAgain) Unwrap() error { return e.err }

// run makes requests until the file is complete. A request that brought bytes does not count
// as a failure: on a bad line the transfer creeps forward instead of giving up. A server that
// is not there at all is not waited for, unless it was there a moment ago.
func (t *transfer) run(ctx context.Context) error {
	pause := t.Pause
	if pause == 0 {
		pause = time.Second
	}
	reached := false
	for failures := 0; ; {
		before := t.have()
		err := t.request(ctx)
		var again errAgain
		switch {
		case err == nil:
			return nil
		case ctx.Err() != nil:
			return fmt.Errorf("%s: %w; %d bytes are kept", filepath.Base(t.path), ctx.Err(), t.have())
		case !errors.As(err, &again):
			return err
		}
		offline := errors.Is(err, ErrOffline)
		reached = reached || !offline
		if offline && !reached {
			return again.err
		}
		if t.have() > before {
			failures = 0
		}
		if failures++; failures == attempts {
			return again.err
		}
		select {
		case <-ctx.Done():
		case <-time.After(pause << (failures - 1)):
		}
	}
}

// have returns the bytes that have come.
func (t *transfer) have() int64 {
	st, err := os.Stat(t.part)
	if err != nil {
		return 0
	}
	return st.Size()
}

// forget throws away what has come.
func (t *transfer) forget() error {
	t.state = Record{}
	for _, p := range []string{t.part, recordPath(t.part)} {
		if err := os.Remove(p); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// validator returns what proves to the server that part is of its present file: a strong
// ETag, or the time of its last change. With neither nothing can be resumed.
func (r Record) validator() string {
	if strings.HasPrefix(r.ETag, `"`) { // a weak one (W/"...") does not promise equal bytes
		return r.ETag
	}
	return r.LastModified
}

// request asks for what is missing and appends it to part. nil means that part is complete.
func (t *transfer) request(ctx context.Context) error {
	from := t.have()
	if from > 0 {
		known, ok := readRecord(t.part)
		if !ok || known.URL != t.archive.URL || known.validator() == "" || from > t.limit {
			if err := t.forget(); err != nil {
				return err
			}
			from, known = 0, Record{}
		}
		t.state = known
		if from > 0 && from == known.Size { // only the verification was missing
			return nil
		}
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, t.archive.URL, nil)
	if err != nil {
		return err
	}
	req.Header.Set("Accept-Encoding", "identity") // bytes as they lie on the server, or ranges mean nothing
	req.Header.Set("User-Agent", "ssdl")
	if from > 0 {
		req.Header.Set("Range", fmt.Sprintf("bytes=%d-", from))
		req.Header.Set("If-Range", t.state.validator())
	}
	client := t.Client
	if client == nil {
		client = defaultClient
	}
	resp, err := client.Do(req)
	if err != nil {
		return errAgain{unreachable(err)}
	}
	defer resp.Body.Close()
	total, err := t.accept(resp, from)
	if err != nil {
		return err
	}
	switch resp.StatusCode {
	case http.StatusRequestedRangeNotSatisfiable:
		return nil // accepted: it is complete
	case http.StatusOK:
		from = 0
	}
	return t.copy(ctx, cancel, resp.Body, from, total)
}

// unreachable tells a server that is not there from one that answers wrongly.
func unreachable(err error) error {
	var u *url.Error
	timeout := false
	if errors.As(err, &u) {
		timeout = u.Timeout()
		err = u.Err // the address is told elsewhere
	}
	var op *net.OpError
	var dns *net.DNSError
	if errors.As(err, &dns) || timeout || errors.As(err, &op) && (op.Op == "dial" || op.Op == "proxyconnect") {
		return fmt.Errorf("%w: %w", ErrOffline, err)
	}
	return fmt.Errorf("%w: the connection failed: %w", ErrSource, err)
}

// accept looks at the head of the answer to a request for the bytes from from on. It returns
// the size of the whole file, -1 where the server does not say, and sees to it that state
// describes the file that follows.
func (t *transfer) accept(resp *http.Response, from int64) (total int64, err error) {
	host := resp.Request.URL.Host
	switch code := resp.StatusCode; {
	case code == http.StatusOK: // from the start: the file has changed, or ranges are not known here
		total = resp.ContentLength
		t.state = Record{URL: t.archive.URL, Size: total, ETag: resp.Header.Get("ETag"), LastModified: resp.Header.Get("Last-Modified")}
		if err := t.begin(total); err != nil {
			return 0, err
		}
		return total, nil
	case code == http.StatusPartialContent && from > 0:
		start, size, ok := contentRange(resp.Header.Get("Content-Range"))
		tag := resp.Header.Get("ETag")
		if !ok || start != from || (t.state.Size > 0 && size > 0 && size != t.state.Size) || (tag != "" && t.state.ETag != "" && tag != t.state.ETag) {
			if err := t.forget(); err != nil {
				return 0, err
			}
			return 0, errAgain{fmt.Errorf("%s: %w: %s sent the range %q for the bytes from %d on", t.archive.URL, ErrSource, host, resp.Header.Get("Content-Range"), from)}
		}
		return size, t.fits(size)
	case code == http.StatusRequestedRangeNotSatisfiable && from > 0:
		// Nothing is missing if part is as long as the file; else it is of another file.
		if _, size, ok := contentRange(resp.Header.Get("Content-Range")); ok && size == from && t.state.Size <= 0 {
			return from, nil
		}
		if err := t.forget(); err != nil {
			return 0, err
		}
		return 0, errAgain{fmt.Errorf("%s: %w: %s has no bytes from %d on", t.archive.URL, ErrSource, host, from)}
	case code == http.StatusTooManyRequests || code == http.StatusRequestTimeout || code >= 500:
		return 0, errAgain{fmt.Errorf("%s: %w: %s answered %s", t.archive.URL, ErrSource, host, resp.Status)}
	default:
		return 0, fmt.Errorf("%s: %w: %s answered %s", t.archive.URL, ErrSource, host, resp.Status)
	}
}

// begin makes an empty part with its state, if a file of that size is acceptable.
func (t *transfer) begin(total int64) error {
	if err := t.fits(total); err != nil {
		return err
	}
	state := t.state
	if err := t.forget(); err != nil {
		return err
	}
	t.state = state
	if err := os.WriteFile(t.part, nil, 0o644); err != nil {
		return err
	}
	return t.state.write(t.part)
}

// fits refuses a file of another size than expected before it is transferred; -1 is unknown.
func (t *transfer) fits(total int64) error {
	switch {
	case total < 0 || total == t.archive.Size:
		return nil
	case t.archive.Size > 0:
		return fmt.Errorf("%s: %w: the server has a file of %d bytes, expected %d", t.archive.URL, ErrSource, total, t.archive.Size)
	case total > t.limit:
		return fmt.Errorf("%s: %w: the server has a file of %d bytes, more than the %d that are accepted", t.archive.URL, ErrSource, total, t.limit)
	}
	return nil
}

// contentRange reads "bytes 5-9/10" and "bytes */10". start is -1 in the second, size -1 for "*".
func contentRange(s string) (start, size int64, ok bool) {
	span, whole, ok := strings.Cut(strings.TrimPrefix(s, "bytes "), "/")
	if !ok || !strings.HasPrefix(s, "bytes ") {
		return 0, 0, false
	}
	start, size = -1, -1
	var err error
	if whole != "*" {
		if size, err = strconv.ParseInt(whole, 10, 64); err != nil || size < 0 {
			return 0, 0, false
		}
	}
	if span != "*" {
		first, _, _ := strings.Cut(span, "-")
		if start, err = strconv.ParseInt(first, 10, 64); err != nil || start < 0 {
			return 0, 0, false
		}
	}
	return start, size, true
}

// copy appends body to part, of which from bytes are there, and breaks off the request when
// nothing has come for too long.
func (t *transfer) copy(ctx context.Context, cancel context.CancelCauseFunc, body io.Reader, from, total int64) error {
	out, err := os.OpenFile(t.part, os.O_WRONLY|os.O_APPEND, 0o644)
	if err != nil {
		return err
	}
	defer out.Close()
	patience := t.Patience
	if patience == 0 {
		patience = stall
	}
	watchdog := time.AfterFunc(patience, func() { cancel(fmt.Errorf("nothing came for %v", patience)) })
	defer watchdog.Stop()
	buf := make([]byte, 256<<10)
	name, done := filepath.Base(t.path), from
	most := t.limit
	if total >= 0 {
		most = min(most, total)
	}
	for {
		n, err := body.Read(buf)
		watchdog.Reset(patience)
		if n > 0 {
			if done += int64(n); done > most {
				if err := t.forget(); err != nil {
					return err
				}
				return fmt.Errorf("%s: %w: more came than the %d bytes that are expected", t.archive.URL, ErrSource, most)
			}
			if _, err := out.Write(buf[:n]); err != nil {
				return err
			}
			if t.Progress != nil {
				t.Progress(name, done, total)
			}
		}
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			if cause := context.Cause(ctx); cause != nil {
				err = cause
			}
			return errAgain{fmt.Errorf("%s: %w: the transfer broke off after %d bytes: %w", t.archive.URL, ErrSource, done, err)}
		}
	}
	if total >= 0 && done < total {
		return errAgain{fmt.Errorf("%s: %w: the transfer ended after %d of %d bytes", t.archive.URL, ErrSource, done, total)}
	}
	if err := out.Sync(); err != nil {
		return err
	}
	return out.Close()
}

// finish verifies the complete part and gives it its name.
func (t *transfer) finish(ctx context.Context) (Record, error) {
	sum, err := hashFile(ctx, t.part)
	if err != nil {
		return Record{}, err
	}
	r := t.state
	r.Size, r.SHA256, r.Verified = t.have(), sum, t.archive.SHA256 != ""
	r.When = time.Now().UTC().Truncate(time.Second)
	err = t.archive.check(t.archive.URL, r.Size, sum)
	if err == nil {
		err = sniff(t.part)
	}
	if err != nil { // there is nothing in it to go on from
		return Record{}, errors.Join(err, t.forget())
	}
	if err := r.write(t.path); err != nil {
		return Record{}, err
	}
	if err := os.Rename(t.part, t.path); err != nil {
		return Record{}, err
	}
	return r, os.Remove(recordPath(t.part))
}
