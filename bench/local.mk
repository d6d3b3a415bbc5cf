# SPDX-FileCopyrightText: 2026 The nccl-tune authors
# SPDX-License-Identifier: Apache-2.0
# nccl-tune-bench and nt-calibrate, in tasks as the user; CUDA and NCCL are loaded at run time, no json-c. What needs
# neither is a library with unit tests.

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
	%D%/search.c \
	%D%/search.h

bin_PROGRAMS += nccl-tune-bench
nccl_tune_bench_SOURCES = \
	%D%/cuda-nccl.h \
	%D%/gpu.c \
	%D%/gpu.h \
	%D%/lane.c \
	%D%/lane.h \
	%D%/library.c \
	%D%/library.h \
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
nt_calibrate_LDADD = libnt-record.a libnt-measure.a libnt-launch.a libnt-launch-plain.a libnt-lib.a libnt-contract.a
