// Package golden holds no code, only the test that runs every method against the
// recorded inputs and outputs of reference implementations.
//
// The files are the *.json of methods/golden/testdata, of a shared/golden folder
// beside the checkout, and of each folder named in $SSDL_GOLDEN (separated as in
// $PATH). A file is given to the handler whose name its "method" field begins with.
package golden

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"testing"
)

// handlers maps the beginning of a file's method field (lower case) to its check; the
// longest that fits is taken. Each *_test.go of this folder registers its own in init.
var handlers = map[string]func(t *testing.T, raw []byte){}

func handle(method string, check func(t *testing.T, raw []byte)) {
	handlers[strings.ToLower(method)] = check
}

func TestGolden(t *testing.T) {
	dirs := []string{"testdata", filepath.Join("..", "..", "..", "shared", "golden")}
	dirs = append(dirs, filepath.SplitList(os.Getenv("SSDL_GOLDEN"))...)
	seen := map[string][]byte{}
	for _, dir := range dirs {
		files, err := filepath.Glob(filepath.Join(dir, "*.json"))
		if err != nil {
			t.Fatal(err)
		}
		sort.Strings(files)
		for _, path := range files {
			raw, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			name := strings.TrimSuffix(filepath.Base(path), ".json")
			if bytes.Equal(seen[name], raw) {
				continue
			}
			seen[name] = raw
			t.Run(name, func(t *testing.T) { run(t, path, raw) })
		}
	}
}

func run(t *testing.T, path string, raw []byte) {
	var head struct{ Method string }
	if err := json.Unmarshal(raw, &head); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	method, best := strings.ToLower(head.Method), ""
	for key := range handlers {
		if strings.HasPrefix(method, key) && len(key) > len(best) {
			best = key
		}
	}
	if best == "" {
		t.Skipf("%s: method %q is not implemented yet", filepath.Base(path), head.Method)
	}
	handlers[best](t, raw)
}
