package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"ssdl/harness/cluster"
	"ssdl/harness/progress"
	"ssdl/harness/provenance"
	"ssdl/harness/report"
	"ssdl/harness/run"
	"ssdl/harness/store"
	"ssdl/harness/tempfile"
)

type submitCmd struct {
	Spec string `arg:"" help:"Built-in spec (${specs}) or path of a YAML file."`
	specSelection
	Slurm     string        `placeholder:"DIR" type:"path" required:"" help:"Folder that all nodes see, for the plan, scripts, logs and stores of the shards."`
	Shards    int           `placeholder:"N" xor:"size" help:"Number of shards."`
	Minutes   int           `placeholder:"M" xor:"size" help:"Target length of a shard in minutes, by recorded wall times (default: 45)."`
	Partition string        `placeholder:"NAME" help:"Partition of Slurm."`
	CPUs      int           `name:"cpus" placeholder:"N" default:"4" help:"Processors of a task, and runs at once (default: 4)."`
	Memory    int           `placeholder:"GIB" help:"Memory of a task (default: that of the cluster)."`
	Time      int           `placeholder:"M" help:"Time limit of a task in minutes (default: twice the longest shard, plus ten)."`
	Sbatch    []string      `sep:"none" placeholder:"OPTION" help:"A further option of sbatch, e.g. --sbatch=--account=lab; may be repeated."`
	Timeout   time.Duration `placeholder:"DURATION" help:"Time limit of one run, e.g. 30m (default: none)."`
	Retry     string        `enum:",failed" default:"" placeholder:"failed" help:"failed: run again the jobs that ended in an error, a panic or at the time limit."`
	DryRun    bool          `help:"Write the plan and the scripts, and submit nothing: also for other array runners."`
	Final     bool          `hidden:"" help:"Submit the final jobs from the folder alone, as merge.sh does."`
}

// Help is printed below the flags.
func (submitCmd) Help() string {
	return "Merges the stores of earlier shards into the store of --results, then cuts the missing jobs into shards and submits them as job arrays. " +
		"If a tuning goes first, a job that waits for it submits the final jobs. Call it again when all have ended: it submits what is still missing."
}

// Validate refuses impossible numbers.
func (c *submitCmd) Validate() error {
	const leastTime = 3 // SIGTERM comes two minutes before the limit
	for _, f := range []struct {
		name         string
		value, least int
	}{{"shards", c.Shards, 0}, {"minutes", c.Minutes, 0}, {"cpus", c.CPUs, 1}, {"memory", c.Memory, 0}} {
		if f.value < f.least {
			return fmt.Errorf("--%s must be at least %d, got %d", f.name, max(f.least, 1), f.value)
		}
	}
	if c.Time != 0 && c.Time < leastTime {
		return fmt.Errorf("--time must be at least %d minutes, got %d", leastTime, c.Time)
	}
	if strings.ContainsAny(c.Partition, " \t\r\n") {
		return fmt.Errorf("--partition must be a name, got %q", c.Partition)
	}
	if c.Timeout < 0 {
		return fmt.Errorf("--timeout must be positive, got %v", c.Timeout)
	}
	return nil
}

func (c *submitCmd) Run(e *env) (err error) {
	folder, err := cluster.NewFolder(c.Slurm)
	if err != nil {
		return &exitError{exitUsage, err}
	}
	if err := c.checkLocal(); err != nil {
		return &exitError{exitUsage, err}
	}
	local, err := tempfile.System()
	if err != nil {
		return err
	}
	defer local.Remove()
	scratch := local.Path
	unlock, err := folder.Lock()
	if err != nil {
		return &exitError{exitUsage, err}
	}
	defer unlock()
	if err := folder.CheckEnded(e.ctx); err != nil {
		return &exitError{exitUsage, err}
	}
	if c.Final {
		c.Results = scratch
		if err := folder.CopyKnown(c.dbPath()); err != nil {
			return err
		}
	}
	st, err := c.mergeShards(e, folder)
	if err != nil {
		return err
	}
	defer closeStore(st, &err)
	s, err := e.spec(c.specSelection, c.Spec, c.library().Has)
	if err != nil {
		return err
	}
	p, err := run.Resolve(e.ctx, c.library(), e.code, st, s)
	if err != nil {
		return err
	}
	if err := p.Unusable(); err != nil {
		return err
	}
	todo := c.todo(e, p)
	if len(todo) == 0 {
		fmt.Fprintf(e.stdout, "%s: nothing to submit\n", s.Name)
		return c.leftover(p)
	}
	recorded, err := st.WallTimes(e.ctx)
	if err != nil {
		return err
	}
	forecast := p.Forecast()
	forecast.RecallMeans(recorded)
	plan, err := c.plan(folder, forecast, p.File(todo))
	if err != nil {
		return err
	}
	scripts, err := c.scripts(folder, plan)
	if err != nil {
		return err
	}
	if err := folder.Write(plan, scripts); err != nil {
		return err
	}
	merge := !c.Final && p.Counts()[run.Pending] > 0
	if merge {
		if err := folder.WriteKnown(e.ctx, st, scratch); err != nil {
			return err
		}
	}
	guessed := ""
	if len(recorded) == 0 {
		guessed = " at a minute a job, since no wall time is recorded"
	}
	longest := slices.MaxFunc(plan.Shards, func(a, b cluster.Shard) int { return int(a.Seconds - b.Seconds) }).Seconds
	fmt.Fprintf(e.stdout, "%s: %s in %s, the longest of about %s%s; time limit %s\n",
		s.Name, report.Count(len(todo), "job", "jobs"), report.Count(len(plan.Shards), "shard", "shards"), max(time.Second, time.Duration(longest)*time.Second), guessed, scripts.Time)
	if n := p.Counts()[run.Pending]; merge {
		fmt.Fprintf(e.stdout, "%s more when the tuning has chosen\n", report.Count(n, "job", "jobs"))
	}
	if c.DryRun {
		fmt.Fprintf(e.stdout, "%s has the plan and the scripts; nothing was submitted\n", folder)
		return nil
	}
	submitted, err := folder.Submit(e.ctx, plan, merge)
	for _, a := range submitted.Arrays {
		fmt.Fprintf(e.stdout, "array %s: shards %d to %d\n", a.ID, a.Offset+1, a.Offset+a.Tasks)
	}
	if err != nil {
		return err
	}
	if submitted.Merge != "" {
		fmt.Fprintf(e.stdout, "job %s: submits the final jobs after them\n", submitted.Merge)
	}
	if left := len(plan.Shards) - submitted.Shards(); left > 0 {
		fmt.Fprintf(e.stdout, "%d shards are more than MaxSubmitJobs allows: submit again when these have ended\n", left)
	}
	return nil
}

// checkLocal checks that results and temporary files are on a disk of this machine.
func (c *submitCmd) checkLocal() error {
	if !c.Final {
		if err := cluster.CheckLocal(c.Results, "Name a folder on a disk of this machine with --results; the runs are also in the folder of --slurm."); err != nil {
			return err
		}
	}
	return cluster.CheckLocal(os.TempDir(), scratchAdvice)
}

// mergeShards opens the store and adds the runs of all shards in the folder. A dry run gets a copy.
func (c *submitCmd) mergeShards(e *env, folder cluster.Folder) (*store.Store, error) {
	stores, err := folder.Stores()
	if err != nil {
		return nil, err
	}
	opts := mergeOptions()
	opts.Shards = true
	if c.DryRun {
		st, done, err := e.quietStoreOrEmpty(c.resultsFlag)
		if err != nil {
			return nil, err
		}
		defer done()
		trial, _, err := st.DryRun(e.ctx, opts, stores...)
		return trial, err
	}
	st, err := e.openStore(c.resultsFlag)
	if err != nil {
		return nil, err
	}
	m, err := st.Merge(e.ctx, opts, stores...)
	if err != nil {
		st.Close()
		return nil, err
	}
	if len(stores) > 0 {
		fmt.Fprintf(e.stdout, "%d runs of %d stores added, %d known\n", m.Runs, len(stores), m.Known)
	}
	return st, nil
}

// todo lists the tasks to submit. A shard cannot supersede a run that is not in its store.
func (c *submitCmd) todo(e *env, p *run.Plan) []*run.Task {
	all := p.Todo(run.RetryPolicy{Failed: c.Retry == "failed"})
	if c.Final {
		all = p.Chosen(all)
	}
	todo := slices.DeleteFunc(slices.Clone(all), func(t *run.Task) bool { return t.Replaces() != "" })
	if n := len(all) - len(todo); n > 0 {
		fmt.Fprintf(e.stderr, "%d jobs would supersede a result and are not submitted: `%s` runs them here\n", n, report.Command("ssdl", "run", c.Spec))
	}
	return todo
}

// leftover is the error if nothing is left to submit and yet runs failed or lack data.
func (c *submitCmd) leftover(p *run.Plan) error {
	if n := p.Counts()[run.Failed]; n > 0 && !c.Final {
		return fail(exitFailedRuns, "%d runs failed; `%s` says why, --retry failed submits them again", n, report.Command("ssdl", "plan", c.Spec))
	}
	for _, cell := range p.Cells {
		if cell.NoData() {
			return cell.Err
		}
	}
	return nil
}

// plan cuts the jobs into shards.
func (c *submitCmd) plan(folder cluster.Folder, forecast *progress.Forecast, file run.PlanFile) (cluster.Plan, error) {
	submission, err := folder.Next()
	if err != nil {
		return cluster.Plan{}, &exitError{exitUsage, err}
	}
	size := cluster.Size{Shards: c.Shards}
	if c.Shards == 0 {
		size.Wall = time.Duration(c.minutes()) * time.Minute
	}
	jobs, shards := cluster.Cut(file.Jobs, forecast, c.CPUs, size)
	return cluster.NewPlan(submission, provenance.ProgramHash(), file, jobs, shards), nil
}

func (c *submitCmd) minutes() int {
	const usual = 45
	if c.Minutes == 0 {
		return usual
	}
	return c.Minutes
}

// runsShare is the share of a task's memory for the runs in flight. Cached stages need half as much, and the data
// set needs some too.
const runsShare = 0.6

// scripts says how the tasks of Slurm call this program.
func (c *submitCmd) scripts(folder cluster.Folder, plan cluster.Plan) (cluster.Scripts, error) {
	dir, err := os.Getwd()
	if err != nil {
		return cluster.Scripts{}, err
	}
	program, err := os.Executable()
	if err != nil {
		return cluster.Scripts{}, err
	}
	var common []string // of both commands
	for _, root := range c.roots() {
		abs, err := filepath.Abs(root)
		if err != nil {
			return cluster.Scripts{}, err
		}
		if len(splitFolders(abs)) != 1 {
			return cluster.Scripts{}, fail(exitUsage, "the data folder %s has a separator of folders in its path, and a shard would look for the parts. Rename it, or give a link to it", abs)
		}
		common = append(common, "--data="+abs)
	}
	if c.DropZero {
		common = append(common, "--drop-zero")
	}
	if c.Timeout > 0 {
		common = append(common, "--timeout="+c.Timeout.String())
	}
	shard := append([]string{program, "run", c.Spec, "--plan=" + filepath.Join(string(folder), "plan.json")}, common...)
	final := append([]string{program, "submit", c.Spec, "--slurm=" + string(folder), "--final"}, common...)
	if c.Memory > 0 {
		shard = append(shard, fmt.Sprintf("--memory=%g", runsShare*float64(c.Memory)))
	}
	for _, f := range []struct {
		flag   string
		values []string
	}{{"--datasets", c.Datasets}, {"--methods", c.Methods}, {"--sbatch", c.Sbatch}} {
		for _, v := range f.values {
			final = append(final, f.flag+"="+v)
		}
	}
	for _, f := range []struct{ flag, value string }{{"--seeds", c.Seeds}, {"--partition", c.Partition}, {"--retry", c.Retry}} {
		if f.value != "" {
			final = append(final, f.flag+"="+f.value)
		}
	}
	for _, f := range []struct {
		flag  string
		value int
	}{{"--shards", c.Shards}, {"--minutes", c.Minutes}, {"--memory", c.Memory}, {"--cpus", c.CPUs}, {"--time", c.Time}} {
		if f.value > 0 {
			final = append(final, fmt.Sprintf("%s=%d", f.flag, f.value))
		}
	}
	s := cluster.Scripts{
		Partition: c.Partition, CPUs: c.CPUs, Memory: c.Memory, Sbatch: c.Sbatch,
		Time: time.Duration(c.Time) * time.Minute, Dir: report.Command(dir), Shard: report.Command(shard...), Final: report.Command(final...),
	}
	if c.Time == 0 {
		s.Time = cluster.TimeLimit(plan.Shards)
	}
	if i := slices.IndexFunc(c.Sbatch, func(o string) bool { return strings.ContainsAny(o, "\r\n") || !strings.HasPrefix(o, "-") }); i >= 0 {
		return s, fail(exitUsage, "--sbatch must be an option of sbatch, e.g. --sbatch=--account=lab, got %q", c.Sbatch[i])
	}
	return s, nil
}
