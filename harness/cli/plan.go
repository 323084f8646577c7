package cli

import (
	"ssdl/harness/report"
	"ssdl/harness/results"
)

type planCmd struct {
	Spec string `arg:"" help:"Built-in spec (${specs}) or path of a YAML file."`
	All  bool   `help:"List cached jobs as well."`
	storedSelection
	rerunFlags
	listOutput
}

func (c *planCmd) Run(e *env) error {
	p, err := e.storedPlan(c.selection(), c.Spec)
	if err != nil {
		return err
	}
	if err := e.refuseGenerated(c.selection(), c.Spec, p.Spec.Datasets); err != nil {
		return err
	}
	shared, err := p.EstimateStages(c.selection().library(), c.retry())
	if err != nil {
		return err
	}
	return c.write(e, report.OfPlan(results.PlanOf(p, shared), c.All))
}
