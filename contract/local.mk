# SPDX-FileCopyrightText: 2026 The nccl-tune authors
# SPDX-License-Identifier: Apache-2.0
# Every value that crosses a process boundary. Needs libc only.

noinst_LTLIBRARIES += libnt-contract.la
libnt_contract_la_SOURCES = \
	%D%/board.h \
	%D%/coll.c \
	%D%/coll.h \
	%D%/error.c \
	%D%/error.h \
	%D%/key.h \
	%D%/line.c \
	%D%/line.h \
	%D%/names.h \
	%D%/near.c \
	%D%/near.h \
	%D%/policy.c \
	%D%/policy.h \
	%D%/setting.c \
	%D%/setting.h \
	%D%/warm.c \
	%D%/warm.h
