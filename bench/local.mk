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

if HAVE_CMOCKA
check_PROGRAMS += tests/unit/bench
TESTS += tests/unit/bench
tests_unit_bench_SOURCES = tests/unit/bench.c
tests_unit_bench_LDADD = libnt-bench.la libnt-contract.la $(CMOCKA_LIBS)
endif

# A probe for the GPU tests: what NCCL tells a plugin, written down. Built like a shipped module, not installed.
noinst_LTLIBRARIES += tests/gpu/nt-probe.la
tests_gpu_nt_probe_la_SOURCES = tests/gpu/probe.c tests/gpu/probe.h tests/gpu/probe_rows.c
tests_gpu_nt_probe_la_LIBADD = libnt-contract.la
tests_gpu_nt_probe_la_LDFLAGS = $(module_ldflags) $(NT_NO_UNDEFINED) -Wl,-z,nodelete -rpath /nonexistent

# A tuner that holds NCCL to one arm for each collective and size.
noinst_LTLIBRARIES += tests/gpu/nt-fixed.la
tests_gpu_nt_fixed_la_SOURCES = tests/gpu/fixed.c %D%/plan.c %D%/plan.h
tests_gpu_nt_fixed_la_LIBADD = libnt-contract.la
tests_gpu_nt_fixed_la_LDFLAGS = $(tests_gpu_nt_probe_la_LDFLAGS)

# What one decision costs; bench/hot.sh runs it.
noinst_PROGRAMS += bench/nt-hot
bench_nt_hot_SOURCES = %D%/hot.c %D%/measure.h
bench_nt_hot_LDADD = libnt-tuner.la
EXTRA_DIST += %D%/hot.sh tests/gpu

# What the plugin costs a process; bench/cost.sh runs it.
noinst_PROGRAMS += bench/nt-cost
bench_nt_cost_SOURCES = %D%/cost.c %D%/cost.h %D%/cost-print.c %D%/cost-proc.c
bench_nt_cost_LDADD = libnt-tuner.la
EXTRA_DIST += %D%/cost.sh %D%/agree.sh %D%/agree.bash %D%/agree-task.sh
