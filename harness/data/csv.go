package data

import (
	"bufio"
	"encoding/binary"
	"encoding/csv"
	"errors"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
)

// maxLine bounds a line of a .csv file in bytes: half a million features.
const maxLine = 16 << 20

// readCSV reads comma-separated samples, one per line: numbers, then the label. A first line without
// numbers as features is a header, and so is a numberedHeader. Labels are whole numbers that start at 0
// or 1, or class names, which are numbered in alphabetical order.
func readCSV(path string, r io.Reader) (features *array, labels []int, classes []string, err error) {
	bounded := &lineReader{r: r, left: maxLine}
	in := bufio.NewReader(bounded)
	if bom, _ := in.Peek(3); string(bom) == "\xef\xbb\xbf" {
		in.Discard(3)
	}
	c := csv.NewReader(in)
	c.ReuseRecord = true
	features = &array{dtype: dtype{kind: 'f', size: 8}}
	number := map[string]int{} // label -> its index in names
	var names []string
	labels = []int{}
	for first := true; ; first = false {
		bounded.left = maxLine
		record, err := c.Read()
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, nil, nil, lineError(path, c, record, err)
		}
		last := len(record) - 1
		if last < 1 {
			return nil, nil, nil, Invalid(path, "line 1 has one field, expected features and a label separated by commas")
		}
		if first {
			features.cols = last
			if !slices.ContainsFunc(record[:last], isNumber) {
				continue
			}
		}
		if (features.rows+1)*features.cols > MaxValues {
			return nil, nil, nil, Invalid(path, "has more than %d values", MaxValues)
		}
		for k, s := range record[:last] {
			v, err := parseDecimal(s)
			if err != nil {
				line, _ := c.FieldPos(k)
				return nil, nil, nil, Invalid(path, "line %d, feature %d is %.20q, expected a number", line, k, s)
			}
			features.data = binary.LittleEndian.AppendUint64(features.data, math.Float64bits(v))
		}
		label := strings.TrimSpace(record[last])
		if label == "" {
			line, _ := c.FieldPos(last)
			return nil, nil, nil, Invalid(path, "line %d has no label", line)
		}
		y, ok := number[label]
		if !ok {
			if len(label) > MaxName {
				line, _ := c.FieldPos(last)
				return nil, nil, nil, Invalid(path, "line %d has a label of %d bytes, expected at most %d. Shorten it.", line, len(label), MaxName)
			}
			label = strings.Clone(label) // a field keeps its whole line in memory
			y = len(names)
			number[label] = y
			names = append(names, label)
		}
		labels = append(labels, y)
		features.rows++
	}
	if numberedHeader(labels, names) {
		features.data = features.data[features.cols*features.dtype.size:]
		features.rows--
		labels, names = labels[1:], names[1:]
		for i := range labels {
			labels[i]--
		}
	}
	labels, classes = numberLabels(labels, names)
	return features, labels, classes, nil
}

// errLongLine stops the reading of a line longer than maxLine.
var errLongLine = errors.New("long line")

// lineReader fails after left bytes. The caller resets left before each line.
type lineReader struct {
	r    io.Reader
	left int
}

func (l *lineReader) Read(p []byte) (int, error) {
	if l.left <= 0 {
		return 0, errLongLine
	}
	n, err := l.r.Read(p[:min(len(p), l.left)])
	l.left -= n
	return n, err
}

// lineError describes the fault in the line that c read last; record is what c returned.
func lineError(path string, c *csv.Reader, record []string, err error) error {
	var p *csv.ParseError
	switch {
	case errors.Is(err, csv.ErrFieldCount):
		line, _ := c.FieldPos(0)
		return Invalid(path, "line %d has %d fields, the lines before it have %d", line, len(record), c.FieldsPerRecord)
	case errors.Is(err, errLongLine):
		return Invalid(path, "has a line of more than %d bytes. Write one sample per line.", maxLine)
	case errors.As(err, &p):
		return Invalid(path, "line %d, column %d: %v", p.Line, p.Column, p.Err)
	}
	return err
}

// parseDecimal reads a decimal number. ParseFloat also takes underscores and hexadecimal digits, which
// other programs read as text.
func parseDecimal(s string) (float64, error) {
	if strings.ContainsAny(s, "_xX") {
		return 0, strconv.ErrSyntax
	}
	return strconv.ParseFloat(strings.TrimSpace(s), 64)
}

// isNumber reports whether s is a number; numbers out of range are still numbers.
func isNumber(s string) bool {
	_, err := parseDecimal(s)
	return err == nil || errors.Is(err, strconv.ErrRange)
}

// numberedHeader reports whether the first sample is a header with numbers as names of the features,
// as pandas writes it for columns without names: its label alone is not a number.
func numberedHeader(labels []int, names []string) bool {
	for i, s := range names {
		if isNumber(s) != (i > 0) {
			return false
		}
	}
	return len(names) > 1 && !slices.Contains(labels[1:], 0)
}

// numberLabels turns the labels of a .csv, given as indices into their distinct names, into labels
// from 0. classes is nil if the names are whole numbers from 0.
func numberLabels(labels []int, names []string) (numbered []int, classes []string) {
	values, numeric := make([]int, len(names)), true
	for i, s := range names {
		v, ok := wholeNumber(s)
		numeric = numeric && ok
		values[i] = v
	}
	if !numeric {
		classes = slices.Sorted(slices.Values(names))
		for i, s := range names {
			values[i], _ = slices.BinarySearch(classes, s)
		}
	}
	for i, y := range labels {
		labels[i] = values[y]
	}
	if numeric && len(labels) > 0 && slices.Min(labels) == 1 {
		return fromOne(labels)
	}
	return labels, classes
}

// wholeNumber reads a label that is a whole number, also one that is written as a floating-point number:
// numpy.savetxt writes all numbers like that.
func wholeNumber(s string) (int, bool) {
	if v, err := strconv.Atoi(s); err == nil {
		return v, true
	}
	v, err := parseDecimal(s)
	return int(v), err == nil && v == math.Trunc(v) && math.Abs(v) <= MaxValues
}

// fromOne subtracts 1 from labels that start at 1, and names the classes by the numbers in the
// file.
func fromOne(labels []int) ([]int, []string) {
	classes := 0
	for i := range labels {
		classes = max(classes, labels[i])
		labels[i]--
	}
	if classes > len(labels) { // checkLabels will refuse it: allocate nothing
		return labels, nil
	}
	names := make([]string, classes)
	for c := range names {
		names[c] = strconv.Itoa(c + 1)
	}
	return labels, names
}
