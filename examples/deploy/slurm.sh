#!/bin/bash
# A run as a Slurm job: `sbatch examples/deploy/slurm.sh env=ehr_db tasks.count=2000 model=...`.
# Five minutes before its time limit the run seals what it has, and the job goes back into the queue to go on there.
# Not run under Slurm by us; tests/e2e/test_slurm.py plays it with a stand-in for scontrol.
#SBATCH --job-name=synth
#SBATCH --nodes=1
#SBATCH --cpus-per-task=16
#SBATCH --mem=64G
#SBATCH --time=08:00:00
#SBATCH --signal=B:TERM@300
#SBATCH --requeue
#SBATCH --open-mode=append

run=${SYNTH_RUN:-$PWD/out/$SLURM_JOB_ID}

if [ -d "$run" ]; then
  synth run --resume "$run" &
else
  synth run "$@" output.dir="$run" &
fi
driver=$!
again=no
trap 'again=yes; kill -TERM "$driver"' TERM

# a trapped signal ends `wait`; the driver then drains
wait "$driver"
code=$?
while kill -0 "$driver" 2>/dev/null; do
  wait "$driver"
  code=$?
done
if [ "$again" = yes ] && [ "$code" -ne 0 ]; then
  scontrol requeue "$SLURM_JOB_ID"
fi
exit "$code"
