//go:build !linux

package command

import "errors"

// systemConfinement is Unconfined: ssdl confines programs on Linux alone.
func systemConfinement() Confined { return Unconfined }

func become(confinementRules, []string) error {
	return errors.New("programs are confined on Linux alone")
}
