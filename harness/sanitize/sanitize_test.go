package sanitize

import (
	"bytes"
	"testing"
)

func TestWriter(t *testing.T) {
	var b bytes.Buffer
	p := NewWriter(&b)
	for _, part := range []string{"é\x1b[2J", "a\tb\r\n", "\xc3", "\xa9 \xe4\xb8", "", "\xad", "\u009b31m\u202e\x00\x07|", "\xff|", "\xc2", "\x9bx", "\xf0\x9f\x98", "\x80"} {
		if n, err := p.Write([]byte(part)); err != nil || n != len(part) {
			t.Errorf("wrote %d of %d bytes, %v", n, len(part), err)
		}
	}
	if want := "é[2Ja\tb\né 中31m|\uFFFD|x😀"; b.String() != want {
		t.Errorf("%q, want %q", &b, want)
	}
}

func TestLine(t *testing.T) {
	for in, want := range map[string]string{
		"plain":                           "plain",
		"\x1b[1;31mred\x1b[0m":            "red",
		"\x1b]0;title\x07after":           "after",
		"\x1b]8;;http://x\x1b\\y\x1b(B z": "y z",
		"\u009b31mc1\u009d0;t\u009cz":     "c1z",
		"a\rb\nc\td":                      "a b c d",
		"\x00nul\x7f\b":                   "nul",
		"left\u202eright\u2066x":          "leftrightx",
		"\xff":                            "\uFFFD",
		"  two   blanks ":                 "two blanks",
		"\x1b":                            "",
		"é†±":                             "é†±",
	} {
		if got := Line(in); got != want {
			t.Errorf("Line(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestCSVCell(t *testing.T) {
	for in, want := range map[string]string{
		"": "", "plain": "plain", "a=b": "a=b", "-1.5": "-1.5", "+2": "+2", "-1.5e-3": "-1.5e-3",
		"=1+1": "'=1+1", "+cmd": "'+cmd", "-1+1": "'-1+1", "@sum": "'@sum", " =1": "'=1", "\t=1": "'=1", "\x1b[1m-x": "'-x", "\r\n@x": "'@x", "--": "'--", "＝1": "'＝1",
	} {
		if got := CSVCell(in); got != want {
			t.Errorf("CSVCell(%q) = %q, want %q", in, got, want)
		}
	}
}
