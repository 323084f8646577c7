package archive

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// entry is a file of an untrusted archive.
type entry struct {
	name    string
	content []byte
	mode    fs.FileMode
}

// untrusted makes a zip of files, with metadata that describes them if crate is set.
func untrusted(t testing.TB, describe bool, entries ...entry) []byte {
	t.Helper()
	if describe {
		var graph []any
		for _, e := range entries {
			graph = append(graph, map[string]any{"@id": e.name, "@type": "File", "contentSize": fmt.Sprint(len(e.content)), "sha256": sum(e.content)})
		}
		raw, err := json.Marshal(map[string]any{"@graph": graph})
		if err != nil {
			t.Fatal(err)
		}
		entries = append([]entry{{name: metadataFile, content: raw}}, entries...)
	}
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for _, e := range entries {
		h := &zip.FileHeader{Name: e.name, Method: zip.Deflate}
		if e.mode != 0 {
			h.SetMode(e.mode)
		}
		w, err := z.CreateHeader(h)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write(e.content); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// extract unpacks an archive into a folder below a fresh one, which it returns.
func extract(t testing.TB, content []byte) (outer string, err error) {
	t.Helper()
	outer = t.TempDir()
	path, dir := filepath.Join(outer, "strange.zip"), filepath.Join(outer, "in")
	if err := os.WriteFile(path, content, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	_, err = Extract(t.Context(), path, dir, TrustedKeys{})
	return outer, err
}

var runsDB = entry{name: StoreFile, content: []byte("runs")}

func TestExtract(t *testing.T) {
	outer, err := extract(t, untrusted(t, true, runsDB, entry{name: "tables/a b.csv", content: []byte("x")}, entry{name: "tables/é.txt"}))
	if err != nil {
		t.Fatal(err)
	}
	if b, err := os.ReadFile(filepath.Join(outer, "in", "tables", "a b.csv")); err != nil || string(b) != "x" {
		t.Errorf("%q, %v", b, err)
	}
}

// No name leads out of the folder, and a refused archive writes nothing into it.
func TestExtractRefusesNames(t *testing.T) {
	for _, name := range []string{
		"../evil", "a/../../evil", "/etc/evil", "..", ".", "a//b", "./a", `..\evil`, `a\b`, `C:\evil`, "C:evil", "a:stream", "a\x00b", "a\x1b[2J", "a\nb", "a\xffb", "a/./b",
	} {
		outer, err := extract(t, untrusted(t, true, runsDB, entry{name: name, content: []byte("evil")}))
		wantError(t, err, "strange.zip is refused", "may lie outside")
		if err != nil && strings.ContainsAny(err.Error(), "\x00\x1b\n") {
			t.Errorf("the message has control characters: %q", err)
		}
		wantNothing(t, outer)
	}
}

func wantNothing(t testing.TB, outer string) {
	t.Helper()
	entries, err := os.ReadDir(filepath.Join(outer, "in"))
	if err != nil || len(entries) > 0 {
		t.Errorf("%v, %v was unpacked", entries, err)
	}
	if entries, _ := os.ReadDir(outer); len(entries) != 2 {
		t.Errorf("beside it there is %v", entries)
	}
}

func TestExtractRefusesEntries(t *testing.T) {
	link := entry{name: "splits", content: []byte("/etc"), mode: fs.ModeSymlink | 0o777}
	for name, tc := range map[string]struct {
		entries []entry
		wants   string
	}{
		"symbolic link":      {[]entry{runsDB, link, {name: "splits/passwd", content: []byte("x")}}, `"splits" is a link`},
		"link as the store":  {[]entry{{name: StoreFile, content: []byte("/etc/passwd"), mode: fs.ModeSymlink | 0o777}}, "is a link"},
		"device":             {[]entry{runsDB, {name: "null", mode: fs.ModeDevice | 0o666}}, "special file"},
		"pipe":               {[]entry{runsDB, {name: "pipe", mode: fs.ModeNamedPipe | 0o666}}, "special file"},
		"the same name":      {[]entry{runsDB, runsDB}, "twice"},
		"file and folder":    {[]entry{runsDB, {name: "a"}, {name: "A/c/b"}}, `"a" is a file and a folder`},
		"folder and file":    {[]entry{runsDB, {name: "a/c/b"}, {name: "a/c"}}, `"a/c" is a file and a folder`},
		"other case":         {[]entry{runsDB, {name: "RUNS.DB"}}, "twice"},
		"grows like no file": {[]entry{runsDB, {name: "zeros", content: make([]byte, 64<<20)}}, "would grow from"},
	} {
		t.Run(name, func(t *testing.T) {
			outer, err := extract(t, untrusted(t, true, tc.entries...))
			wantError(t, err, "strange.zip is refused", tc.wants)
			wantNothing(t, outer)
		})
	}
}

func TestExtractRefusesContents(t *testing.T) {
	file := entry{name: "tables/a.csv", content: []byte("x")}
	graph := func(list string) entry {
		return entry{name: metadataFile, content: []byte(`{"@graph":[` + list + `]}`)}
	}
	db := fmt.Sprintf(`{"@id":"runs.db","@type":"File","contentSize":"4","sha256":%q}`, sum([]byte("runs")))
	for name, tc := range map[string]struct {
		content []byte
		wants   string
	}{
		"no zip":           {[]byte("PK\x03\x04 not a zip"), "is not a zip file, or it is damaged"},
		"no metadata":      {untrusted(t, false, runsDB), "it has no " + metadataFile},
		"no store":         {untrusted(t, true, file), "it has no runs.db"},
		"not described":    {untrusted(t, false, graph(db), runsDB, file), `"tables/a.csv" is not described`},
		"missing":          {untrusted(t, false, graph(db+`,{"@id":"specs/a.yaml","@type":["File","SoftwareSourceCode"],"sha256":""}`), runsDB), `"specs/a.yaml" is missing`},
		"other content":    {untrusted(t, false, graph(db), entry{name: StoreFile, content: []byte("rums")}), `"runs.db" is not the file that`},
		"metadata no JSON": {untrusted(t, false, entry{name: metadataFile, content: []byte("{")}, runsDB), "cannot be read"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := extract(t, tc.content)
			wantError(t, err, "strange.zip", tc.wants)
		})
	}
}

// patch changes the declared uncompressed size of the last entry, in its header, in its
// data descriptor and in the directory.
func patch(b []byte, from, to uint32) []byte {
	old, new := binary.LittleEndian.AppendUint32(nil, from), binary.LittleEndian.AppendUint32(nil, to)
	return bytes.ReplaceAll(b, old, new)
}

// A zip bomb is refused, whether or not its entry has the true size.
func TestExtractRefusesBombs(t *testing.T) {
	const size = 0x00ABCDEF // found nowhere else in the zip
	noise := bytes.Repeat([]byte("0123456789abcdefghijklmnopqrstuvwxyz,.-"), size/39+1)[:size]
	for i := 0; i < len(noise); i += 100 { // keeps the ratio below the limit
		noise[i] = byte(i / 100 * 7919 >> 3)
	}
	honest := untrusted(t, true, runsDB, entry{name: "big", content: noise})
	if _, err := extract(t, honest); err != nil {
		t.Fatalf("the honest archive: %v", err)
	}
	outer, err := extract(t, patch(honest, size, 1000))
	wantError(t, err, `"big" has more than the 1000 bytes of its entry`)
	if info, err := os.Stat(filepath.Join(outer, "in", "big")); err != nil || info.Size() > 1001 {
		t.Errorf("%d bytes were written, %v", info.Size(), err)
	}
	_, err = extract(t, patch(honest, size, size+1))
	wantError(t, err, `"big" is damaged`)
	outer, err = extract(t, patch(honest, size, 0xF0000000)) // 4 GB
	wantError(t, err, `"big" would grow from`)
	wantNothing(t, outer)
}

func TestCheckEntriesBoundsAll(t *testing.T) {
	var many []*zip.File
	for i := range 5 {
		f := &zip.File{FileHeader: zip.FileHeader{Name: fmt.Sprint(i), CompressedSize64: 1 << 30, UncompressedSize64: 4 << 30}}
		f.SetMode(0o644)
		many = append(many, f)
	}
	wantError(t, checkEntries(many), "more than 16 GiB")
	many[0].UncompressedSize64 = 1<<64 - 1 // does not wrap around
	wantError(t, checkEntries(many[:2]), "more than 16 GiB")
	many[0].UncompressedSize64, many[0].Flags = 1, 1
	wantError(t, checkEntries(many[:1]), "encrypted")
	many[0].Flags, many[0].Method = 0, 99
	wantError(t, checkEntries(many[:1]), "method 99")
	wantError(t, checkEntries(slices.Repeat(many[1:2], maxFiles+1)), "at most 100000")
}

// FuzzExtract: whatever the bytes are, nothing is written beside the folder.
func FuzzExtract(f *testing.F) {
	f.Add(untrusted(f, true, runsDB))
	f.Add(untrusted(f, true, runsDB, entry{name: "../x"}))
	f.Add(untrusted(f, true, runsDB, entry{name: "l", content: []byte("/"), mode: fs.ModeSymlink | 0o777}))
	f.Fuzz(func(t *testing.T, content []byte) {
		outer, _ := extract(t, content)
		if entries, err := os.ReadDir(outer); err != nil || len(entries) != 2 {
			t.Errorf("beside the folder there is %v, %v", entries, err)
		}
		if err := filepath.WalkDir(filepath.Join(outer, "in"), func(path string, d fs.DirEntry, err error) error {
			if err == nil && !d.IsDir() && !d.Type().IsRegular() {
				t.Errorf("%s is no plain file", path)
			}
			return err
		}); err != nil {
			t.Error(err)
		}
	})
}
