# SPDX-FileCopyrightText: 2026 The nccl-tune authors
# SPDX-License-Identifier: Apache-2.0
# nccl-tune-bench, built where configure found CUDA and NCCL. What needs neither is a library with unit tests.

noinst_LTLIBRARIES += libnt-bench.la
libnt_bench_la_SOURCES = \
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
	%D%/together.c \
	%D%/together.h
libnt_bench_la_LIBADD = libnt-contract.la

if HAVE_CUDA_NCCL
bin_PROGRAMS += nccl-tune-bench
nccl_tune_bench_SOURCES = \
	%D%/gpu.c \
	%D%/gpu.h \
	%D%/host.h \
	%D%/lane.c \
	%D%/lane.h \
	%D%/load.c \
	%D%/load.h \
	%D%/main.c \
	%D%/play.c \
	%D%/play.h \
	%D%/report.c \
	%D%/report.h
nccl_tune_bench_CPPFLAGS = $(AM_CPPFLAGS) $(CUDA_CPPFLAGS) $(NCCL_CPPFLAGS)
nccl_tune_bench_LDADD = %D%/load-kernel.o libnt-bench.la libnt-contract.la $(NCCL_LIBS) $(CUDA_LIBS) -lpthread

# Host code without C++'s own library: the program is linked as C.
NVCCFLAGS = -O3 -arch=all-major
%D%/load-kernel.o: %D%/load.cu
	$(AM_V_GEN)$(MKDIR_P) $(@D) && $(NVCC) $(NVCCFLAGS) -Xcompiler -fPIC,-fno-exceptions,-fno-rtti,-fno-threadsafe-statics -c $(srcdir)/%D%/load.cu -o $@
CLEANFILES += %D%/load-kernel.o
endif
EXTRA_DIST += %D%/load.cu
