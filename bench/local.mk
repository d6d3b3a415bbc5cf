# SPDX-FileCopyrightText: 2026 The nccl-tune authors
# SPDX-License-Identifier: Apache-2.0
# nccl-tune-bench, which loads CUDA and NCCL at run time. What needs neither is a library with unit tests.

noinst_LIBRARIES += libnt-bench.a
libnt_bench_a_SOURCES = \
	%D%/figure.c \
	%D%/figure.h \
	%D%/meet.c \
	%D%/meet.h \
	%D%/options.c \
	%D%/options.h \
	%D%/pace.c \
	%D%/pace.h \
	%D%/plan.c \
	%D%/plan.h \
	%D%/search.c \
	%D%/search.h \
	%D%/together.c \
	%D%/together.h

bin_PROGRAMS += nccl-tune-bench
nccl_tune_bench_SOURCES = \
	%D%/cuda-nccl.h \
	%D%/gpu.c \
	%D%/gpu.h \
	%D%/lane.c \
	%D%/lane.h \
	%D%/library.c \
	%D%/library.h \
	%D%/load.c \
	%D%/load.h \
	%D%/main.c \
	%D%/play.c \
	%D%/play.h
nccl_tune_bench_LDADD = libnt-bench.a libnt-measure.a $(profiles_libs)

# What a step's tasks measure launch profiles with.
pkglibexec_PROGRAMS += nt-calibrate
nt_calibrate_SOURCES = \
	%D%/driver.h \
	%D%/driver-link.c \
	%D%/driver-link.h \
	%D%/driver-main.c \
	%D%/driver-result.c \
	%D%/driver-result.h \
	%D%/driver-run.c \
	%D%/driver-run.h \
	%D%/driver-server.c \
	%D%/driver-server.h
nt_calibrate_LDADD = libnt-record.a libnt-measure.a libnt-profiles.a libnt-profiles-plain.a libnt-lib.a libnt-contract.a

# load.ptx is made of load.cu, for every GPU from compute capability 7.0 and every driver from CUDA 10.0 on:
#	nvcc -O3 -arch=compute_75 -ptx -o - bench/load.cu |
#		sed '/^\/\//d; /^$/d; s/^\.version.*/.version 6.3/; s/^\.target.*/.target sm_70/' >bench/load.ptx
# It stays in the tree because builds have no nvcc. tests/lint/sources.bats compares the code of load.cu (from its first #define
# on) with the sum below, of the code that load.ptx was made of: after a change make load.ptx again, then the sum.
#	sha256 cd00b1413a7f847c110a6a4753b6b8adffac5c9fd9fa95c1253f699e1ec2263a
EXTRA_DIST += %D%/load.cu %D%/load.ptx
BUILT_SOURCES += %D%/load-ptx.inc
%D%/load.$(OBJEXT): %D%/load-ptx.inc
CLEANFILES += %D%/load-ptx.inc
%D%/load-ptx.inc: %D%/load.ptx
	$(AM_V_GEN)$(MKDIR_P) $(@D) && sed 's/\\/\\\\/g; s/"/\\"/g; s/.*/"&\\n"/' $(srcdir)/%D%/load.ptx >$@.new && mv $@.new $@
