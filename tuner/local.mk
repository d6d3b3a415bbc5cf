# SPDX-FileCopyrightText: 2026 The nccl-tune authors
# SPDX-License-Identifier: Apache-2.0
# libnccl-tune.so, the tuner and profiler plugin of NCCL. Needs libc and libm only.

noinst_LTLIBRARIES += libnt-tuner.la
libnt_tuner_la_SOURCES = \
	%D%/abi.h \
	%D%/abi_old.h \
	%D%/abi_v7.h \
	%D%/channel-limits.c \
	%D%/channel-limits.h \
	%D%/calls.c \
	%D%/calls.h \
	%D%/chain-descr.c \
	%D%/chain-descr.h \
	%D%/chain-profiler.c \
	%D%/chain-profiler.h \
	%D%/chain-tuner.c \
	%D%/chain-tuner.h \
	%D%/chain.c \
	%D%/chain.h \
	%D%/comm.c \
	%D%/comm.h \
	%D%/commit.c \
	%D%/commit.h \
	%D%/costs.h \
	%D%/ctx.h \
	%D%/deadline.c \
	%D%/deadline.h \
	%D%/decide.c \
	%D%/decide.h \
	%D%/dumps.c \
	%D%/dumps.h \
	%D%/event.c \
	%D%/event.h \
	%D%/apply-plan.c \
	%D%/apply-plan.h \
	%D%/group.c \
	%D%/group.h \
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
	%D%/process.c \
	%D%/process.h \
	%D%/helper-thread.c \
	%D%/helper-thread.h \
	%D%/event-slot.c \
	%D%/event-slot.h \
	%D%/stall.h \
	%D%/comm-status.c \
	%D%/comm-status.h \
	%D%/tls.c \
	%D%/tls.h \
	%D%/variables.c \
	%D%/variables.h \
	%D%/process-warm.c \
	%D%/process-warm.h \
	%D%/key-record.c \
	%D%/key-record.h \
	%D%/key-shares.c \
	%D%/key-shares.h \
	%D%/rank-record.c \
	%D%/rank-record.h \
	%D%/rank-section.c \
	%D%/rank-section.h \
	%D%/rank-history.c \
	%D%/rank-history.h
libnt_tuner_la_LIBADD = libnt-engine.la libnt-sync.la libnt-record.la

# The shipped module is the convenience library behind an export map. It stays loaded for good:
# a thread of ours or an exit handler may outlive NCCL's dlclose.
pkglib_LTLIBRARIES += libnccl-tune.la
libnccl_tune_la_SOURCES =
libnccl_tune_la_LIBADD = libnt-tuner.la
libnccl_tune_la_LDFLAGS = $(module_ldflags) $(NT_NO_UNDEFINED) -Wl,-z,nodelete \
	-Wl,--version-script=$(srcdir)/%D%/libnccl-tune.map
libnccl_tune_la_DEPENDENCIES = libnt-tuner.la %D%/libnccl-tune.map

# Images may have an older glibc than the build. Symbol versions in assembler and LTO do not go together.
if OLD_GLIBC
noinst_LTLIBRARIES += libnt-glibc.la
libnt_glibc_la_CFLAGS = $(AM_CFLAGS) -fno-lto
libnt_glibc_la_SOURCES = %D%/glibc.c
libnccl_tune_la_LIBADD += libnt-glibc.la
libnccl_tune_la_LDFLAGS += $(OLD_GLIBC_LDFLAGS) \
	-Wl,--wrap=dladdr,--wrap=dlclose,--wrap=dlerror,--wrap=dlopen,--wrap=dlsym \
	-Wl,--wrap=exp,--wrap=exp2,--wrap=fstat,--wrap=lgamma,--wrap=log,--wrap=log2 \
	-Wl,--wrap=pthread_condattr_setclock,--wrap=pthread_create,--wrap=pthread_join \
	-Wl,--wrap=pthread_mutex_timedlock,--wrap=pthread_setname_np,--wrap=pthread_sigmask
libnccl_tune_la_DEPENDENCIES += libnt-glibc.la
endif
EXTRA_DIST += %D%/libnccl-tune.map
