package stats

import (
	"fmt"
	"strconv"
	"testing"
)

func TestGrim(t *testing.T) {
	for _, c := range []struct {
		printed      string
		size, splits int
		want         bool
	}{
		{"33.3", 3, 1, true},
		{"33.33", 3, 1, true},
		{"33.34", 3, 1, false},
		{"33", 3, 1, true},
		{"34", 3, 1, false},
		{"66.7", 3, 1, true},
		{"66.6", 3, 1, false},
		{"12.5", 8, 1, true},
		{"12.4", 4, 2, false},
		{"6.2", 16, 1, true}, // 6.25 may round either way
		{"6.3", 16, 1, true},
		{"6.4", 16, 1, false},
		{"0", 7, 1, true},
		{"0.0", 7, 1, true},
		{"100", 7, 1, true},
		{"100.0", 7, 1, true},
		{"99.9", 7, 1, false},
		{"99.8", 7, 72, true}, // 503 of 504
		{"99.9", 7, 72, false},
		{"88.4", 1000, 1, true},
	} {
		got, err := Grim(c.printed, c.size, c.splits)
		if err != nil || got != c.want {
			t.Errorf("%s from %d x %d: %v, %v", c.printed, c.splits, c.size, got, err)
		}
	}
	for _, printed := range []string{"", ".5", "5.", "-1", "+1", "1e1", "88,4", "1.2.3", "100.1", "101", "_1", "1_0", "½"} {
		if ok, err := Grim(printed, 10, 1); err == nil {
			t.Errorf("%q: %v", printed, ok)
		}
	}
	_, err := Grim("50", 0, 1)
	wantError(t, err, "0 sample(s)")
	_, err = Grim("50", 1, 0)
	wantError(t, err, "0 split(s)")
}

// TestGrimAgainstAll compares with every count of correct predictions, rounded as a program prints it.
func TestGrimAgainstAll(t *testing.T) {
	for n := 1; n <= 150; n++ {
		seen := map[string]bool{}
		for k := range n + 1 {
			seen[strconv.FormatFloat(100*float64(k)/float64(n), 'f', 1, 64)] = true
			if 1000*k%n*2 == n { // halfway: both
				seen[fmt.Sprintf("%d.%d", 1000*k/n/10, 1000*k/n%10)] = true
				seen[fmt.Sprintf("%d.%d", (1000*k/n+1)/10, (1000*k/n+1)%10)] = true
			}
		}
		for v := range 1001 {
			printed := fmt.Sprintf("%d.%d", v/10, v%10)
			if got, err := Grim(printed, n, 1); err != nil || got != seen[printed] {
				t.Fatalf("%s of %d: %v, %v", printed, n, got, err)
			}
		}
	}
}

// TestGrimOnThePaper counts the test sizes from 200 to 699 at which all numbers of a
// column of Table 1 are possible: none with a single split.
func TestGrimOnThePaper(t *testing.T) {
	for _, c := range load(t).Grim {
		var possible []int
		for size := 200; size < 700; size++ {
			all := true
			for _, printed := range c.Column {
				ok, err := Grim(printed, size, c.Splits)
				if err != nil {
					t.Fatal(err)
				}
				all = all && ok
			}
			if all {
				possible = append(possible, size)
			}
		}
		if len(possible) != c.Sizes || c.Sizes > 0 && possible[0] != c.Smallest {
			t.Errorf("%s with %d split(s): possible at %d sizes: %v; want %d from %d on", c.Name, c.Splits, len(possible), possible, c.Sizes, c.Smallest)
		}
	}
}
