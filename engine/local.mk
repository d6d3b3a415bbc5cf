# SPDX-FileCopyrightText: 2026 The nccl-tune authors
# SPDX-License-Identifier: Apache-2.0
# What explores, measures statistically and comes to verdicts. Needs libc, libm and libnt-contract.la only.

noinst_LTLIBRARIES += libnt-engine.la
libnt_engine_la_SOURCES = \
	%D%/budget.c \
	%D%/budget.h \
	%D%/case.c \
	%D%/case.h \
	%D%/compare.c \
	%D%/compare.h \
	%D%/confirm.c \
	%D%/confirm.h \
	%D%/engine.c \
	%D%/engine.h \
	%D%/evidence.c \
	%D%/evidence.h \
	%D%/figures.c \
	%D%/figures.h \
	%D%/fit.c \
	%D%/fit.h \
	%D%/history.c \
	%D%/history.h \
	%D%/judge.c \
	%D%/judge.h \
	%D%/known.c \
	%D%/known.h \
	%D%/ledger.c \
	%D%/ledger.h \
	%D%/marker.c \
	%D%/marker.h \
	%D%/martingale.c \
	%D%/martingale.h \
	%D%/matched.c \
	%D%/matched.h \
	%D%/paper.c \
	%D%/paper.h \
	%D%/patience.c \
	%D%/patience.h \
	%D%/queue.c \
	%D%/queue.h \
	%D%/recheck.c \
	%D%/recheck.h \
	%D%/refine.c \
	%D%/refine.h \
	%D%/rule.c \
	%D%/rule.h \
	%D%/savings.c \
	%D%/savings.h \
	%D%/schedule.c \
	%D%/schedule.h \
	%D%/screen.c \
	%D%/screen.h \
	%D%/times.c \
	%D%/times.h \
	%D%/warmstart.c \
	%D%/warmstart.h \
	%D%/worth.c \
	%D%/worth.h
libnt_engine_la_LIBADD = -lm
