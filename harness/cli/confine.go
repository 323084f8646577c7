package cli

import "ssdl/harness/command"

// confineCmd confines its own process and then becomes an external program. Another ssdl starts it.
type confineCmd struct {
	Rules   string   `arg:""`
	Program []string `arg:"" passthrough:""`
}

func (c confineCmd) Run() error { return command.Confine(c.Rules, c.Program) }

// programs returns a runner of external programs that are confined by `ssdl confine`.
func programs() command.Runner {
	program, err := self()
	if err != nil {
		return command.Runner{}
	}
	return command.Runner{Self: []string{program, "confine"}}
}
