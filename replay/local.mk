# SPDX-FileCopyrightText: 2026 The nccl-tune authors
# SPDX-License-Identifier: Apache-2.0
# Decisions outside of a job. libnt-drive.la, without JSON, is for tests and the simulated NCCL too.

noinst_LTLIBRARIES += libnt-trace.la libnt-drive.la libnt-replay.la
libnt_trace_la_SOURCES = \
	%D%/trace.c \
	%D%/trace.h
libnt_drive_la_SOURCES = \
	%D%/drive.c \
	%D%/drive.h \
	%D%/rng.h \
	%D%/source.c \
	%D%/source.h
libnt_drive_la_LIBADD = -lm
libnt_replay_la_SOURCES = \
	%D%/cells.c \
	%D%/fitted.c \
	%D%/fitted.h \
	%D%/launch.c \
	%D%/outline.c \
	%D%/outline.h \
	%D%/cell-print.c \
	%D%/recorded.c \
	%D%/replay.h
libnt_replay_la_LIBADD = libnt-drive.la libnt-trace.la
