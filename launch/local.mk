# SPDX-FileCopyrightText: 2026 The nccl-tune authors
# SPDX-License-Identifier: Apache-2.0
# Start-up settings of NCCL. The first half in srun, tasks and slurmstepd, also as root: no json-c. The second in nt-launch,
# nt-recordd's child and the command: json-c.

# What slurmstepd and srun need themselves: libc only.
noinst_LIBRARIES += libnt-launch-plain.a libnt-launch.a
libnt_launch_plain_a_SOURCES = \
	%D%/measure/request.c \
	%D%/measure/request.h \
	%D%/memory-dir.c \
	%D%/memory-dir.h \
	%D%/profile.c \
	%D%/profile.h \
	%D%/profile-read.c \
	%D%/program.c \
	%D%/program.h \
	%D%/record-dir.c \
	%D%/record-dir.h \
	%D%/select-reason.c \
	%D%/select-reason.h \
	%D%/ticket.c \
	%D%/ticket.h \
	%D%/user-env.c \
	%D%/user-env.h \
	%D%/variable.c \
	%D%/variable.h

libnt_launch_a_SOURCES = \
	%D%/calibrated.c \
	%D%/calibrated.h \
	%D%/due.c \
	%D%/due.h \
	%D%/claim.c \
	%D%/claim.h \
	%D%/select.c \
	%D%/select.h \
	%D%/entry.c \
	%D%/entry.h \
	%D%/entry-read.c \
	%D%/estimate.c \
	%D%/estimate.h \
	%D%/step-before.c \
	%D%/step-before.h \
	%D%/step-ratio.c \
	%D%/step-ratio.h \
	%D%/memory.c \
	%D%/memory.h \
	%D%/memory-text.c \
	%D%/select-input.c \
	%D%/select-input.h \
	%D%/known-arms.c \
	%D%/known-arms.h \
	%D%/memory-store.c \
	%D%/memory-store.h \
	%D%/select-text.c \
	%D%/select-text.h

# Calibrations.
noinst_LIBRARIES += libnt-measure.a
libnt_measure_a_SOURCES = \
	%D%/measure/race.c \
	%D%/measure/race.h
