package cli

import (
	"ssdl/harness/executor"
	"ssdl/harness/report"
	"ssdl/harness/run"
	"ssdl/harness/store"
)

type fsckCmd struct {
	dataFlags
	resultsFlag
	listOutput
}

// Help is printed below the flags.
func (fsckCmd) Help() string {
	return "Reads every row of the store once. It compares each run, job, environment, split and list of true classes with its hash, each metric with the predictions and its range, and the true classes with local data. " +
		"Tables, verdicts and archives check the rows that they read in any case.\n\n" +
		"It changes nothing. `ssdl run` computes a damaged result again. Status 3 if anything is wrong."
}

// checked counts what fsck has read, and lists the faults.
type checked struct {
	store.Report
	Truths map[string]int `json:"true_classes"` // runs by how their true classes compare with local data
}

func (c *fsckCmd) Run(e *env) error {
	st, err := e.readStore(c.resultsFlag)
	if err != nil {
		return err
	}
	defer st.Close()
	truth := executor.NewTruth(c.library())
	out := checked{Truths: map[string]int{}}
	out.Report, err = st.Check(e.ctx, func(r store.RunRecord) error {
		if err := run.Verify(r); err != nil {
			return err
		}
		found, err := truth.Compare(e.ctx, st, r)
		out.Truths[string(found)]++
		return err
	}, nil)
	if err != nil {
		return err
	}
	if err := c.write(e, report.OfCheck(out.Report, out.Truths, out)); err != nil {
		return err
	}
	if n := len(out.Faults); n > 0 {
		return fail(exitMismatch, "%s in %s", report.Count(n, "fault", "faults"), c.dbPath())
	}
	return nil
}
