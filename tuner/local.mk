# SPDX-FileCopyrightText: 2026 The nccl-tune authors
# SPDX-License-Identifier: Apache-2.0
# libnccl-tune.so, the tuner and profiler plugin of NCCL. In the NCCL process, as the user; libc and libm, no json-c.

noinst_LIBRARIES += libnt-tuner.a
libnt_tuner_a_SOURCES = \
	%D%/abi.h \
	%D%/call-counts.c \
	%D%/call-counts.h \
	%D%/chain-profiler.c \
	%D%/chain-profiler.h \
	%D%/chain-tuner.c \
	%D%/chain-tuner.h \
	%D%/chain.c \
	%D%/chain.h \
	%D%/comm.c \
	%D%/comm.h \
	%D%/costs.h \
	%D%/decide.c \
	%D%/decide.h \
	%D%/dumps.c \
	%D%/dumps.h \
	%D%/event.c \
	%D%/event.h \
	%D%/facts-net.c \
	%D%/facts-net.h \
	%D%/facts.c \
	%D%/facts.h \
	%D%/apply-plan.c \
	%D%/apply-plan.h \
	%D%/gpu-times.c \
	%D%/gpu-times.h \
	%D%/handle.c \
	%D%/handle.h \
	%D%/explorer.c \
	%D%/explorer.h \
	%D%/local-key.h \
	%D%/kept-calls.c \
	%D%/kept-calls.h \
	%D%/ll128.c \
	%D%/ll128.h \
	%D%/nccl-log.c \
	%D%/nccl-log.h \
	%D%/mask.c \
	%D%/mask.h \
	%D%/open.c \
	%D%/p2p-watch.c \
	%D%/p2p-watch.h \
	%D%/p2p.c \
	%D%/p2p.h \
	%D%/open.h \
	%D%/platform.c \
	%D%/platform.h \
	%D%/nccl-plugin.c \
	%D%/stretch.c \
	%D%/stretch.h \
	%D%/steps.c \
	%D%/steps.h \
	%D%/process.c \
	%D%/proxy-pool.c \
	%D%/proxy-pool.h \
	%D%/process.h \
	%D%/helper-thread.c \
	%D%/helper-thread.h \
	%D%/event-slot.c \
	%D%/event-slot.h \
	%D%/comm-status.c \
	%D%/comm-status.h \
	%D%/key-record.c \
	%D%/key-record.h \
	%D%/key-shares.c \
	%D%/key-shares.h \
	%D%/rank-record.c \
	%D%/rank-record.h \
	%D%/rank-history.c \
	%D%/rank-history.h \
	%D%/rest.c \
	%D%/rest.h

# What NCCL loads: the entry points, and of the library what they call, behind an export map. It stays loaded for good:
# a thread of ours or an exit handler may outlive NCCL's dlclose.
pluginexecdir = $(pkglibdir)
pluginexec_PROGRAMS = libnccl-tune.so
libnccl_tune_so_SOURCES = %D%/nccl-plugin.c
libnccl_tune_so_LDADD = $(tuner_libs)
libnccl_tune_so_LDFLAGS = $(module_ldflags) $(NT_NO_UNDEFINED) -Wl,-z,nodelete \
	-Wl,--version-script=$(srcdir)/%D%/libnccl-tune.map
libnccl_tune_so_DEPENDENCIES = $(tuner_libs) %D%/libnccl-tune.map

# Images may have an older glibc than the build. Symbol versions in assembler and LTO do not go together.
if OLD_GLIBC
noinst_LIBRARIES += libnt-glibc.a
libnt_glibc_a_CFLAGS = $(AM_CFLAGS) -fno-lto
libnt_glibc_a_SOURCES = %D%/glibc.c
libnccl_tune_so_LDADD += libnt-glibc.a
libnccl_tune_so_LDFLAGS += $(OLD_GLIBC_LDFLAGS) \
	-Wl,--wrap=dladdr,--wrap=dlclose,--wrap=dlerror,--wrap=dlopen,--wrap=dlsym \
	-Wl,--wrap=exp,--wrap=exp2,--wrap=fstat,--wrap=lgamma,--wrap=log,--wrap=log2 \
	-Wl,--wrap=pthread_attr_getstacksize,--wrap=pthread_attr_setstacksize \
	-Wl,--wrap=pthread_condattr_setclock,--wrap=pthread_create,--wrap=pthread_join \
	-Wl,--wrap=pthread_mutex_timedlock,--wrap=pthread_setname_np,--wrap=pthread_sigmask
libnccl_tune_so_DEPENDENCIES += libnt-glibc.a
endif
EXTRA_DIST += %D%/libnccl-tune.map
