# SPDX-FileCopyrightText: 2026 The nccl-tune authors
# SPDX-License-Identifier: Apache-2.0
# What explores, measures statistically and comes to verdicts. In the NCCL process, as the user; libc and libm, no json-c.

noinst_LIBRARIES += libnt-engine.a
libnt_engine_a_SOURCES = \
	%D%/budget.c \
	%D%/budget.h \
	%D%/evaluation.c \
	%D%/evaluation.h \
	%D%/compare-arms.c \
	%D%/compare-arms.h \
	%D%/confirm.c \
	%D%/confirm.h \
	%D%/engine.c \
	%D%/engine.h \
	%D%/evidence.c \
	%D%/evidence.h \
	%D%/quantiles.c \
	%D%/quantiles.h \
	%D%/history.c \
	%D%/history.h \
	%D%/judge.c \
	%D%/judge.h \
	%D%/key-info.c \
	%D%/key-info.h \
	%D%/cost-account.c \
	%D%/cost-account.h \
	%D%/marker.c \
	%D%/marker.h \
	%D%/matched.c \
	%D%/matched.h \
	%D%/period.c \
	%D%/period.h \
	%D%/slowdown.c \
	%D%/slowdown.h \
	%D%/time-budget.c \
	%D%/time-budget.h \
	%D%/scheduler.c \
	%D%/scheduler.h \
	%D%/refine.c \
	%D%/refine.h \
	%D%/schedule.c \
	%D%/schedule.h \
	%D%/screen.c \
	%D%/screen.h \
	%D%/times.c \
	%D%/times.h \
	%D%/warmstart.c \
	%D%/warmstart.h
