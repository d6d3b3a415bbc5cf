# SPDX-FileCopyrightText: 2026 The nccl-tune authors
# SPDX-License-Identifier: Apache-2.0
# nccl-tune, the command.

noinst_LTLIBRARIES += libnt-report.la
libnt_report_la_SOURCES = \
	%D%/accounting.c \
	%D%/accounting.h \
	%D%/allocation.c \
	%D%/allocation.h \
	%D%/backfill.c \
	%D%/calibrate.c \
	%D%/calibration.c \
	%D%/calibration.h \
	%D%/calls.c \
	%D%/calls.h \
	%D%/calrun.c \
	%D%/calrun.h \
	%D%/caltable.c \
	%D%/caltable.h \
	%D%/command.c \
	%D%/command.h \
	%D%/config.c \
	%D%/config.h \
	%D%/config-check.c \
	%D%/controller.c \
	%D%/controller.h \
	%D%/database.c \
	%D%/database.h \
	%D%/explored.c \
	%D%/explored.h \
	%D%/fair.c \
	%D%/fair.h \
	%D%/fingerprint.c \
	%D%/inventory.c \
	%D%/inventory.h \
	%D%/jobid.c \
	%D%/jobid.h \
	%D%/jobload.c \
	%D%/jobload.h \
	%D%/jobtext.c \
	%D%/jobtext.h \
	%D%/join.c \
	%D%/join.h \
	%D%/json.c \
	%D%/learn.c \
	%D%/learned.c \
	%D%/learned.h \
	%D%/marked.c \
	%D%/marked.h \
	%D%/memory.c \
	%D%/places.c \
	%D%/places.h \
	%D%/print.c \
	%D%/print.h \
	%D%/recordplaces.c \
	%D%/recordplaces.h \
	%D%/remembered.h \
	%D%/remembered-move.c \
	%D%/remembered-show.c \
	%D%/report.c \
	%D%/runs.c \
	%D%/runs.h \
	%D%/seconds.c \
	%D%/seconds.h \
	%D%/backlog.c \
	%D%/backlog.h \
	%D%/show.c \
	%D%/steprun.c \
	%D%/steprun.h \
	%D%/table.c \
	%D%/table.h \
	%D%/terminal.c \
	%D%/terminal.h \
	%D%/usertext.c \
	%D%/usertext.h
libnt_report_la_LIBADD = libnt-contract.la -lm

bin_PROGRAMS += nccl-tune
nccl_tune_SOURCES = %D%/main.c
nccl_tune_LDADD = libnt-replay.la libnt-report.la libnt-spank.la libnt-launch.la libnt-engine.la \
	libnt-record-read.la libnt-contract.la \
	$(JSON_C_LIBS) $(HWLOC_LIBS) $(SLURM_LIBS) $(INIH_LIBS)
