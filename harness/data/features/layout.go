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
)

// The parts of an official split, as harness/data reads them from official_split.npy.
const (
	train = 1
	test  = 2
)

// Image is one file to be made a sample of.
type Image struct {
	Path  string // below the root, with slashes
	Class int    // index into Source.Classes
	Part  int8   // of the official split: train or test; 0 without one
}

// The layouts of images that Scan knows.
const (
	FolderLayout   = "one folder per class"
	StanfordLayout = "JPEGImages with ImageSplits (Stanford 40 Actions)"
	ListLayout     = "list of paths and classes"
)

// Source is the images of a folder, with their classes.
type Source struct {
	Layout   string // FolderLayout, StanfordLayout or ListLayout
	Images   []Image
	Classes  []string // names, sorted
	Official bool     // an official split came with the images
	Skipped  []Skip   // files that belong to no class, or may not be named
	root     *os.Root
	dir      string
}

// Close releases the folder.
func (s *Source) Close() error { return s.root.Close() }

// Contains says whether path is the folder of the images or lies in it.
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

// Scan finds the images below dir and their classes: from the CSV file list (path,class)
// if it is not empty, whose paths are relative to dir, or to its own folder if dir is empty;
// from ImageSplits/ACTION_train.txt and ACTION_test.txt if dir has these and JPEGImages, as
// Stanford 40 Actions comes; else each folder in dir is a class. Images are ordered by
// class, then by name. No image is opened.
//
// A file that cannot be a sample is listed in Skipped. A list that contradicts itself is an
// error, and so is a source without two classes.
func Scan(dir, list string) (*Source, error) {
	if dir == "" {
		dir = filepath.Dir(list)
	}
	stanford := list == "" && isDir(filepath.Join(dir, "JPEGImages")) && isDir(filepath.Join(dir, "ImageSplits"))
	s := &Source{dir: dir}
	if stanford {
		s.dir = filepath.Join(dir, "JPEGImages")
	}
	var err error
	if s.root, err = os.OpenRoot(s.dir); err != nil {
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
		err = fmt.Errorf("images: %s has images of %d classes, at least two are needed; expected one folder per class, or JPEGImages with ImageSplits as Stanford 40 Actions comes, or a --list of paths and classes", dir, len(byClass))
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

// printable returns name, quoted if it has characters that could act on a terminal or do
// not survive JSON.
func printable(name string) string {
	if unprintable(name) {
		return strconv.Quote(name)
	}
	return name
}

func unprintable(name string) bool {
	return !utf8.ValidString(name) || strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsPrint(r) })
}

const unprintableReason = "the name has characters that cannot be printed; rename it"

// litter says whether a file is one that systems leave in folders by themselves.
func litter(name string) bool {
	return strings.HasPrefix(name, ".") || strings.EqualFold(name, "thumbs.db") || strings.EqualFold(name, "desktop.ini")
}

// scanFolders takes every folder for a class and every file in it for an image.
func (s *Source) scanFolders(byClass map[string][]Image) error {
	classes, err := s.entries(".")
	if err != nil {
		return err
	}
	for _, c := range classes {
		class := c.Name()
		if litter(class) {
			continue
		}
		if info, err := s.root.Stat(class); err != nil {
			s.skip(class, "%v", reason(err))
			continue
		} else if !info.IsDir() {
			continue // a file beside the classes: a readme, a licence, features made before
		}
		if unprintable(class) {
			s.skip(class, "%s", unprintableReason)
			continue
		}
		files, err := s.entries(class)
		if err != nil {
			s.skip(class, "%v", reason(err))
			continue
		}
		for _, f := range files {
			file := path.Join(class, f.Name())
			switch {
			case litter(f.Name()):
			case f.IsDir():
				s.skip(file, "a folder; images lie directly in the folder of their class")
			case unprintable(f.Name()):
				s.skip(file, "%s", unprintableReason)
			default:
				byClass[class] = append(byClass[class], Image{Path: file})
			}
		}
	}
	return nil
}

// entries lists a folder below the root, by name.
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

// scanStanford reads the lists of ImageSplits: ACTION_train.txt and ACTION_test.txt with one
// file name per line. What lies in JPEGImages and is in none of them is skipped.
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
		}{{"_train.txt", train}, {"_test.txt", test}} {
			class, ok := strings.CutSuffix(l.Name(), p.ending)
			if !ok || class == "" || l.IsDir() {
				continue
			}
			file := filepath.Join(splits, l.Name())
			if unprintable(class) {
				return fmt.Errorf("%q: %s", file, unprintableReason)
			}
			err := eachLine(file, func(line int, name string) error {
				name = strings.TrimSpace(name)
				switch {
				case name == "":
					return nil
				case name != path.Base(name) || !filepath.IsLocal(name) || unprintable(name):
					return fmt.Errorf("%s:%d: %q is not the name of a file in JPEGImages", file, line, name)
				case listedIn[name] != "":
					return fmt.Errorf("%s:%d: %s is in %s already; an image has one class and one part", file, line, name, listedIn[name])
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
		if name := f.Name(); listedIn[name] == "" && !litter(name) {
			s.skip(name, "in no list of ImageSplits: neither class nor part are known")
		}
	}
	return nil
}

// maxListFile bounds a list of images, in bytes: a million lines of 64.
const maxListFile = 64 << 20

// openList opens a text file of reasonable size.
func openList(file string) (io.ReadCloser, error) {
	info, err := os.Stat(file)
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%s: not a regular file", file)
	case info.Size() > maxListFile:
		return nil, fmt.Errorf("%s: has %d MiB, a list of images has at most %d", file, info.Size()>>20, maxListFile>>20)
	}
	return os.Open(file)
}

func eachLine(file string, do func(line int, text string) error) error {
	f, err := openList(file)
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

// scanList reads a CSV file of paths and classes; the heading "path,class" is optional.
func (s *Source) scanList(file string, byClass map[string][]Image) error {
	f, err := openList(file)
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
			return fmt.Errorf("%s: %w; expected path,class on every line", file, err)
		}
		name, class := strings.TrimPrefix(record[0], "\ufeff"), record[1]
		if first && name == "path" && class == "class" {
			continue
		}
		line, _ := r.FieldPos(0)
		name = path.Clean(filepath.ToSlash(name))
		switch {
		case !filepath.IsLocal(name) || name == ".":
			return fmt.Errorf("%s:%d: %q is not a path below %s", file, line, record[0], s.dir)
		case class == "" || unprintable(class):
			return fmt.Errorf("%s:%d: the class is %q, expected a name of printable characters", file, line, class)
		case seen[name] > 0:
			return fmt.Errorf("%s:%d: %q is on line %d already", file, line, name, seen[name])
		}
		seen[name] = line
		if unprintable(name) {
			s.skip(name, "%s", unprintableReason)
			continue
		}
		byClass[class] = append(byClass[class], Image{Path: name})
	}
}
