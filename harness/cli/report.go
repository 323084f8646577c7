package cli

type reportCmd struct {
	Spec string `arg:"" help:"Built-in spec (${specs}) or path of a YAML file."`
}

func (c *reportCmd) Run(e *env) error {
	p, err := e.resolve(c.Spec)
	if err != nil {
		return err
	}
	t, err := buildTable(p, len(e.common.Methods) > 0)
	if err != nil {
		return err
	}
	return writeTable(e.stdout, t, e.common.Format)
}
