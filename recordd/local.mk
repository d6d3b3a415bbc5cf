# SPDX-FileCopyrightText: 2026 The nccl-tune authors
# SPDX-License-Identifier: Apache-2.0
# nt-recordd: root, one a node and step. What the user wrote is read by a child with the user's rights, which alone uses json-c.

noinst_LIBRARIES += libnt-recordd.a
libnt_recordd_a_SOURCES = %D%/collect.c \
	%D%/collect.h \
	%D%/deliver.c \
	%D%/dumpxml.c \
	%D%/dumpxml.h \
	%D%/long-work.c \
	%D%/longform.c \
	%D%/longform.h \
	%D%/loop.c \
	%D%/memory-work.c \
	%D%/nodes-work.c \
	%D%/parts.c \
	%D%/parts.h \
	%D%/reader.c \
	%D%/recordd-log.c \
	%D%/recordd-log.h \
	%D%/remember.c \
	%D%/remember.h \
	%D%/state.h \
	%D%/stack-tool.c \
	%D%/stack-tool.h \
	%D%/stacks-work.c \
	%D%/step-entry.c \
	%D%/step-entry.h \
	%D%/step-record.c \
	%D%/step-record.h \
	%D%/topologies.c \
	%D%/topologies.h \
	%D%/user-child.c \
	%D%/user-child.h \
	%D%/work.c \
	%D%/work.h

pkglibexec_PROGRAMS += nt-recordd
nt_recordd_SOURCES = %D%/main.c
nt_recordd_LDADD = $(spank_libs) $(record_libs) $(HWLOC_LIBS) $(SLURM_LIBS) \
	$(INIH_LIBS) $(EXPAT_LIBS)
