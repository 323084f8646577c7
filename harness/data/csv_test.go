package data

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestCSV(t *testing.T) {
	for _, c := range []struct {
		name, file string
		rows       [][]float64
		labels     []int
		classes    []string
	}{
		{"labels from 0", "1,2,0\n3,4,1\n", [][]float64{{1, 2}, {3, 4}}, []int{0, 1}, nil},
		{"labels from 1", "1,2,2\n3,4,1\n", [][]float64{{1, 2}, {3, 4}}, []int{1, 0}, []string{"1", "2"}},
		{"names, header, CRLF, byte order mark", "\xef\xbb\xbfa,b,class\r\n1e-3,-2,polo\r\n3,4,bocce\r\n", [][]float64{{1e-3, -2}, {3, 4}}, []int{1, 0}, []string{"bocce", "polo"}},
		{"quotes and blanks", "1, 2,\"rock, climbing\"\n3 ,4, sailing\n", [][]float64{{1, 2}, {3, 4}}, []int{0, 1}, []string{"rock, climbing", "sailing"}},
		{"mixed labels are names", "1,1\n2,b\n", [][]float64{{1}, {2}}, []int{0, 1}, []string{"1", "b"}},
		{"numbers as names of features", "0,1,label\n3,4,1\n5,6,0\n", [][]float64{{3, 4}, {5, 6}}, []int{1, 0}, nil},
		{"a name among numbers, twice", "1,unknown\n2,0\n3,unknown\n", [][]float64{{1}, {2}, {3}}, []int{1, 0, 1}, []string{"0", "unknown"}},
		{"names after the first line", "1,a\n2,b\n3,0\n", [][]float64{{1}, {2}, {3}}, []int{1, 2, 0}, []string{"0", "a", "b"}},
		{"labels of numpy.savetxt", "1,1.000000000000000000e+01\n2,2.000000000000000000e+00\n3,0.000000000000000000e+00\n", [][]float64{{1}, {2}, {3}}, []int{10, 2, 0}, nil},
		{"one number, written in two ways", "1,1.0\n2,0\n3,1\n", [][]float64{{1}, {2}, {3}}, []int{1, 0, 1}, nil},
		{"labels that are not whole", "1,1.5\n2,0.5\n", [][]float64{{1}, {2}}, []int{1, 0}, []string{"0.5", "1.5"}},
		{"labels beyond all counts", "1,1e300\n2,inf\n", [][]float64{{1}, {2}}, []int{0, 1}, []string{"1e300", "inf"}},
		{"a header only", "a,b,class\n", nil, []int{}, nil},
	} {
		a, labels, classes, err := readCSV("x.csv", strings.NewReader(c.file))
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		var rows [][]float64
		for i := range a.rows {
			rows = append(rows, make([]float64, a.cols))
			a.row(i, rows[i])
		}
		if d := cmp.Diff(c.rows, rows) + cmp.Diff(c.labels, labels) + cmp.Diff(c.classes, classes); d != "" {
			t.Errorf("%s: %s", c.name, d)
		}
	}
}

func TestCSVRefuses(t *testing.T) {
	said := collectMessages(t, "csv")
	for _, c := range []struct{ name, file string }{
		{"one field", "1\n2\n"},
		{"line too short", "1,2,0\n3,4,1\n5,0\n"},
		{"line too long", "a,b,y\n3,4,1\n5,0,1,1\n"},
		{"text among numbers", "a,b,y\n3,4,1\n5,six,1\n"},
		{"empty field", "3,4,1\n5,,1\n"},
		{"missing value in the first line", "NA,4,1\n5,6,0\n"},
		{"name among numbers in the first line", "0,1,x,label\n3,4,5,1\n"},
		{"underscore", "3,4,1\n1_0,6,1\n"},
		{"hexadecimal", "3,4,1\n5,0x1p4,1\n"},
		{"out of range", "3,4,1\n5,1e999,1\n"},
		{"out of range in the first line", "1e999,4,1\n"},
		{"no label", "3,4,1\n5,6,\n"},
		{"open quote", "3,4,\"a\n5,6,b\n"},
	} {
		_, _, _, err := readCSV("x.csv", strings.NewReader(c.file))
		if !errors.Is(err, ErrData) {
			t.Errorf("%s: got %v", c.name, err)
		}
		said.add(c.name, "", err)
	}
}

func FuzzCSV(f *testing.F) {
	f.Add([]byte("a,b,class\n1,2,x\n3,4,y\n"))
	f.Add([]byte("1,2,0\n3,4,1\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		a, labels, classes, err := readCSV("x.csv", strings.NewReader(string(b)))
		checkRead(t, a, err)
		if err != nil {
			return
		}
		if len(labels) != a.rows {
			t.Errorf("%d labels for %d rows", len(labels), a.rows)
		}
		if classes != nil && slices.Max(labels) >= len(classes) {
			t.Errorf("labels %v of classes %v", labels, classes)
		}
	})
}
