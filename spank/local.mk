# SPDX-FileCopyrightText: 2026 The nccl-tune authors
# SPDX-License-Identifier: Apache-2.0
# spank_nccl_tune.so and nt-recordd, the helper that reads the ranks' records as the user.

# What the plugin has inside slurmstepd: libc and Slurm's own symbols, nothing else.
spank_plugin_sources = \
	%D%/calibrate-task.c \
	%D%/calibrate-task.h \
	%D%/profile-env.c \
	%D%/profile-env.h \
	%D%/safe-open.c \
	%D%/safe-open.h \
	%D%/shm-fd.c \
	%D%/shm-fd.h \
	%D%/cache.c \
	%D%/cache.h \
	%D%/cgroup.c \
	%D%/cgroup.h \
	%D%/rmtree.c \
	%D%/rmtree.h \
	%D%/cleanup-due.c \
	%D%/env.c \
	%D%/env.h \
	%D%/arguments.c \
	%D%/arguments.h \
	%D%/helper.c \
	%D%/helper.h \
	%D%/ask-launch.c \
	%D%/ask-launch.h \
	%D%/longplace.c \
	%D%/longplace.h \
	%D%/mpi.c \
	%D%/mpi.h \
	%D%/option.c \
	%D%/option.h \
	%D%/rundir.c \
	%D%/rundir.h \
	%D%/effective-policy.c \
	%D%/effective-policy.h \
	%D%/spawn.c \
	%D%/spawn.h \
	%D%/step-dir.c \
	%D%/step-dir.h \
	%D%/stepfs.c \
	%D%/stepfs.h \
	%D%/cleanup.h \
	%D%/topology-env.c \
	%D%/topology-env.h \
	%D%/where.c \
	%D%/where.h

noinst_LIBRARIES += libnt-spank.a
libnt_spank_a_SOURCES = $(spank_plugin_sources) \
	%D%/cleanup.c \
	%D%/delivery/choose-sink.c \
	%D%/delivery/choose-sink.h \
	%D%/delivery/job-lock.c \
	%D%/delivery/job-lock.h \
	%D%/delivery/job-writer.c \
	%D%/delivery/job-writer.h \
	%D%/delivery/queue.c \
	%D%/delivery/queue.h \
	%D%/node-fingerprint.c \
	%D%/node-fingerprint.h \
	%D%/recordd/collect.h \
	%D%/recordd/collectdir.c \
	%D%/recordd/deliver.c \
	%D%/recordd/dumpxml.c \
	%D%/recordd/dumpxml.h \
	%D%/recordd/step-entry.c \
	%D%/recordd/step-entry.h \
	%D%/recordd/long-work.c \
	%D%/recordd/longform.c \
	%D%/recordd/longform.h \
	%D%/recordd/loop.c \
	%D%/recordd/calibration-work.c \
	%D%/recordd/memory-work.c \
	%D%/recordd/reader.c \
	%D%/recordd/recordd-log.c \
	%D%/recordd/recordd-log.h \
	%D%/recordd/remember.c \
	%D%/recordd/remember.h \
	%D%/recordd/state.h \
	%D%/recordd/step-record.c \
	%D%/recordd/step-record.h \
	%D%/recordd/topologydir.c \
	%D%/recordd/topologydir.h \
	%D%/recordd/user-child.c \
	%D%/recordd/user-child.h \
	%D%/recordd/work.c \
	%D%/recordd/work.h \
	%D%/rights.c \
	%D%/rights.h \
	%D%/slurm_compat.h

spank_plugin_libs = libnt-site.a libnt-profiles-plain.a libnt-lib.a libnt-contract.a

# Slurm's symbols come from the program that loads the plugin: no -lslurm, no -z defs.
slurmexec_PROGRAMS += spank_nccl_tune.so
spank_nccl_tune_so_SOURCES = %D%/plugin.c %D%/context.h %D%/client.c %D%/client.h %D%/say.c %D%/say.h %D%/slurm_compat.h \
	%D%/srun.c %D%/srun.h %D%/stepd.c %D%/stepd.h %D%/task.c %D%/task.h \
	$(spank_plugin_sources)
spank_nccl_tune_so_LDADD = $(spank_plugin_libs) $(INIH_LIBS)
spank_nccl_tune_so_LDFLAGS = $(module_ldflags) -Wl,--version-script=$(srcdir)/%D%/spank.map
spank_nccl_tune_so_DEPENDENCIES = $(spank_plugin_libs) %D%/spank.map
EXTRA_DIST += %D%/spank.map

# srun's helper: the choice of a launch profile, and what else is read as the user.
pkglibexec_PROGRAMS += nt-launch
nt_launch_SOURCES = %D%/launcher.c
nt_launch_LDADD = libnt-site.a $(profiles_libs) $(INIH_LIBS)

pkglibexec_PROGRAMS += nt-recordd
nt_recordd_SOURCES = %D%/recordd/main.c
nt_recordd_LDADD = $(spank_libs) $(record_libs) $(HWLOC_LIBS) $(SLURM_LIBS) \
	$(INIH_LIBS) $(EXPAT_LIBS)
