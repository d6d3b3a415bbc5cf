# SPDX-FileCopyrightText: 2026 The nccl-tune authors
# SPDX-License-Identifier: Apache-2.0
# A record's way into accounting. In nt-recordd as root, in the command with the caller's rights; no json-c.

noinst_LIBRARIES += libnt-accounting.a
libnt_accounting_a_SOURCES = %D%/choose-sink.c \
	%D%/choose-sink.h \
	%D%/job-lock.c \
	%D%/job-lock.h \
	%D%/job-writer.c \
	%D%/job-writer.h \
	%D%/queue.c \
	%D%/queue.h
