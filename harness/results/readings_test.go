package results

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"ssdl/harness/spec"
)

// readingTable has a baseline, a row with one switch and a row with two, one reading of which is missing.
func readingTable() Table {
	t := Table{ID: "t", Metric: MetricOf("accuracy"), Columns: []Column{{ID: "a", Title: "a"}}, Groups: []Group{{}}}
	add := func(base string, c Cell, setting ...Value) {
		c.Tested = 100 // without it a share has no interval
		s := Setting(setting)
		t.Groups[0].Rows = append(t.Groups[0].Rows, Row{ID: RowID(base, s), Base: base, Title: "row " + base, Setting: s, Cells: []Cell{c}})
	}
	add("line", cell(2, 69, 71))
	for _, norm := range []struct {
		name string
		mean float64
	}{{"ball", 60}, {"sphere", 80}} {
		add("alike", cell(1, norm.mean), Value{"norm", norm.name})
		for _, fill := range []float64{0, 0.5} {
			c := cell(2, norm.mean+5-10*fill-1, norm.mean+5-10*fill+1)
			if norm.name == "ball" && fill == 0.5 {
				c = cell(2)
			}
			add("mine", c, Value{"norm", norm.name}, Value{"fill", fill})
		}
	}
	return t
}

func TestReadings(t *testing.T) {
	list := ReadingsOf(readingTable(), 0)
	if len(list) != 1 {
		t.Fatalf("%d rows with readings, want one: the other is read alike", len(list))
	}
	r := list[0]
	if r.Row != "mine" || r.Missing != 1 || len(r.Readings) != 3 || len(r.Baselines) != 1 || *r.Baselines[0].Mean != 70 || len(r.Alike) != 1 || r.Alike[0].Title != "row alike" {
		t.Errorf("%+v", r)
	}
	var means []float64
	var ahead []bool
	for _, x := range r.Readings {
		means, ahead = append(means, x.Mean), append(ahead, *x.Ahead)
		if x.Interval == nil || x.N != 2 || x.Alike[0] == nil {
			t.Errorf("%+v", x)
		}
	}
	// 65 is behind the line; 80 is ahead of the line and as good as what is read alike; 85 is ahead of both.
	if diff := cmp.Diff([]float64{65, 80, 85}, means) + cmp.Diff([]bool{false, false, true}, ahead); diff != "" {
		t.Errorf("from the worst to the best: %s", diff)
	}
	if diff := cmp.Diff([][]int{{0, 0}, {1, 1}, {1, 0}}, [][]int{r.Readings[0].Choice, r.Readings[1].Choice, r.Readings[2].Choice}); diff != "" {
		t.Errorf("choices: %s", diff)
	}
	one, zero := 1, 0
	want := []Switch{
		{"norm", []SwitchValue{{"ball", 1, &zero, 65}, {"sphere", 2, &one, 82.5}}},
		{"fill", []SwitchValue{{0.0, 2, &one, 75}, {0.5, 1, &zero, 80}}},
	}
	if diff := cmp.Diff(want, r.Switches); diff != "" {
		t.Errorf("switches (-want +got): %s", diff)
	}
}

// The lowest loss is best, and each of two losses has its own readings.
func TestReadingsByLoss(t *testing.T) {
	tab := Table{ID: "t", Metric: MetricOf("bce"), Columns: []Column{{ID: "a", Title: "a"}}, Groups: []Group{{}}}
	for i, loss := range []string{"bce", "ce_row"} {
		for j, op := range []string{"edge", "vertex"} {
			s := Setting{{spec.Loss, loss}, {"operator", op}}
			tab.Groups[0].Rows = append(tab.Groups[0].Rows, Row{ID: RowID("pahl", s), Base: "pahl", Setting: s, Cells: []Cell{cell(1, float64(10*i+j))}})
		}
	}
	list := ReadingsOf(tab, 0)
	if len(list) != 2 || list[0].Metric.Name != "bce" || list[1].Metric.Name != "ce_row" || len(list[1].Switches) != 1 {
		t.Fatalf("%+v", list)
	}
	if x := list[1].Readings; x[0].Mean != 11 || x[1].Mean != 10 || x[0].Ahead != nil {
		t.Errorf("the worst loss comes first, and nothing is compared: %+v", x)
	}
}

// Numbers of a switch are sorted, whatever their order in the spec.
func TestValuesOfASwitchAscend(t *testing.T) {
	tab := Table{ID: "t", Metric: MetricOf("accuracy"), Columns: []Column{{ID: "a", Title: "a"}}, Groups: []Group{{}}}
	for i, k := range []int{15, 5, 30} {
		for j, norm := range []string{"sphere", "ball"} {
			s := Setting{{"iterations", k}, {"norm", norm}}
			tab.Groups[0].Rows = append(tab.Groups[0].Rows, Row{ID: RowID("x", s), Base: "x", Setting: s, Cells: []Cell{cell(1, float64(10*i+j))}})
		}
	}
	r := ReadingsOf(tab, 0)[0]
	var got []any
	for _, s := range r.Switches {
		for _, v := range s.Values {
			got = append(got, v.Value, v.Median)
		}
	}
	if diff := cmp.Diff([]any{5, 10.5, 15, 0.5, 30, 20.5, "sphere", 10.0, "ball", 11.0}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for _, x := range r.Readings {
		for k, v := range x.Setting {
			if r.Switches[k].Values[x.Choice[k]].Value != v.Value {
				t.Errorf("%s chooses %v", x.Row, r.Switches[k].Values[x.Choice[k]])
			}
		}
	}
}

func TestDrawable(t *testing.T) {
	for _, c := range []struct {
		s    Setting
		want bool
	}{
		{nil, true},
		{Setting{{"K", 300}}, true},
		{Setting{{"a", 1.0}, {"b", 2.0}, {"c", 3}}, true},
		{Setting{{"a", 1.0}, {"b", 2.0}, {"c", 3.0}, {"d", 4.0}}, false},
		{Setting{{"norm", "ball"}}, false},
		{Setting{{"deflate", true}}, false},
	} {
		if c.s.Drawable() != c.want {
			t.Errorf("%v: %v", c.s, !c.want)
		}
	}
}

func TestInterval(t *testing.T) {
	loss, share := MetricOf("bce"), MetricOf("accuracy")
	if i := cell(1, 70).Interval(loss); i != nil {
		t.Errorf("one seed has the interval %v", i)
	}
	i := cell(2, 69, 71).Interval(loss)
	if i == nil || i.Low > 57.3 || i.Low < 57.2 || i.High < 82.7 || i.High > 82.8 { // 70 ± 12.706
		t.Errorf("interval %v, want 57.29..82.71", i)
	}
	c := cell(2, 70, 70)
	if i := c.Interval(loss); i.Low != 69.9995 || i.High != 70.0005 {
		t.Errorf("interval %v of equal losses, want the digits shown", i)
	}
	if i := c.Interval(share); i != nil {
		t.Errorf("interval %v of nobody knows how many samples", i)
	}
	c.Tested = 100
	if i := c.Interval(share); i == nil || i.Low < 60 || i.Low > 62 || i.High < 78 || i.High > 80 {
		t.Errorf("interval %v of 70 of 100 samples", i)
	}
	if c = cell(2, 100, 100); c.Mean != 100 {
		t.Fatal(c)
	}
	if c.Tested = 10; c.Interval(share).High != 100 {
		t.Errorf("interval %v of a share", c.Interval(share))
	}
}
