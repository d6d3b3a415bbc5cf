# SPDX-FileCopyrightText: 2026 The nccl-tune authors
# SPDX-License-Identifier: Apache-2.0
# Measured times, and decisions on made-up ones: for tests, the simulated NCCL and nt-engine-sim.

noinst_LIBRARIES += libnt-trace.a libnt-drive.a
libnt_trace_a_SOURCES = \
	%D%/trace.c \
	%D%/trace.h
libnt_drive_a_SOURCES = \
	%D%/drive.c \
	%D%/drive.h \
	%D%/rng.h
