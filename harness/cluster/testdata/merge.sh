#!/bin/bash
# Merges the stores of the shards, and submits the final jobs.
#SBATCH --job-name=ssdl-merge
#SBATCH --open-mode=append
#SBATCH --partition=long
#SBATCH --mem=8G
#SBATCH --account=lab
#SBATCH --cpus-per-task=1
#SBATCH --time=60
#SBATCH --output="DIR/logs/merge-%j.log"
cd '/my work' || exit 1
exec ssdl submit table1 --final
