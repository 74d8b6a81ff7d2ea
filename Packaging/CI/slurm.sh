#!/bin/bash
# Judges a part of captures/ as a task of an array. To submit it, and what joins the parts:
#   job=$(sbatch --parsable slurm.sh)
#   sbatch --dependency="afterok:$job" --wrap 'reprise report merge part-*.json --report json=all.json'
#SBATCH --job-name=conformance
#SBATCH --array=1-4
#SBATCH --cpus-per-task=2
set -eu

reprise conform trace captures/ --shard "$SLURM_ARRAY_TASK_ID/$SLURM_ARRAY_TASK_COUNT" \
  --jobs "${SLURM_CPUS_PER_TASK:-1}" --format json -o "part-$SLURM_ARRAY_TASK_ID.json" || [ $? -eq 1 ]
