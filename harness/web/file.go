package web

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"html/template"
	"io"
	"net/url"
	"slices"
	"strconv"
)

// fileFrame is the frame of the page that a file shows first.
type fileFrame struct {
	Policy string
	Style  template.CSS
	Script template.JS
	Chunks template.HTML
}

// filePage is a page as the script of a file unpacks it.
type filePage struct {
	Title   string `json:"title"`
	Section string `json:"section"`
	Body    string `json:"body"`
}

// pieceSize is how much text is compressed together: large, because pages are alike, but quick to unpack.
const pieceSize = 1 << 20

// WriteFile writes the pages of an explorer, with the runs that tables show, as one self-contained file.
// The same results make the same file.
func (x *Explorer) WriteFile(ctx context.Context, out io.Writer) error {
	addresses, err := x.addresses(ctx)
	if err != nil {
		return err
	}
	v := view{Explorer: x, carried: map[string]bool{"/": true}}
	for _, a := range addresses {
		v.carried[a] = true
	}
	t, err := v.parse()
	if err != nil {
		return err
	}
	var chunks bytes.Buffer
	index := map[string]int{}
	piece, size := map[string]filePage{}, 0
	var order []string
	number := 0
	flush := func() error {
		if len(order) == 0 {
			return nil
		}
		raw, err := pages(order, piece)
		if err != nil {
			return err
		}
		if err := pack(&chunks, "piece-"+strconv.Itoa(number), raw); err != nil {
			return err
		}
		number++
		piece, order, size = map[string]filePage{}, nil, 0
		return nil
	}
	for _, a := range addresses {
		if err := ctx.Err(); err != nil {
			return err
		}
		p, err := v.page(ctx, a, url.Values{})
		if err != nil {
			return fmt.Errorf("%s: %w", a, err)
		}
		body, err := v.body(t, p)
		if err != nil {
			return err
		}
		index[a] = number
		piece[a], order = filePage{p.Title + " · ssdl", p.Section, body}, append(order, a)
		if size += len(body); size > pieceSize {
			if err := flush(); err != nil {
				return err
			}
		}
	}
	if err := flush(); err != nil {
		return err
	}
	raw, err := json.Marshal(index)
	if err != nil {
		return err
	}
	if err := pack(&chunks, "index", raw); err != nil {
		return err
	}
	front, err := v.frontPage(ctx)
	if err != nil {
		return err
	}
	script, err := assets.ReadFile("assets/app.js")
	if err != nil {
		return err
	}
	style, err := styleSheet()
	if err != nil {
		return err
	}
	content, err := v.framed(t, front, &fileFrame{
		Policy: fmt.Sprintf("default-src 'none'; script-src '%s'; style-src '%s'; img-src data:; base-uri 'none'; form-action 'none'", hashSource(script), hashSource(style)),
		Style:  template.CSS(style), Script: template.JS(script), Chunks: template.HTML(chunks.String()),
	})
	if err != nil {
		return err
	}
	_, err = out.Write(content)
	return err
}

// hashSource is the source expression of content in a Content-Security-Policy.
func hashSource(content []byte) string {
	sum := sha256.Sum256(content)
	return "sha256-" + base64.StdEncoding.EncodeToString(sum[:])
}

// pages encodes pages as a JSON object, in the given order, so that similar pages are adjacent.
func pages(order []string, of map[string]filePage) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false) // compressed before it is put into HTML
	for i, a := range order {
		b.WriteByte("{,"[min(i, 1)])
		if err := enc.Encode(a); err != nil {
			return nil, err
		}
		b.WriteByte(':')
		if err := enc.Encode(of[a]); err != nil {
			return nil, err
		}
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// pack writes content, compressed, as an element.
func pack(out *bytes.Buffer, id string, content []byte) error {
	var b bytes.Buffer
	z, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		return err
	}
	if _, err := z.Write(content); err != nil {
		return err
	}
	if err := z.Close(); err != nil {
		return err
	}
	fmt.Fprintf(out, "<script type=\"application/octet-stream\" id=%q>%s</script>\n", id, base64.StdEncoding.EncodeToString(b.Bytes()))
	return nil
}

// ErrNoResults is the error of WriteFile if no spec has a result.
var ErrNoResults = errors.New("it has no results of the specs")

// addresses lists the pages of a file except the front page: tables, figures, cells, data sets, the runs of
// cells, and comparisons of rows with the same setting. A file leaves out what would be too many pages: the runs of
// readings, comparisons of readings with other settings, and, where the paper makes claims about a table, comparisons of
// two different methods that no claim is about.
func (x *Explorer) addresses(ctx context.Context) ([]string, error) {
	all, err := x.loadAll(ctx)
	if err != nil {
		return nil, err
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("%s: %w", x.Path, ErrNoResults)
	}
	v := view{Explorer: x}
	out := []string{"/tables", "/figures", "/data"}
	var cells, pairs []string
	runs := map[string]bool{}
	readings := false
	var sets []string
	for _, s := range all {
		out = append(out, tablePath(s.id))
		figures, curves := false, false
		for _, f := range s.figures {
			figures, curves = figures || f.Readings == nil, curves || f.Readings != nil
		}
		if figures {
			out = append(out, figuresPath(s.id))
		}
		if curves {
			out, readings = append(out, path("readings", s.id)), true
		}
		claimed := map[string]bool{} // rows
		for _, f := range s.verdicts.Claims {
			claimed[f.Row] = true
		}
		for j, c := range s.table.Columns {
			if c.Published {
				continue
			}
			for _, r := range s.table.Rows() {
				e, ok := s.explain(place{r.ID, c.ID})
				if !ok {
					continue
				}
				cells = append(cells, cellPath(s.id, r.ID, c.ID))
				for _, k := range e.Runs {
					if k.UID != "" && !runs[k.UID] && !curves {
						runs[k.UID] = true
						cells = append(cells, runPath(k.UID))
					}
				}
				for _, other := range s.table.Rows() {
					near := len(claimed) == 0 || claimed[r.Base] || claimed[other.Base] || r.Method != "" && r.Method == other.Method
					if to := v.pairPath(s, r, other, j); to != "" && near && len(r.Setting) == len(other.Setting) {
						pairs = append(pairs, to)
					}
				}
			}
		}
		for _, d := range s.table.Data {
			sets = append(sets, d.Column)
		}
	}
	if readings {
		out = append(out, "/readings")
	}
	slices.Sort(sets)
	for _, name := range slices.Compact(sets) {
		out = append(out, path("data", name))
	}
	slices.SortStableFunc(cells, func(a, b string) int { return kindOf(a) - kindOf(b) })
	slices.Sort(pairs)
	return slices.Concat(out, cells, slices.Compact(pairs)), nil
}

// kindOf sorts pages by kind, which compress best together.
func kindOf(address string) int {
	if len(address) > 4 && address[:5] == "/run/" {
		return 1
	}
	return 0
}
