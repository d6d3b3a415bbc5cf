# SPDX-FileCopyrightText: 2026 The nccl-tune authors
# SPDX-License-Identifier: Apache-2.0
# Decisions outside of a job. libnt-drive.a, without JSON, is for tests and the simulated NCCL too.

noinst_LIBRARIES += libnt-trace.a libnt-drive.a libnt-replay.a
libnt_trace_a_SOURCES = \
	%D%/trace.c \
	%D%/trace.h
libnt_drive_a_SOURCES = \
	%D%/drive.c \
	%D%/drive.h \
	%D%/rng.h \
	%D%/source.c \
	%D%/source.h
libnt_replay_a_SOURCES = \
	%D%/cells.c \
	%D%/command.c \
	%D%/command.h \
	%D%/job-word.c \
	%D%/job-word.h \
	%D%/launch.c \
	%D%/cell-print.c \
	%D%/recorded.c \
	%D%/replay.h \
	%D%/trial.c \
	%D%/trial.h
