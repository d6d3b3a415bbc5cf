# SPDX-FileCopyrightText: 2026 The nccl-tune authors
# SPDX-License-Identifier: Apache-2.0
# Board, logs, agreement: bytes and ranks. Needs libc; libpmix is loaded at run time.

noinst_LTLIBRARIES += libnt-sync.la
libnt_sync_la_SOURCES = \
	%D%/again.c \
	%D%/agree.c \
	%D%/agree.h \
	%D%/board.c \
	%D%/board.h \
	%D%/entry.c \
	%D%/entry.h \
	%D%/home.c \
	%D%/join.c \
	%D%/log.c \
	%D%/log.h \
	%D%/member.c \
	%D%/mpi.c \
	%D%/mpi.h \
	%D%/nodes.c \
	%D%/nodes.h \
	%D%/pace.h \
	%D%/pending.c \
	%D%/retire.c \
	%D%/shape.c \
	%D%/shape.h \
	%D%/speaker.c \
	%D%/speaker.h \
	%D%/state.h \
	%D%/tree.c \
	%D%/turn.h
libnt_sync_la_LIBADD = libnt-contract.la
