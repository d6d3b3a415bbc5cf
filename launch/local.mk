# SPDX-FileCopyrightText: 2026 The nccl-tune authors
# SPDX-License-Identifier: Apache-2.0
# Start-up settings of NCCL: profiles, what is remembered of them, and which one a step gets.

# What slurmstepd needs to look a profile up by its name: libc only.
launch_profile_sources = \
	%D%/file.c \
	%D%/file.h \
	%D%/profile.c \
	%D%/profile.h \
	%D%/profile-read.c \
	%D%/variable.c \
	%D%/variable.h

noinst_LTLIBRARIES += libnt-launch.la
libnt_launch_la_SOURCES = $(launch_profile_sources) \
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
	%D%/memory.c \
	%D%/memory.h \
	%D%/memory-text.c \
	%D%/promise.c \
	%D%/promise.h \
	%D%/store.c \
	%D%/store.h \
	%D%/weigh.c \
	%D%/weigh.h \
	%D%/why.c \
	%D%/why.h
libnt_launch_la_LIBADD = libnt-contract.la $(JSON_C_LIBS) -lm
