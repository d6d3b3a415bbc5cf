# SPDX-FileCopyrightText: 2026 The nccl-tune authors
# SPDX-License-Identifier: Apache-2.0
# nccl-tune, the command.

noinst_LTLIBRARIES += libnt-report.la
libnt_report_la_SOURCES = \
	%D%/accounting.c \
	%D%/accounting.h \
	%D%/backfill.c \
	%D%/child.c \
	%D%/child.h \
	%D%/command.c \
	%D%/command.h \
	%D%/controller.c \
	%D%/controller.h \
	%D%/database.c \
	%D%/database.h \
	%D%/explored.c \
	%D%/explored.h \
	%D%/fields.c \
	%D%/fields.h \
	%D%/file.c \
	%D%/file.h \
	%D%/fingerprint.c \
	%D%/inventory.c \
	%D%/inventory.h \
	%D%/jobid.c \
	%D%/jobid.h \
	%D%/jobload.c \
	%D%/jobload.h \
	%D%/jobtext.c \
	%D%/jobtext.h \
	%D%/json.c \
	%D%/label.c \
	%D%/label.h \
	%D%/print.c \
	%D%/print.h \
	%D%/rank.c \
	%D%/rank.h \
	%D%/report.c \
	%D%/show.c \
	%D%/spool.c \
	%D%/spool.h \
	%D%/summary.c \
	%D%/summary.h \
	%D%/table.c \
	%D%/table.h
libnt_report_la_LIBADD = libnt-contract.la

bin_PROGRAMS += nccl-tune
nccl_tune_SOURCES = %D%/main.c
nccl_tune_LDADD = libnt-replay.la libnt-report.la libnt-spank.la libnt-engine.la libnt-contract.la \
	$(JSON_C_LIBS) $(HWLOC_LIBS) $(SLURM_LIBS)
