# SPDX-FileCopyrightText: 2026 The nccl-tune authors
# SPDX-License-Identifier: Apache-2.0
# Shared memory, logs, agreement: bytes and ranks. In the NCCL process, as the user; libc, libpmix at run time, no json-c.

noinst_LIBRARIES += libnt-sync.a
libnt_sync_a_SOURCES = \
	%D%/agree.c \
	%D%/agree.h \
	%D%/shm.c \
	%D%/shm.h \
	%D%/shm-file.c \
	%D%/shm-file.h \
	%D%/capabilities.c \
	%D%/capabilities.h \
	%D%/log-entry.c \
	%D%/log-entry.h \
	%D%/coordinator.c \
	%D%/coordinator.h \
	%D%/hooks.h \
	%D%/join.c \
	%D%/join.h \
	%D%/layout.c \
	%D%/layout.h \
	%D%/pmix-log.c \
	%D%/pmix-log.h \
	%D%/participant.c \
	%D%/participant.h \
	%D%/mpi-library.c \
	%D%/mpi-library.h \
	%D%/nodes.c \
	%D%/nodes.h \
	%D%/outbox.c \
	%D%/outbox.h \
	%D%/read-pace.h \
	%D%/used-ids.c \
	%D%/used-ids.h \
	%D%/precheck.c \
	%D%/precheck.h \
	%D%/recheck-timer.c \
	%D%/recheck-timer.h \
	%D%/call-interval.h \
	%D%/window-layout.c \
	%D%/window-layout.h \
	%D%/node-leader.c \
	%D%/node-leader.h \
	%D%/agree-state.h \
	%D%/task-log.h \
	%D%/tree.c \
	%D%/tree.h \
	%D%/turn.h \
	%D%/view.c \
	%D%/view.h
