//go:build !linux

package command

import "errors"

// systemConfinement is nothing: only Linux confines programs.
func systemConfinement() Confined { return Unconfined }

func become(confinementRules, []string) error {
	return errors.New("programs are confined on Linux alone")
}
