# SPDX-FileCopyrightText: 2026 The nccl-tune authors
# SPDX-License-Identifier: Apache-2.0
# nccl-tune, the command, with the caller's rights (backfill: root); json-c. A file a subcommand.

noinst_LIBRARIES += libnt-cli.a
libnt_cli_a_SOURCES = \
	%D%/answer.c \
	%D%/answer.h \
	%D%/backfill.c \
	%D%/calibrate.c \
	%D%/check-config.c \
	%D%/command.c \
	%D%/command.h \
	%D%/memory-forms.h \
	%D%/memory-move.c \
	%D%/memory-show.c \
	%D%/memory.c \
	%D%/report-follow.c \
	%D%/report-follow.h \
	%D%/report-output.c \
	%D%/report-output.h \
	%D%/report.c \
	%D%/summary.c

bin_PROGRAMS += nccl-tune
nccl_tune_SOURCES = %D%/main.c
nccl_tune_LDADD = libnt-cli.a libnt-measure.a libnt-report.a $(spank_libs) $(record_libs) \
	$(HWLOC_LIBS) $(SLURM_LIBS) $(INIH_LIBS)
