package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

func TestCommittedFilesAreCurrent(t *testing.T) {
	for pkg := range kernels {
		files, err := generate(pkg)
		if err != nil {
			t.Fatal(err)
		}
		for name, want := range files {
			got, err := os.ReadFile(filepath.Join("..", "..", pkg, name))
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(got, want) {
				t.Errorf("%s/%s is not what the generator writes; run `go generate ./methods/...`", pkg, name)
			}
		}
	}
}
