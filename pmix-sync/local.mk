# SPDX-FileCopyrightText: 2026 The nccl-tune authors
# SPDX-License-Identifier: Apache-2.0
# Board, logs, agreement: bytes and ranks. Needs libc; libpmix is loaded at run time.

noinst_LTLIBRARIES += libnt-sync.la
libnt_sync_la_SOURCES = \
	%D%/agree.c \
	%D%/agree.h \
	%D%/alike.c \
	%D%/alike.h \
	%D%/board.c \
	%D%/board.h \
	%D%/boardfile.c \
	%D%/boardfile.h \
	%D%/card.c \
	%D%/card.h \
	%D%/entry.c \
	%D%/entry.h \
	%D%/home.c \
	%D%/home.h \
	%D%/hooks.h \
	%D%/join.c \
	%D%/join.h \
	%D%/layout.c \
	%D%/layout.h \
	%D%/log.c \
	%D%/log.h \
	%D%/member.c \
	%D%/member.h \
	%D%/mpi.c \
	%D%/mpi.h \
	%D%/nodes.c \
	%D%/nodes.h \
	%D%/outbox.c \
	%D%/outbox.h \
	%D%/pace.h \
	%D%/past.c \
	%D%/past.h \
	%D%/pending.c \
	%D%/pending.h \
	%D%/recheck.c \
	%D%/recheck.h \
	%D%/retire.c \
	%D%/retire.h \
	%D%/rhythm.h \
	%D%/spread.c \
	%D%/spread.h \
	%D%/speaker.c \
	%D%/speaker.h \
	%D%/state.h \
	%D%/trail.h \
	%D%/tree.c \
	%D%/tree.h \
	%D%/turn.h \
	%D%/view.c \
	%D%/view.h
libnt_sync_la_LIBADD = libnt-contract.la
