# SPDX-FileCopyrightText: 2026 The nccl-tune authors
# SPDX-License-Identifier: Apache-2.0
# What measures us: ./dev bench hot, cost, agree, launch, crowd and summary.

# What one decision costs.
noinst_PROGRAMS += lab/measure/nt-hot
lab_measure_nt_hot_SOURCES = %D%/hot.c %D%/measure.h %D%/version.c
lab_measure_nt_hot_LDFLAGS = -rdynamic
lab_measure_nt_hot_LDADD = $(tuner_libs)

# What the plugin costs a process beside its decisions.
noinst_PROGRAMS += lab/measure/nt-cost
lab_measure_nt_cost_SOURCES = %D%/cost.c %D%/measure.h %D%/version.c
lab_measure_nt_cost_LDFLAGS = -rdynamic
lab_measure_nt_cost_LDADD = $(tuner_libs)

EXTRA_DIST += \
	%D%/agree-task.sh \
	%D%/agree.bash \
	%D%/agree.sh \
	%D%/commands.bats \
	%D%/cost.sh \
	%D%/crowd.sh \
	%D%/hot.sh \
	%D%/launch-task.sh \
	%D%/launch.sh \
	%D%/summary.sh \
	%D%/usage.bash
