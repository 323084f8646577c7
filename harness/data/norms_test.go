package data

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

func TestNorms(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.csv")
	if err := os.WriteFile(path, []byte("3,4,a\n0,0,b\n-5,12,a\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	got, err := Norms(t.Context(), path)
	if want := []float64{5, 0, 13}; err != nil || !slices.Equal(got, want) {
		t.Errorf("norms %v, want %v: %v", got, want, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Norms(ctx, path); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: got %v", err)
	}
	if _, err := Norms(t.Context(), path+".csv"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no file: got %v", err)
	}
}
