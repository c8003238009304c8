#!/bin/bash
# A sweep under Grid Engine: qsub -t 1-TASKS -v SUBMISSION=... gridengine.sh
#   che submit CONFIG --manifest     prints both.
# Five minutes before the run limit a task gets SIGUSR1 (SIGUSR2 before it is deleted): it writes a checkpoint and exits with
# 99, at which Grid Engine queues it again. After the loss of a host, too.
#$ -S /bin/bash
#$ -cwd
#$ -r y
#$ -notify
#$ -l s_rt=3:55:00,h_rt=4:00:00
#$ -l h_vmem=8G
#$ -j y
#$ -o che.$JOB_ID.$TASK_ID.log
exec "${CHE:-build/che}" task "${SUBMISSION:?}" "$((SGE_TASK_ID - 1))" --preempted-exit 99
