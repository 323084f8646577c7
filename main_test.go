package main

import (
	"os"
	"os/exec"
	"regexp"
	"testing"
)

func TestMain(m *testing.M) {
	if os.Getenv("SSDL_TEST_PROGRAM") != "" {
		main() // exits
	}
	os.Exit(m.Run())
}

// The program computes with its own kernels, not with gonum's code.
func TestMainRegistersTheKernels(t *testing.T) {
	cmd := exec.CommandContext(t.Context(), os.Args[0], "doctor")
	cmd.Env = append(os.Environ(), "SSDL_TEST_PROGRAM=1")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	blas := regexp.MustCompile(`(?m)^blas\s+(\S+)`).FindSubmatch(out)
	if blas == nil || string(blas[1]) == "gonum" {
		t.Errorf("doctor says of the BLAS: %q\n%s", blas, out)
	}
}
