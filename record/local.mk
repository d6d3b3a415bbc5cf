# SPDX-FileCopyrightText: 2026 The nccl-tune authors
# SPDX-License-Identifier: Apache-2.0
# Every format that is written in one place and read in another. What writes is in the NCCL process, too: libc only; what
# reads is in nt-recordd's child and the command: json-c.

noinst_LIBRARIES += libnt-record.a libnt-record-read.a
libnt_record_a_SOURCES = \
	%D%/field.c \
	%D%/field.h \
	%D%/key.c \
	%D%/key.h \
	%D%/record.def \
	%D%/rank.c \
	%D%/rank.h \
	%D%/tray.c \
	%D%/tray.h
libnt_record_read_a_SOURCES = \
	%D%/admincomment-merge.c \
	%D%/admincomment-merge.h \
	%D%/bandwidth.c \
	%D%/bandwidth.h \
	%D%/behind.c \
	%D%/behind.h \
	%D%/calls-record.c \
	%D%/calls-record.h \
	%D%/filesink.c \
	%D%/filesink.h \
	%D%/findings.c \
	%D%/findings.h \
	%D%/findings-differs.c \
	%D%/findings-differs.h \
	%D%/findings-left.c \
	%D%/findings-left.h \
	%D%/findings-list.c \
	%D%/findings-list.h \
	%D%/findings-net.c \
	%D%/findings-net.h \
	%D%/findings-ports.c \
	%D%/findings-ports.h \
	%D%/findings-rank.c \
	%D%/findings-rank.h \
	%D%/lateness.c \
	%D%/lateness.h \
	%D%/long.c \
	%D%/long.h \
	%D%/longset.c \
	%D%/longset.h \
	%D%/longsum.c \
	%D%/longwrite.c \
	%D%/longwrite.h \
	%D%/member-names.c \
	%D%/member-names.h \
	%D%/parallelism.c \
	%D%/parallelism.h \
	%D%/rankread.c \
	%D%/rankread.h \
	%D%/read.c \
	%D%/read.h \
	%D%/says.c \
	%D%/says.h \
	%D%/shortform.c \
	%D%/shortform.h \
	%D%/spool.c \
	%D%/spool.h \
	%D%/spoolread.c \
	%D%/step.c \
	%D%/step.h \
	%D%/sum.c \
	%D%/sum.h \
	%D%/job-summary.c \
	%D%/job-summary.h \
	%D%/sumcalls.c \
	%D%/sumlate.c \
	%D%/sumread.c \
	%D%/sumrows.c \
	%D%/topology.c \
	%D%/topology.h
