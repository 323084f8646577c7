package cli

import "ssdl/harness/command"

// confineCmd becomes a program from outside that another ssdl runs, confined.
type confineCmd struct {
	Rules   string   `arg:""`
	Program []string `arg:"" passthrough:""`
}

func (c confineCmd) Run() error { return command.Confine(c.Rules, c.Program) }

// programs runs programs from outside, confined by this program.
func programs() command.Runner {
	program, err := self()
	if err != nil {
		return command.Runner{}
	}
	return command.Runner{Self: []string{program, "confine"}}
}
