#!/bin/bash
# A sweep under LSF: SUBMISSION=... bsub -J "che[1-TASKS]" < lsf.sh
#   che submit CONFIG --manifest     prints both.
# Five minutes before the run limit a task gets SIGUSR1 (SIGUSR2 at the limit): it writes a checkpoint and exits with 75,
# and LSF queues it again. After the loss of a host, too.
#BSUB -W 4:00
#BSUB -wa USR1 -wt 5
#BSUB -Q "75"
#BSUB -r
#BSUB -n 1
#BSUB -R "rusage[mem=4GB]"
#BSUB -o che.%J_%I.log
exec "${CHE:-build/che}" task "${SUBMISSION:?}" "$((LSB_JOBINDEX - 1))"
