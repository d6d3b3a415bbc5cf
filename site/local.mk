# SPDX-FileCopyrightText: 2026 The nccl-tune authors
# SPDX-License-Identifier: Apache-2.0
# The administrator's file, and which of many values counts. In srun, slurmstepd, nt-recordd and the command, also as root;
# no json-c.

noinst_LIBRARIES += libnt-site.a
libnt_site_a_SOURCES = \
	%D%/conf.c \
	%D%/conf.h \
	%D%/path.c \
	%D%/path.h \
	%D%/plugstack.c \
	%D%/plugstack.h \
	%D%/rules.c \
	%D%/rules.h \
	%D%/settings-table.c \
	%D%/settings-table.h \
	%D%/sinks.c \
	%D%/sinks.h
