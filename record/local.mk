# SPDX-FileCopyrightText: 2026 The nccl-tune authors
# SPDX-License-Identifier: Apache-2.0
# Every format that is written in one place and read in another. What writes needs libc only, since it runs in the NCCL
# process; what reads needs json-c.

noinst_LTLIBRARIES += libnt-record.la libnt-child.la libnt-record-read.la
libnt_record_la_SOURCES = \
	%D%/field.c \
	%D%/field.h \
	%D%/put.c \
	%D%/put.h \
	%D%/rank.c \
	%D%/rank.h \
	%D%/reason.c \
	%D%/reason.h
# libc only: srun needs it, too.
libnt_child_la_SOURCES = \
	%D%/child.c \
	%D%/child.h \
	%D%/dirstream.h \
	%D%/printable.c \
	%D%/printable.h
libnt_record_read_la_SOURCES = \
	%D%/bandwidth.c \
	%D%/bandwidth.h \
	%D%/file.c \
	%D%/file.h \
	%D%/filesink.c \
	%D%/filesink.h \
	%D%/guess.c \
	%D%/guess.h \
	%D%/keep.c \
	%D%/keep.h \
	%D%/label.c \
	%D%/label.h \
	%D%/long.c \
	%D%/long.h \
	%D%/longdir.c \
	%D%/longdir.h \
	%D%/longread.c \
	%D%/longread.h \
	%D%/longset.c \
	%D%/longset.h \
	%D%/longsum.c \
	%D%/longwrite.c \
	%D%/longwrite.h \
	%D%/rankread.c \
	%D%/rankread.h \
	%D%/read.c \
	%D%/read.h \
	%D%/scan.c \
	%D%/scan.h \
	%D%/shortform.c \
	%D%/shortform.h \
	%D%/splice.c \
	%D%/splice.h \
	%D%/spool.c \
	%D%/spool.h \
	%D%/spoolkeep.c \
	%D%/spoolkeep.h \
	%D%/spoolread.c \
	%D%/step.c \
	%D%/step.h \
	%D%/sum.c \
	%D%/sum.h \
	%D%/sumread.c \
	%D%/sumrows.c \
	%D%/summary.c \
	%D%/summary.h \
	%D%/topology.c \
	%D%/topology.h \
	%D%/topologyread.c
libnt_record_read_la_LIBADD = libnt-record.la libnt-child.la $(ZLIB_LIBS)
