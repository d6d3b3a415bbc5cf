# SPDX-FileCopyrightText: 2026 The nccl-tune authors
# SPDX-License-Identifier: Apache-2.0
# spank_nccl_tune.so and nt-recordd, the helper that reads the ranks' records as the user.

# What the plugin has inside slurmstepd: libc and Slurm's own symbols, nothing else.
spank_plugin_sources = \
	%D%/apply.c \
	%D%/apply.h \
	%D%/beneath.c \
	%D%/beneath.h \
	%D%/boardfd.c \
	%D%/boardfd.h \
	%D%/cache.c \
	%D%/cache.h \
	%D%/cgroup.c \
	%D%/cgroup.h \
	%D%/clear.c \
	%D%/clear.h \
	%D%/due.c \
	%D%/env.c \
	%D%/env.h \
	%D%/errand.c \
	%D%/errand.h \
	%D%/helper.c \
	%D%/helper.h \
	%D%/launch.c \
	%D%/launch.h \
	%D%/longplace.c \
	%D%/longplace.h \
	%D%/mpi.c \
	%D%/mpi.h \
	%D%/option.c \
	%D%/option.h \
	%D%/rundir.c \
	%D%/rundir.h \
	%D%/settle.c \
	%D%/settle.h \
	%D%/spawn.c \
	%D%/spawn.h \
	%D%/step.c \
	%D%/step.h \
	%D%/stepfs.c \
	%D%/stepfs.h \
	%D%/tidy.h \
	%D%/topology.c \
	%D%/topology.h

noinst_LTLIBRARIES += libnt-spank.la
libnt_spank_la_SOURCES = $(spank_plugin_sources) \
	%D%/account.c \
	%D%/account.h \
	%D%/collect.h \
	%D%/collectdir.c \
	%D%/deliver.c \
	%D%/deliver.h \
	%D%/dumpxml.c \
	%D%/dumpxml.h \
	%D%/fingerprint.c \
	%D%/fingerprint.h \
	%D%/learn.c \
	%D%/learn.h \
	%D%/longchild.c \
	%D%/longform.c \
	%D%/longform.h \
	%D%/longsay.h \
	%D%/post.c \
	%D%/post.h \
	%D%/remember.c \
	%D%/remember.h \
	%D%/rights.c \
	%D%/rights.h \
	%D%/sink.c \
	%D%/sink.h \
	%D%/sink-admincomment.c \
	%D%/sink-comment.c \
	%D%/sink-extra.c \
	%D%/slurm_compat.h \
	%D%/sumtext.c \
	%D%/sumtext.h \
	%D%/tidy.c \
	%D%/topologydir.c \
	%D%/topologydir.h \
	%D%/turn.c \
	%D%/turn.h
libnt_spank_la_LIBADD = libnt-site.la libnt-launch.la libnt-contract.la

# Slurm's symbols come from the program that loads the plugin: no -lslurm, no -z defs.
slurmexec_LTLIBRARIES += spank_nccl_tune.la
spank_nccl_tune_la_SOURCES = %D%/plugin.c %D%/say.c %D%/say.h %D%/slurm_compat.h \
	%D%/srun.c %D%/srun.h %D%/task.c %D%/task.h \
	$(spank_plugin_sources)
spank_nccl_tune_la_LIBADD = libnt-site.la libnt-launch-plain.la libnt-child.la libnt-contract.la $(INIH_MODULE_LIBS)
spank_nccl_tune_la_LDFLAGS = $(module_ldflags) -Wl,--version-script=$(srcdir)/%D%/spank.map
spank_nccl_tune_la_DEPENDENCIES = libnt-site.la libnt-launch-plain.la libnt-child.la libnt-contract.la \
	%D%/spank.map
EXTRA_DIST += %D%/spank.map

# What tells steps their partition, account and QOS; for sites that have sections for these.
slurmexec_LTLIBRARIES += spank_nccl_tune_job.la
spank_nccl_tune_job_la_SOURCES = %D%/job.c %D%/rundir.c %D%/rundir.h %D%/say.c %D%/say.h %D%/slurm_compat.h
spank_nccl_tune_job_la_LIBADD = libnt-site.la libnt-launch-plain.la libnt-child.la libnt-contract.la $(INIH_MODULE_LIBS)
spank_nccl_tune_job_la_LDFLAGS = $(module_ldflags) -Wl,--version-script=$(srcdir)/%D%/spank.map
spank_nccl_tune_job_la_DEPENDENCIES = libnt-site.la libnt-launch-plain.la libnt-child.la libnt-contract.la \
	%D%/spank.map

# srun's helper: the choice of a launch profile.
pkglibexec_PROGRAMS += nt-launch
nt_launch_SOURCES = %D%/launcher.c
nt_launch_LDADD = libnt-launch.la libnt-engine.la libnt-child.la libnt-contract.la $(JSON_C_LIBS) -lm

pkglibexec_PROGRAMS += nt-recordd
nt_recordd_SOURCES = %D%/recordd.c
nt_recordd_LDADD = libnt-spank.la libnt-engine.la libnt-record-read.la libnt-contract.la $(JSON_C_LIBS) $(HWLOC_LIBS) $(SLURM_LIBS) \
	$(INIH_LIBS) $(EXPAT_LIBS)
