# shellcheck shell=bash
# What the batch scripts need on one cluster: copy to env/machines/NAME.sh, where NAME is the cluster's name in Slurm
# (`scontrol show config | grep ClusterName`) or what STEREOSWEEP_SITE names. slurm/step.sh reads it on the first node
# of a job, before the program is started; what is exported reaches all ranks.

# Modules that the program was built with.
# module load gcc/12 openmpi/4.1 hdf5/1.12

# The program, where it is not build/release/bin/stereosweep below the folder that sbatch was called in.
# STEREOSWEEP=/shared/software/stereosweep/bin/stereosweep

# Where models named like org/name lie, and where the job may write.
# export HF_HOME=/scratch/$USER/huggingface

# A container around the program: words that stand before it, on every rank.
# container=(apptainer exec --nv /shared/images/stereosweep.sif)

# Further options of srun.
# srun_options=(--cpu-bind=cores)
