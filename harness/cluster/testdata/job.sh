#!/bin/bash
# Task i of an array runs shard OFFSET + i of plan.json: sbatch --array=1-N job.sh OFFSET
#SBATCH --job-name=ssdl-shards
#SBATCH --open-mode=append
#SBATCH --partition=long
#SBATCH --mem=8G
#SBATCH --account=lab
#SBATCH --cpus-per-task=2
#SBATCH --time=14
#SBATCH --output="DIR/logs/%A_%a.log"
#SBATCH --signal=B:TERM@120
#SBATCH --requeue
if [ "${SLURM_RESTART_COUNT:-0}" -gt 3 ]; then
  echo "This task was restarted 3 times. ssdl submit submits its missing jobs again." >&2
  exit 1
fi
cd '/my work' || exit 1
exec ssdl run table1 --plan=plan.json --shard "$(($1 + SLURM_ARRAY_TASK_ID))/4" -j "${SLURM_CPUS_PER_TASK:-1}"
