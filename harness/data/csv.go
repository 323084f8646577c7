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

// readCSV reads comma-separated samples, one per line: numbers, then the label. A first
// line with a feature that is no number is a header. Labels are whole numbers that start
// at 0 or 1, or class names, which are numbered in alphabetical order.
func readCSV(path string, r io.Reader) (features *array, labels []int, classes []string, err error) {
	in := bufio.NewReader(r)
	if bom, _ := in.Peek(3); string(bom) == "\xef\xbb\xbf" {
		in.Discard(3)
	}
	c := csv.NewReader(in)
	c.ReuseRecord = true
	features = &array{dtype: dtype{kind: 'f', size: 8}}
	var names []string
	for first := true; ; first = false {
		record, err := c.Read()
		if err == io.EOF {
			break
		}
		if err != nil {
			if errors.Is(err, csv.ErrFieldCount) {
				line, _ := c.FieldPos(0)
				return nil, nil, nil, bad(path, "line %d has %d fields, the lines before it have %d", line, len(record), c.FieldsPerRecord)
			}
			if p := new(csv.ParseError); errors.As(err, &p) {
				return nil, nil, nil, bad(path, "%v", err)
			}
			return nil, nil, nil, err
		}
		last := len(record) - 1
		if last < 1 {
			return nil, nil, nil, bad(path, "line 1 has one field, expected features and a label separated by commas")
		}
		if first {
			features.cols = last
			if slices.ContainsFunc(record[:last], isText) {
				continue
			}
		}
		if (features.rows+1)*features.cols > maxValues {
			return nil, nil, nil, bad(path, "has more than %d values", maxValues)
		}
		for k, s := range record[:last] {
			v, err := strconv.ParseFloat(strings.TrimSpace(s), 64)
			if err != nil {
				line, _ := c.FieldPos(k)
				return nil, nil, nil, bad(path, "line %d, feature %d is %.20q, expected a number", line, k, s)
			}
			features.data = binary.LittleEndian.AppendUint64(features.data, math.Float64bits(v))
		}
		label := strings.TrimSpace(record[last])
		if label == "" {
			line, _ := c.FieldPos(last)
			return nil, nil, nil, bad(path, "line %d has no label", line)
		}
		names = append(names, label)
		features.rows++
	}
	labels, classes = numberLabels(names)
	return features, labels, classes, nil
}

// isText tells a column name from a number, also from one that is out of range.
func isText(s string) bool {
	_, err := strconv.ParseFloat(strings.TrimSpace(s), 64)
	return err != nil && !errors.Is(err, strconv.ErrRange)
}

// numberLabels turns the labels of a .csv into 0-based ones. classes is nil when they are
// whole numbers from 0.
func numberLabels(names []string) (labels []int, classes []string) {
	labels = make([]int, len(names))
	numeric := true
	for i, s := range names {
		v, err := strconv.Atoi(s)
		if err != nil {
			numeric = false
			break
		}
		labels[i] = v
	}
	if numeric {
		if len(labels) > 0 && slices.Min(labels) == 1 {
			return fromOne(labels)
		}
		return labels, nil
	}
	classes = slices.Clone(names)
	slices.Sort(classes)
	classes = slices.Compact(classes)
	for i, s := range names {
		labels[i], _ = slices.BinarySearch(classes, s)
	}
	return labels, classes
}

// fromOne makes labels that start at 1 start at 0, and names the classes as the file does.
func fromOne(labels []int) ([]int, []string) {
	classes := 0
	for i := range labels {
		classes = max(classes, labels[i])
		labels[i]--
	}
	if classes > len(labels) { // refused later; do not allocate for it
		return labels, nil
	}
	names := make([]string, classes)
	for c := range names {
		names[c] = strconv.Itoa(c + 1)
	}
	return labels, names
}
