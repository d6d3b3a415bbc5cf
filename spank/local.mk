# SPDX-FileCopyrightText: 2026 The nccl-tune authors
# SPDX-License-Identifier: Apache-2.0
# spank_nccl_tune.so: in srun, salloc and sbatch with the user's rights (submit/), in slurmstepd as root (step/).
# Root reads nothing of a user's. Only submit/launcher.c, the helper nt-launch, uses json-c.

# What the plugin has inside slurmstepd: libc and Slurm's own symbols, nothing else.
spank_plugin_sources = \
	%D%/step/calibrate-task.c \
	%D%/step/calibrate-task.h \
	%D%/step/profile-env.c \
	%D%/step/profile-env.h \
	%D%/step/shm-fd.c \
	%D%/step/shm-fd.h \
	%D%/step/cache.c \
	%D%/step/cache.h \
	%D%/step/cgroup.c \
	%D%/step/cgroup.h \
	%D%/step/env.c \
	%D%/step/env.h \
	%D%/arguments.c \
	%D%/arguments.h \
	%D%/step/helper.c \
	%D%/step/helper.h \
	%D%/submit/ask-launch.c \
	%D%/submit/ask-launch.h \
	%D%/step/long-dir.c \
	%D%/step/long-dir.h \
	%D%/submit/mpi.c \
	%D%/submit/mpi.h \
	%D%/option.c \
	%D%/option.h \
	%D%/rundir.c \
	%D%/rundir.h \
	%D%/step/spawn.c \
	%D%/step/spawn.h \
	%D%/step/step-name.c \
	%D%/step/step-name.h \
	%D%/topology-env.c \
	%D%/topology-env.h \
	%D%/where.c \
	%D%/where.h

noinst_LIBRARIES += libnt-spank.a
libnt_spank_a_SOURCES = $(spank_plugin_sources) \
	%D%/hosts.c \
	%D%/hosts.h \
	%D%/step/node-facts.c \
	%D%/step/node-facts.h \
	%D%/step/node-fingerprint.c \
	%D%/step/node-fingerprint.h \
	%D%/step/rights.c \
	%D%/step/rights.h \
	%D%/slurm_compat.h

spank_plugin_libs = libnt-site.a libnt-launch-plain.a libnt-lib.a libnt-contract.a

# Slurm's symbols come from the program that loads the plugin: no -lslurm, no -z defs.
slurmexec_PROGRAMS += spank_nccl_tune.so
spank_nccl_tune_so_SOURCES = %D%/plugin.c %D%/context.h %D%/submit/client.c %D%/submit/client.h %D%/say.c %D%/say.h %D%/slurm_compat.h \
	%D%/submit/srun.c %D%/submit/srun.h %D%/step/stepd.c %D%/step/stepd.h %D%/step/task.c %D%/step/task.h \
	$(spank_plugin_sources)
spank_nccl_tune_so_LDADD = $(spank_plugin_libs) $(INIH_LIBS)
spank_nccl_tune_so_LDFLAGS = $(module_ldflags) -Wl,--version-script=$(srcdir)/%D%/spank.map
spank_nccl_tune_so_DEPENDENCIES = $(spank_plugin_libs) %D%/spank.map
EXTRA_DIST += %D%/spank.map

# srun's helper: the choice of a launch profile, and what else is read as the user.
pkglibexec_PROGRAMS += nt-launch
nt_launch_SOURCES = %D%/submit/launcher.c %D%/hosts.c %D%/hosts.h
nt_launch_LDADD = libnt-site.a $(profiles_libs) $(SLURM_LIBS) $(INIH_LIBS)
