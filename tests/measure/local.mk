# SPDX-FileCopyrightText: 2026 The nccl-tune authors
# SPDX-License-Identifier: Apache-2.0
# What measures us: ./dev bench hot, cost, agree, launch, crowd, touch and summary.

# What one decision costs.
noinst_PROGRAMS += tests/measure/nt-hot
tests_measure_nt_hot_SOURCES = %D%/hot.c %D%/measure.h
tests_measure_nt_hot_LDADD = libnt-tuner.la

# What the plugin costs a process beside its decisions.
noinst_PROGRAMS += tests/measure/nt-cost
tests_measure_nt_cost_SOURCES = %D%/cost.c %D%/cost.h %D%/cost-print.c %D%/cost-proc.c
tests_measure_nt_cost_LDADD = libnt-tuner.la

EXTRA_DIST += \
	%D%/agree-task.sh \
	%D%/agree.bash \
	%D%/accounting.sh \
	%D%/agree.sh \
	%D%/cost.sh \
	%D%/crowd.sh \
	%D%/hot.sh \
	%D%/launch-task.sh \
	%D%/launch.sh \
	%D%/made-up-jobs.sh \
	%D%/summary.sh \
	%D%/touch-task.sh \
	%D%/touch.sh \
	%D%/warm.sh
