package linalg

import (
	"testing"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/blas/gonum"
)

func init() { Register() }

func TestBLASNamesWhatIsRegistered(t *testing.T) {
	own := BLAS()
	if own == gonumBLAS {
		t.Errorf("BLAS() is %q after Register", own)
	}
	blas64.Use(gonum.Implementation{})
	if got := BLAS(); got != gonumBLAS {
		t.Errorf("BLAS() is %q with gonum's own code, want %q", got, gonumBLAS)
	}
	Register()
	if got := BLAS(); got != own {
		t.Errorf("BLAS() is %q after another Register, want %q", got, own)
	}
}
