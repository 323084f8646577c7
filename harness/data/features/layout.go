package features

import (
	"bufio"
	"cmp"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"ssdl/harness/data"
	"ssdl/harness/data/untrusted"
)

// Image is a file that becomes a sample.
type Image struct {
	Path  string // relative to the root, with slashes
	Class int    // index into Source.Classes
	Part  int8   // data.OfficialTrain or data.OfficialTest; 0 without an official split
}

// The layouts that Scan reads.
const (
	FolderLayout   = "one folder per class"
	StanfordLayout = "JPEGImages with ImageSplits (Stanford 40 Actions)"
	ListLayout     = "list of paths and classes"
)

// Source lists the images of a folder with their classes.
type Source struct {
	Layout   string // FolderLayout, StanfordLayout or ListLayout
	Images   []Image
	Classes  []string // names, sorted
	Official bool     // the images have an official split
	Skipped  []Skip   // files without a class or with an invalid name
	root     *os.Root
	dir      string
}

// Close releases the folder.
func (s *Source) Close() error { return s.root.Close() }

// Contains reports whether path is the folder of the images or lies in it.
func (s *Source) Contains(path string) bool {
	dir, err := filepath.Abs(s.dir)
	if err != nil {
		return false
	}
	abs, err := filepath.Abs(path)
	if err != nil {
		return false
	}
	rel, err := filepath.Rel(dir, abs)
	return err == nil && filepath.IsLocal(rel)
}

// Scan finds the images below dir and their classes, and opens none of them. A non-empty list is a
// CSV file (path,class) of them; its paths are relative to dir, or to its own folder if dir is
// empty. If dir has the folders JPEGImages and ImageSplits of Stanford 40 Actions, the classes are
// in ImageSplits/ACTION_train.txt and ACTION_test.txt. Otherwise each folder in dir is a class.
// Images are ordered by class, then by name.
//
// Source.Skipped lists the files that cannot be samples. A list that contradicts itself is an
// error, and so are fewer than two classes.
func Scan(dir, list string) (*Source, error) {
	if dir == "" {
		dir = filepath.Dir(list)
	}
	stanford := list == "" && isDir(filepath.Join(dir, "JPEGImages")) && isDir(filepath.Join(dir, "ImageSplits"))
	s := &Source{dir: dir}
	if stanford {
		s.dir = filepath.Join(dir, "JPEGImages")
	}
	info, err := untrusted.Stat(s.dir)
	if err == nil && !info.IsDir() { // opening a pipe would wait for its writer
		return nil, refuse("images: %s is not a folder", s.dir)
	}
	if err == nil {
		s.root, err = os.OpenRoot(s.dir)
	}
	if err != nil {
		return nil, fmt.Errorf("images: %w", err)
	}
	byClass := map[string][]Image{}
	switch {
	case list != "":
		s.Layout = ListLayout
		err = s.scanList(list, byClass)
	case stanford:
		s.Layout = StanfordLayout
		s.Official = true
		err = s.scanStanford(filepath.Join(dir, "ImageSplits"), byClass)
	default:
		s.Layout = FolderLayout
		err = s.scanFolders(byClass)
	}
	if err == nil && len(byClass) < 2 {
		err = refuse("images: %s has images of %d classes, at least two are needed. Give one folder per class, or the JPEGImages and ImageSplits of Stanford 40 Actions, or a --list of paths and classes.", dir, len(byClass))
	}
	if err != nil {
		s.root.Close()
		return nil, err
	}
	for name := range byClass {
		s.Classes = append(s.Classes, name)
	}
	slices.Sort(s.Classes)
	for c, name := range s.Classes {
		images := byClass[name]
		slices.SortFunc(images, func(a, b Image) int { return cmp.Compare(a.Path, b.Path) })
		for _, im := range images {
			im.Class = c
			s.Images = append(s.Images, im)
		}
	}
	return s, nil
}

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

func (s *Source) skip(file, format string, args ...any) {
	s.Skipped = append(s.Skipped, Skip{File: printable(file), Reason: fmt.Sprintf(format, args...)})
}

// printable returns name, quoted if it has characters that act on a terminal or do not survive
// JSON.
func printable(name string) string {
	if unprintable(name) {
		return strconv.Quote(name)
	}
	return name
}

func unprintable(name string) bool {
	return !utf8.ValidString(name) || strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsPrint(r) })
}

// nameProblem says why a name is refused: unprintable, or longer than limit bytes. "" if it is
// valid.
func nameProblem(name string, limit int) string {
	switch {
	case unprintable(name):
		return "the name has characters that cannot be printed; rename it"
	case len(name) > limit:
		return fmt.Sprintf("the name has %d bytes, expected at most %d; rename it", len(name), limit)
	}
	return ""
}

// systemFile reports whether an operating system writes files of this name by itself.
func systemFile(name string) bool {
	return strings.HasPrefix(name, ".") || strings.EqualFold(name, "thumbs.db") || strings.EqualFold(name, "desktop.ini")
}

// scanFolders reads every folder as a class and every file in it as an image.
func (s *Source) scanFolders(byClass map[string][]Image) error {
	classes, err := s.entries(".")
	if err != nil {
		return err
	}
	for _, c := range classes {
		class := c.Name()
		if systemFile(class) {
			continue
		}
		if info, err := s.root.Stat(class); err != nil {
			s.skip(class, "%v", withoutPath(err))
			continue
		} else if !info.IsDir() {
			continue // a file beside the classes, such as a readme
		}
		if problem := nameProblem(class, data.MaxName); problem != "" {
			s.skip(class, "%s", problem)
			continue
		}
		files, err := s.entries(class)
		if err != nil {
			s.skip(class, "%v", withoutPath(err))
			continue
		}
		for _, f := range files {
			file := path.Join(class, f.Name())
			problem := nameProblem(file, data.MaxPath)
			switch {
			case systemFile(f.Name()):
			case f.IsDir():
				s.skip(file, "a folder; put images directly into the folder of their class")
			case problem != "":
				s.skip(file, "%s", problem)
			default:
				byClass[class] = append(byClass[class], Image{Path: file})
			}
		}
	}
	return nil
}

// entries lists a folder below the root, sorted by name.
func (s *Source) entries(dir string) ([]fs.DirEntry, error) {
	f, err := s.root.Open(dir)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	list, err := f.ReadDir(-1)
	slices.SortFunc(list, func(a, b fs.DirEntry) int { return cmp.Compare(a.Name(), b.Name()) })
	return list, err
}

// scanStanford reads the lists in ImageSplits, with one file name per line. It skips files of
// JPEGImages that are in no list.
func (s *Source) scanStanford(splits string, byClass map[string][]Image) error {
	lists, err := os.ReadDir(splits)
	if err != nil {
		return fmt.Errorf("images: %w", err)
	}
	listedIn := map[string]string{} // image -> its list
	for _, l := range lists {
		for _, p := range []struct {
			ending string
			part   int8
		}{{"_train.txt", data.OfficialTrain}, {"_test.txt", data.OfficialTest}} {
			class, ok := strings.CutSuffix(l.Name(), p.ending)
			if !ok || class == "" || l.IsDir() {
				continue
			}
			file := filepath.Join(splits, l.Name())
			if problem := nameProblem(class, data.MaxName); problem != "" {
				return refuse("%q: %s", file, problem)
			}
			err := eachLine(file, func(line int, name string) error {
				name = strings.TrimSpace(name)
				switch {
				case name == "":
					return nil
				case name != path.Base(name) || !filepath.IsLocal(name) || unprintable(name):
					return refuse("%s:%d: %q is not the name of a file in JPEGImages", file, line, name)
				case listedIn[name] != "":
					return refuse("%s:%d: %s is in %s already. Remove it from one of them: an image has one class and one part.", file, line, name, listedIn[name])
				}
				listedIn[name] = l.Name()
				byClass[class] = append(byClass[class], Image{Path: name, Part: p.part})
				return nil
			})
			if err != nil {
				return err
			}
		}
	}
	files, err := s.entries(".")
	if err != nil {
		return fmt.Errorf("images: %w", err)
	}
	for _, f := range files {
		if name := f.Name(); listedIn[name] == "" && !systemFile(name) {
			s.skip(name, "in no list of ImageSplits: its class and part are unknown")
		}
	}
	return nil
}

// maxListFile bounds a list of images, in bytes: a million lines of 64 bytes.
const maxListFile = 64 << 20

// eachLine calls do with each line of a text file, numbered from 1.
func eachLine(file string, do func(line int, text string) error) error {
	f, _, err := untrusted.Open(file, maxListFile)
	if err != nil {
		return err
	}
	defer f.Close()
	sc := bufio.NewScanner(f)
	for n := 1; sc.Scan(); n++ {
		if err := do(n, sc.Text()); err != nil {
			return err
		}
	}
	if err := sc.Err(); err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	return nil
}

// scanList reads a CSV file of paths and classes. Its header "path,class" is optional.
func (s *Source) scanList(file string, byClass map[string][]Image) error {
	f, _, err := untrusted.Open(file, maxListFile)
	if err != nil {
		return err
	}
	defer f.Close()
	r := csv.NewReader(f)
	r.FieldsPerRecord = 2
	r.ReuseRecord = true
	seen := map[string]int{} // path -> line
	for first := true; ; first = false {
		record, err := r.Read()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return refuse("%s: %v. Write path,class on every line.", file, err)
		}
		name, class := strings.TrimPrefix(record[0], "\ufeff"), record[1]
		if first && name == "path" && class == "class" {
			continue
		}
		line, _ := r.FieldPos(0)
		name = path.Clean(filepath.ToSlash(name))
		switch {
		case !filepath.IsLocal(name) || name == ".":
			return refuse("%s:%d: %q is not a path below %s", file, line, record[0], s.dir)
		case class == "" || unprintable(class):
			return refuse("%s:%d: the class is %.200q, expected a name of printable characters", file, line, class)
		case len(class) > data.MaxName:
			return refuse("%s:%d: the name of the class has %d bytes, expected at most %d", file, line, len(class), data.MaxName)
		case len(name) > data.MaxPath:
			return refuse("%s:%d: the path has %d bytes, expected at most %d", file, line, len(name), data.MaxPath)
		case seen[name] > 0:
			return refuse("%s:%d: %q is on line %d already", file, line, name, seen[name])
		}
		seen[name] = line
		if problem := nameProblem(name, data.MaxPath); problem != "" {
			s.skip(name, "%s", problem)
			continue
		}
		byClass[class] = append(byClass[class], Image{Path: name})
	}
}
