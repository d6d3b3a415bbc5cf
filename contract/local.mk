# SPDX-FileCopyrightText: 2026 The nccl-tune authors
# SPDX-License-Identifier: Apache-2.0
# Every value that crosses a process boundary. In all processes, root's and users'; libc only, no json-c.

noinst_LIBRARIES += libnt-contract.a
libnt_contract_a_SOURCES = \
	%D%/tray-layout.h \
	%D%/coll.c \
	%D%/coll.h \
	%D%/fabric.c \
	%D%/fabric.h \
	%D%/finding.c \
	%D%/finding.h \
	%D%/findings.def \
	%D%/key-id.h \
	%D%/names.h \
	%D%/policy.c \
	%D%/policy.h \
	%D%/reason.c \
	%D%/reason.h \
	%D%/reasons.def \
	%D%/setting.c \
	%D%/setting.h \
	%D%/shm-layout.h \
	%D%/warm.c \
	%D%/warm.h
