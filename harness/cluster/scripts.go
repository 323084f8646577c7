package cluster

import (
	"fmt"
	"io"
	"math"
	"path/filepath"
	"strings"
	"time"

	"ssdl/harness/tempfile"
)

// Scripts say how the scripts for Slurm call the program.
type Scripts struct {
	Partition string // empty: the default one
	CPUs      int    // of each task
	Memory    int    // GiB of each task; 0: the default of the cluster
	// Time is the limit of a task. SIGTERM comes two minutes before it.
	Time time.Duration
	// Sbatch are further options of sbatch.
	Sbatch []string
	// Dir is the working folder. Shard is the command that runs a shard, without --shard, and Final the command
	// that submits the final jobs. All three are quoted for a shell.
	Dir, Shard, Final string
}

// restarts is how often Slurm may restart a task after its node failed or the task was preempted.
const restarts = 3

// TimeLimit is the time limit of the shards of a plan: twice the estimate of the longest one, plus ten minutes.
func TimeLimit(shards []Shard) time.Duration {
	longest := 0.0
	for _, s := range shards {
		longest = max(longest, s.Seconds)
	}
	return time.Duration(math.Ceil(2*longest/60)+10) * time.Minute
}

// Write writes the plan and the scripts into the folder.
func (f Folder) Write(p Plan, s Scripts) error {
	if err := f.Make(); err != nil {
		return err
	}
	if err := tempfile.Write(f.plan(), 0o644, p.Write); err != nil {
		return err
	}
	job := fmt.Sprintf(`#!/bin/bash
# Task i of an array runs shard OFFSET + i of plan.json: sbatch --array=1-N job.sh OFFSET
%s#SBATCH --cpus-per-task=%d
#SBATCH --time=%d
#SBATCH --output="%s"
#SBATCH --signal=B:TERM@120
#SBATCH --requeue
if [ "${SLURM_RESTART_COUNT:-0}" -gt %d ]; then
  echo "This task was restarted %d times. ssdl submit submits its missing jobs again." >&2
  exit 1
fi
cd %s || exit 1
exec %s --shard "$(($1 + SLURM_ARRAY_TASK_ID))/%d" -j "${SLURM_CPUS_PER_TASK:-1}"
`, s.directives("shards"), s.CPUs, int(s.Time.Minutes()), filepath.Join(f.logs(), "%A_%a.log"), restarts, restarts, s.Dir, s.Shard, len(p.Shards))
	if err := writeScript(f.job(), job); err != nil {
		return err
	}
	merge := fmt.Sprintf(`#!/bin/bash
# Merges the stores of the shards, and submits the final jobs.
%s#SBATCH --cpus-per-task=1
#SBATCH --time=60
#SBATCH --output="%s"
cd %s || exit 1
exec %s
`, s.directives("merge"), filepath.Join(f.logs(), "merge-%j.log"), s.Dir, s.Final)
	return writeScript(f.merge(), merge)
}

func writeScript(path, text string) error {
	return tempfile.Write(path, 0o755, func(w io.Writer) error {
		_, err := io.WriteString(w, text)
		return err
	})
}

// directives are the options of sbatch in both scripts.
func (s Scripts) directives(what string) string {
	options := []string{"--job-name=ssdl-" + what, "--open-mode=append"}
	if s.Partition != "" {
		options = append(options, "--partition="+s.Partition)
	}
	if s.Memory > 0 {
		options = append(options, fmt.Sprintf("--mem=%dG", s.Memory))
	}
	var b strings.Builder
	for _, o := range append(options, s.Sbatch...) {
		b.WriteString("#SBATCH " + o + "\n")
	}
	return b.String()
}
