package fetch

import (
	"cmp"
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
	// maxDownload bounds an archive of unpublished size, in bytes: several times the largest known
	// one.
	maxDownload = 4 << 30
	// attempts bounds the consecutive requests that bring no byte.
	attempts = 4
	// defaultStall is how long a transfer may bring nothing before a new request resumes it.
	// defaultDelay is the wait before a failed request is repeated; it doubles each time.
	defaultStall = 60 * time.Second
	defaultDelay = time.Second
)

// download fetches an archive to path, or verifies the one there. An interrupted transfer stays in
// path.part, and is resumed if the server proves that its file is the same. Files that fail a check
// are added to damaged.
func (f *Fetcher) download(ctx context.Context, a Archive, path string, damaged *[]Damaged) (Record, error) {
	if r, ok, err := existing(ctx, a, path, damaged); ok || err != nil {
		return r, err
	}
	pin, _, err := pinned(path, damaged)
	if err != nil {
		return Record{}, err
	}
	t := &transfer{Fetcher: f, archive: a, pin: pin, path: path, part: partPath(path), limit: maxDownload}
	if a.Size > 0 {
		t.limit = a.Size
	}
	if err := t.run(ctx); err != nil {
		return Record{}, err
	}
	return t.finish(ctx)
}

// transfer is the download of one archive.
type transfer struct {
	*Fetcher
	archive    Archive
	pin        Record // record of an earlier download; zero without one
	path, part string
	limit      int64 // bytes accepted
	// state describes the server's file that part is the beginning of. It is kept beside part for
	// the next process.
	state Record
}

var defaultClient = &http.Client{Transport: &http.Transport{
	Proxy:                 http.ProxyFromEnvironment,
	DialContext:           (&net.Dialer{Timeout: 30 * time.Second}).DialContext,
	TLSHandshakeTimeout:   30 * time.Second,
	ResponseHeaderTimeout: defaultStall,
	IdleConnTimeout:       defaultStall,
}}

// retryable wraps failures that another request may overcome.
type retryable struct{ err error }

func (e retryable) Error() string { return e.err.Error() }
func (e retryable) Unwrap() error { return e.err }

// run makes requests until the file is complete. Only requests without new bytes count as failures,
// so a bad connection makes slow progress. An unreachable server is retried only if an earlier
// request reached it.
func (t *transfer) run(ctx context.Context) error {
	delay := cmp.Or(t.retryDelay, defaultDelay)
	reached := false
	for failures := 0; ; {
		before := t.partSize()
		err := t.request(ctx)
		var again retryable
		switch {
		case err == nil:
			return nil
		case ctx.Err() != nil:
			return fmt.Errorf("%s: %w; %d bytes are kept", filepath.Base(t.path), ctx.Err(), t.partSize())
		case !errors.As(err, &again):
			return err
		}
		offline := errors.Is(err, ErrOffline)
		reached = reached || !offline
		if offline && !reached {
			return again.err
		}
		if t.partSize() > before {
			failures = 0
		}
		if failures++; failures == attempts {
			return again.err
		}
		select {
		case <-ctx.Done():
		case <-time.After(delay << (failures - 1)):
		}
	}
}

// partSize returns the bytes of part, 0 without it.
func (t *transfer) partSize() int64 {
	st, err := os.Stat(t.part)
	if err != nil {
		return 0
	}
	return st.Size()
}

// discard removes part and its record.
func (t *transfer) discard() error {
	t.state = Record{}
	for _, p := range []string{t.part, recordPath(t.part)} {
		if err := os.Remove(p); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// validator identifies the server's file: a strong ETag, or the time of its last change. Without
// either, a transfer cannot be resumed.
func (r Record) validator() string {
	if strings.HasPrefix(r.ETag, `"`) { // a weak one (W/"...") does not promise equal bytes
		return r.ETag
	}
	return r.LastModified
}

// request asks for the missing bytes and appends them to part. It returns nil when part is
// complete.
func (t *transfer) request(ctx context.Context) error {
	from := t.partSize()
	if from > 0 {
		known, ok, _ := readRecord(t.part)
		if !ok || known.URL != t.archive.URL || known.validator() == "" || from > t.limit {
			if err := t.discard(); err != nil {
				return err
			}
			from, known = 0, Record{}
		}
		t.state = known
		if from > 0 && from == known.Size { // complete, but not yet verified
			return nil
		}
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, t.archive.URL, nil)
	if err != nil {
		return err
	}
	req.Header.Set("Accept-Encoding", "identity") // ranges count the bytes of the file as it is stored
	req.Header.Set("User-Agent", "ssdl")
	if from > 0 {
		req.Header.Set("Range", fmt.Sprintf("bytes=%d-", from))
		req.Header.Set("If-Range", t.state.validator())
	}
	client := *defaultClient
	if t.client != nil {
		client = *t.client
	}
	client.CheckRedirect = checkRedirect
	resp, err := client.Do(req)
	if refusal := (*sourceError)(nil); errors.As(err, &refusal) {
		return refusal
	}
	if err != nil {
		return retryable{t.connectionError(err)}
	}
	defer resp.Body.Close()
	total, err := t.accept(resp, from)
	if err != nil {
		return err
	}
	switch resp.StatusCode {
	case http.StatusRequestedRangeNotSatisfiable:
		return nil // accept found it complete
	case http.StatusOK:
		from = 0
	}
	return t.copy(ctx, cancel, resp.Body, from, total)
}

// connectionError tells an unreachable server from one that answers wrongly.
func (t *transfer) connectionError(err error) error {
	var u *url.Error
	timeout := false
	if errors.As(err, &u) {
		timeout = u.Timeout()
		err = u.Err // without its address
	}
	var op *net.OpError
	var dns *net.DNSError
	if errors.As(err, &dns) || timeout || errors.As(err, &op) && (op.Op == "dial" || op.Op == "proxyconnect") {
		return fmt.Errorf("%s: %w: %w", t.archive.URL, ErrOffline, err)
	}
	return refuse(t.archive.URL, "the connection failed: %v", err)
}

// accept checks the header of the answer to a request for the bytes after from. It returns the size
// of the whole file, -1 if unknown, and stores the description of the file in state.
func (t *transfer) accept(resp *http.Response, from int64) (total int64, err error) {
	host := resp.Request.URL.Host
	switch code := resp.StatusCode; {
	case code == http.StatusOK: // the whole file: it has changed, or the server has no ranges
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
			if err := t.discard(); err != nil {
				return 0, err
			}
			return 0, retryable{refuse(t.archive.URL, "%s sent the range %.80q for the bytes from %d on", host, resp.Header.Get("Content-Range"), from)}
		}
		return size, t.checkSize(size)
	case code == http.StatusRequestedRangeNotSatisfiable && from > 0:
		// part is complete if it is as long as the file; otherwise it belongs to another file.
		if _, size, ok := contentRange(resp.Header.Get("Content-Range")); ok && size == from && t.state.Size <= 0 {
			return from, nil
		}
		if err := t.discard(); err != nil {
			return 0, err
		}
		return 0, retryable{refuse(t.archive.URL, "%s has no bytes from %d on", host, from)}
	case code == http.StatusTooManyRequests || code == http.StatusRequestTimeout || code >= 500:
		return 0, retryable{refuse(t.archive.URL, "%s answered %.80s", host, resp.Status)}
	default:
		return 0, refuse(t.archive.URL, "%s answered %.80s", host, resp.Status)
	}
}

// begin creates an empty part with its state. It refuses an unacceptable size.
func (t *transfer) begin(total int64) error {
	if err := t.checkSize(total); err != nil {
		return err
	}
	state := t.state
	if err := t.discard(); err != nil {
		return err
	}
	t.state = state
	if err := os.WriteFile(t.part, nil, 0o644); err != nil {
		return err
	}
	return t.state.write(t.part)
}

// checkSize refuses a file of an unexpected size before the transfer; -1 is unknown.
func (t *transfer) checkSize(total int64) error {
	switch {
	case total < 0 || total == t.archive.Size:
		return nil
	case t.archive.Size > 0:
		return refuse(t.archive.URL, "the server has a file of %d bytes, expected %d", total, t.archive.Size)
	case total > t.limit:
		return refuse(t.archive.URL, "the server has a file of %d bytes, expected at most %d", total, t.limit)
	}
	return nil
}

// contentRange parses "bytes 5-9/10" and "bytes */10". start is -1 in the second form; size is -1
// for "*".
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

// copy appends body to part, which already has from bytes. It cancels the request when nothing
// arrives for too long.
func (t *transfer) copy(ctx context.Context, cancel context.CancelCauseFunc, body io.Reader, from, total int64) error {
	out, err := os.OpenFile(t.part, os.O_WRONLY|os.O_APPEND, 0o644)
	if err != nil {
		return err
	}
	defer out.Close()
	stall := cmp.Or(t.stallTimeout, defaultStall)
	watchdog := time.AfterFunc(stall, func() { cancel(fmt.Errorf("nothing came for %v", stall)) })
	defer watchdog.Stop()
	buf := make([]byte, 256<<10)
	name, done := filepath.Base(t.path), from
	most := t.limit
	if total >= 0 {
		most = min(most, total)
	}
	for {
		n, err := body.Read(buf)
		watchdog.Reset(stall)
		if n > 0 {
			if done += int64(n); done > most {
				if err := t.discard(); err != nil {
					return err
				}
				return refuse(t.archive.URL, "the server sent more than the %d bytes that are expected", most)
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
			return retryable{refuse(t.archive.URL, "the transfer broke off after %d bytes: %v", done, err)}
		}
	}
	if total >= 0 && done < total {
		return retryable{refuse(t.archive.URL, "the transfer ended after %d of %d bytes", done, total)}
	}
	if err := out.Sync(); err != nil {
		return err
	}
	return out.Close()
}

// finish verifies the complete part and renames it.
func (t *transfer) finish(ctx context.Context) (Record, error) {
	sum, err := hashFile(ctx, t.part)
	if err != nil {
		return Record{}, err
	}
	r := t.state
	r.Size, r.SHA256, r.Verified, r.When = t.partSize(), sum, t.archive.SHA256 != "", now()
	reason := t.archive.differs(r.Size, sum)
	if reason == "" {
		if reason, err = unknownKind(t.part); err != nil {
			return Record{}, err
		}
	}
	if reason == "" && !r.Verified && t.pin.SHA256 != "" && t.pin.SHA256 != sum {
		reason = fmt.Sprintf("has SHA-256 %s, and had %s on %s. If the authors replaced the file, delete %s and fetch again.",
			sum, t.pin.SHA256, t.pin.When.Format(time.DateOnly), recordPath(t.path))
	}
	if reason != "" { // do not resume from a wrong file
		return Record{}, errors.Join(refuse(t.archive.URL, "%s", reason), t.discard())
	}
	if err := r.write(t.path); err != nil {
		return Record{}, err
	}
	if err := os.Rename(t.part, t.path); err != nil {
		return Record{}, err
	}
	return r, os.Remove(recordPath(t.part))
}
