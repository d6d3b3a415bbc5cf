# SPDX-FileCopyrightText: 2026 The nccl-tune authors
# SPDX-License-Identifier: Apache-2.0
# Start-up settings of NCCL: profiles, what is remembered of them, and which one a step gets.

# What slurmstepd and srun need themselves: libc only.
noinst_LTLIBRARIES += libnt-launch-plain.la libnt-launch.la
libnt_launch_plain_la_SOURCES = \
	%D%/directory.c \
	%D%/directory.h \
	%D%/file.c \
	%D%/file.h \
	%D%/own.c \
	%D%/own.h \
	%D%/profile.c \
	%D%/profile.h \
	%D%/profile-read.c \
	%D%/reason.c \
	%D%/reason.h \
	%D%/records.c \
	%D%/records.h \
	%D%/ticket.c \
	%D%/ticket.h \
	%D%/variable.c \
	%D%/variable.h

libnt_launch_la_SOURCES = \
	%D%/choice.h \
	%D%/choose.c \
	%D%/choose.h \
	%D%/csv.c \
	%D%/csv.h \
	%D%/entry.c \
	%D%/entry.h \
	%D%/entry-read.c \
	%D%/feel.c \
	%D%/feel.h \
	%D%/hosts.c \
	%D%/hosts.h \
	%D%/memory.c \
	%D%/memory.h \
	%D%/memory-text.c \
	%D%/pick.c \
	%D%/pick.h \
	%D%/pick-warm.c \
	%D%/promise.c \
	%D%/promise.h \
	%D%/store.c \
	%D%/store.h \
	%D%/weigh.c \
	%D%/weigh.h \
	%D%/why.c \
	%D%/why.h
libnt_launch_la_LIBADD = libnt-launch-plain.la libnt-contract.la $(JSON_C_LIBS) -lm
