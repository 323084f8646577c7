package features

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const unprintableName = "the name has characters that cannot be printed; rename it"

// tree writes files, by their paths, into a new folder.
func tree(t testing.TB, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, content := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// lines returns the result of Scan as text: path, class and part of each image, then the skipped
// files.
func lines(s *Source) (images, skipped []string) {
	for _, im := range s.Images {
		images = append(images, im.Path+" "+s.Classes[im.Class]+" "+[]string{"-", "train", "test"}[im.Part])
	}
	for _, sk := range s.Skipped {
		skipped = append(skipped, sk.File+": "+sk.Reason)
	}
	return images, skipped
}

func TestScan(t *testing.T) {
	for _, c := range []struct {
		name           string
		files          map[string]string
		images, list   string // arguments of Scan, relative to the tree; "-" is ""
		layout         string
		found, skipped []string
	}{
		{
			name: "folders",
			files: map[string]string{
				"b/2.jpg": "", "b/1.png": "", "a/x.jpg": "", "a/.hidden": "", "a/Thumbs.db": "",
				strings.Repeat("c", 201) + "/1.jpg": "",
				"README":                            "", ".git/config": "", "a/deeper/y.jpg": "", "e\x1bvil/1.jpg": "", "a/new\nline.jpg": "", "a/\xff.jpg": "",
			},
			layout: FolderLayout,
			found:  []string{"a/x.jpg a -", "b/1.png b -", "b/2.jpg b -"},
			skipped: []string{
				"a/deeper: a folder; put images directly into the folder of their class",
				`"a/new\nline.jpg": ` + unprintableName, `"a/\xff.jpg": ` + unprintableName,
				strings.Repeat("c", 201) + ": the name has 201 bytes, expected at most 200; rename it", `"e\x1bvil": ` + unprintableName,
			},
		},
		{
			name: "Stanford 40 Actions",
			files: map[string]string{
				"JPEGImages/run_1.jpg": "", "JPEGImages/run_2.jpg": "", "JPEGImages/jump_1.jpg": "", "JPEGImages/other.jpg": "",
				"ImageSplits/run_train.txt": "run_2.jpg\r\n", "ImageSplits/run_test.txt": "run_1.jpg\nrun_3.jpg\n\n",
				"ImageSplits/jump_test.txt": "jump_1.jpg", "ImageSplits/train.txt": "run_2.jpg\n", "ImageSplits/actions.txt": "run\njump\n",
			},
			layout:  StanfordLayout,
			found:   []string{"jump_1.jpg jump test", "run_1.jpg run test", "run_2.jpg run train", "run_3.jpg run test"},
			skipped: []string{"other.jpg: in no list of ImageSplits: its class and part are unknown"},
		},
		{
			name:   "list beside the images",
			files:  map[string]string{"list.csv": "path,class\nx/1.jpg,\"run, fast\"\n./y/../y/2.jpg,jump\n\"x/\x1b.jpg\",jump\n"},
			images: "-", list: "list.csv",
			layout:  ListLayout,
			found:   []string{"y/2.jpg jump -", "x/1.jpg run, fast -"},
			skipped: []string{`"x/\x1b.jpg": ` + unprintableName},
		},
		{
			name:   "list elsewhere, without a heading",
			files:  map[string]string{"lists/list.csv": "1.jpg,b\n2.jpg,a\n", "images/1.jpg": ""},
			images: "images", list: "lists/list.csv",
			layout: ListLayout,
			found:  []string{"2.jpg a -", "1.jpg b -"},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, err := scanTree(tree(t, c.files), c.images, c.list)
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			images, skipped := lines(s)
			if d := cmp.Diff(c.found, images); d != "" {
				t.Error(d)
			}
			if d := cmp.Diff(c.skipped, skipped); d != "" {
				t.Error(d)
			}
			if s.Layout != c.layout || s.Official != (c.layout == StanfordLayout) {
				t.Errorf("layout %q, official %t", s.Layout, s.Official)
			}
		})
	}
}

// scanTree calls Scan with paths below dir.
func scanTree(dir, images, list string) (*Source, error) {
	if list != "" {
		list = filepath.Join(dir, list)
	}
	if images == "-" {
		return Scan("", list)
	}
	return Scan(filepath.Join(dir, images), list)
}

func TestScanRefuses(t *testing.T) {
	stanford := func(lists map[string]string) map[string]string {
		files := map[string]string{"JPEGImages/a_1.jpg": "", "ImageSplits/b_test.txt": "b_1.jpg\n"}
		for name, text := range lists {
			files["ImageSplits/"+name] = text
		}
		return files
	}
	list := func(text string) map[string]string { return map[string]string{"l.csv": text} }
	for name, c := range map[string]struct {
		files map[string]string
		list  string
		want  string
	}{
		"an empty folder":       {files: nil, want: "images of 0 classes"},
		"images without folder": {files: map[string]string{"1.jpg": "", "2.jpg": ""}, want: "images of 0 classes"},
		"one class":             {files: map[string]string{"a/1.jpg": "", "a/2.jpg": ""}, want: "images of 1 classes"},
		"two parts":             {files: stanford(map[string]string{"a_train.txt": "a_1.jpg\n", "a_test.txt": "x.jpg\na_1.jpg\n"}), want: "a_train.txt:1: a_1.jpg is in a_test.txt already"},
		"two classes":           {files: stanford(map[string]string{"a_train.txt": "b_1.jpg\n", "a_test.txt": "a_1.jpg\n"}), want: "b_1.jpg is in a_train.txt already"},
		"a path in a list":      {files: stanford(map[string]string{"a_train.txt": "../../secret\n"}), want: `a_train.txt:1: "../../secret" is not the name of a file`},
		"a class of controls":   {files: stanford(map[string]string{"a\x1b_train.txt": "a_1.jpg\n"}), want: `a\x1b_train.txt": the name has characters`},
		"a path that leads out": {files: list("a.jpg,a\n../b.jpg,b\n"), list: "l.csv", want: `l.csv:2: "../b.jpg" is not a path below`},
		"an absolute path":      {files: list("/etc/passwd,a\nb.jpg,b\n"), list: "l.csv", want: `l.csv:1: "/etc/passwd" is not a path below`},
		"a path twice":          {files: list("x/a.jpg,a\nx//a.jpg,b\n"), list: "l.csv", want: `l.csv:2: "x/a.jpg" is on line 1 already`},
		"a long class":          {files: list("a.jpg," + strings.Repeat("c", 201) + "\n"), list: "l.csv", want: "l.csv:1: the name of the class has 201 bytes, expected at most 200"},
		"a long path":           {files: list(strings.Repeat("p", 4097) + ",a\n"), list: "l.csv", want: "l.csv:1: the path has 4097 bytes, expected at most 4096"},
		"a long class of lists": {files: stanford(map[string]string{strings.Repeat("c", 201) + "_test.txt": "a_1.jpg\n"}), want: "the name has 201 bytes, expected at most 200"},
		"no class":              {files: list("a.jpg,\n"), list: "l.csv", want: `l.csv:1: the class is ""`},
		"a class with controls": {files: list("a.jpg,\"a\nb\"\n"), list: "l.csv", want: `l.csv:1: the class is "a\nb"`},
		"three columns":         {files: list("a.jpg,a,1\n"), list: "l.csv", want: "Write path,class on every line."},
		"a missing list":        {files: nil, list: "l.csv", want: "no such file"},
	} {
		t.Run(name, func(t *testing.T) {
			s, err := scanTree(tree(t, c.files), ".", c.list)
			if err == nil {
				s.Close()
				t.Fatal("accepted")
			}
			if !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v\nlacks %s", err, c.want)
			}
		})
	}
}

func TestScanRefusesAVastList(t *testing.T) {
	dir := tree(t, map[string]string{"l.csv": ""})
	if err := os.Truncate(filepath.Join(dir, "l.csv"), maxListFile+1); err != nil {
		t.Fatal(err)
	}
	if _, err := Scan("", filepath.Join(dir, "l.csv")); err == nil || !strings.Contains(err.Error(), "at most 67108864") {
		t.Errorf("%v", err)
	}
}

// TestScanFollowsLinksInsideOnly: a link to a folder inside the tree is a class, a link to one
// outside is not.
func TestScanFollowsLinksInsideOnly(t *testing.T) {
	dir := tree(t, map[string]string{"a/1.jpg": "", "b/1.jpg": ""})
	out := t.TempDir()
	if err := os.Symlink("a", filepath.Join(dir, "c")); err != nil {
		t.Skip("no symbolic links here:", err)
	}
	if err := os.Symlink(out, filepath.Join(dir, "d")); err != nil {
		t.Fatal(err)
	}
	s, err := Scan(dir, "")
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	images, skipped := lines(s)
	if d := cmp.Diff([]string{"a/1.jpg a -", "b/1.jpg b -", "c/1.jpg c -"}, images); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]string{"d: a symbolic link that leads out of the folder of images"}, skipped); d != "" {
		t.Error(d)
	}
	if !s.Contains(filepath.Join(dir, "x", "y")) || !s.Contains(dir) || s.Contains(out) || s.Contains(filepath.Dir(dir)) {
		t.Error("Contains is wrong")
	}
}
