# SPDX-FileCopyrightText: 2026 The nccl-tune authors
# SPDX-License-Identifier: Apache-2.0
# What has nothing to do with tuning. The first half in all processes: no json-c; the others where each list says.

# For the NCCL process, too: libc only.
libnt_contract_a_SOURCES += \
	%D%/append.c \
	%D%/append.h \
	%D%/array.c \
	%D%/array.h \
	%D%/clock.h \
	%D%/compare.h \
	%D%/error.c \
	%D%/error.h \
	%D%/hash.h \
	%D%/hex.h \
	%D%/json-writer.c \
	%D%/json-writer.h \
	%D%/list.h \
	%D%/number.c \
	%D%/number.h \
	%D%/plural.h \
	%D%/printable.c \
	%D%/printable.h \
	%D%/quantile.c \
	%D%/quantile.h \
	%D%/reserve.h \
	%D%/size.c \
	%D%/size.h \
	%D%/write-all.c \
	%D%/write-all.h

# For srun and slurmstepd, too: libc only, but for inih.
noinst_LIBRARIES += libnt-lib.a libnt-text.a
libnt_lib_a_SOURCES = \
	%D%/child.c \
	%D%/child.h \
	%D%/dirstream.h \
	%D%/file.c \
	%D%/file.h \
	%D%/ini.c \
	%D%/ini.h \
	%D%/members.c \
	%D%/members.h \
	%D%/trim.h \
	%D%/argv.c \
	%D%/argv.h

# For the commands and nt-recordd.
libnt_text_a_SOURCES = \
	%D%/json.c \
	%D%/json.h \
	%D%/json-scanner.c \
	%D%/json-scanner.h \
	%D%/name-set.c \
	%D%/name-set.h \
	%D%/sacct.c \
	%D%/sacct.h \
	%D%/table.c \
	%D%/table.h \
	%D%/when.c \
	%D%/when.h \
	%D%/wrap.c \
	%D%/wrap.h
