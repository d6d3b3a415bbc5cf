/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* load.h - find and load a tuner and a profiler plugin as a given release of NCCL does
 *
 * Whatever version the plugin offers, callers see the newest interface; older ones are wrapped
 * as NCCL wraps them.
 *
 * Threads:  any; one lock, as in NCCL.
 * Memory:   the libraries are closed when NCCL would close them.
 * Errors:   without a loadable plugin NCCL uses its defaults until the process ends.
 * Host:     src/plugin/tuner.cc, profiler.cc, plugin_open.cc @v2.28.9-1 and their older forms; from
 *           2.31 on as tuner/abi.h says.
 */
#ifndef NT_FAKE_LOAD_H
#define NT_FAKE_LOAD_H

#include <stdbool.h>
#include "tuner/abi.h"

struct nt_release {
	const char *name;
	int code; /* 22809 */
	int tuner; /* newest interface it knows; 2 is the oldest */
	int profiler; /* newest interface it knows; 1 is the oldest, 0: none */
	int algos; /* rows of the cost table */
};

/* From this release on NCCL chooses in src/tuning/, and reports symmetric kernels. */
#define NT_RELEASE_TUNING 23100

const struct nt_release *nt_release_find(const char *name); /* NULL: not known */

/* Call it once, before anything else. Loads the network plugin that NCCL_NET_PLUGIN names, or
 * libnccl-net.so, and initialises it; -1: that failed, and NCCL_NET wants no other. */
int nt_load_setup(const struct nt_release *release);
const struct nt_release *nt_load_release(void);

/* NCCL's own, which a plugin looks up in the process. */
int ncclGetVersion(int *version) __attribute__((visibility("default")));

/* For one more communicator. NULL: no plugin. *owner: this communicator loaded it. */
const struct nt_tuner_v7 *nt_load_tuner(bool *owner);
void nt_load_tuner_drop(bool owner);
int nt_load_tuner_version(void); /* of the interface in use; 0: none */

const struct nt_prof_v7 *nt_load_profiler(void);
/* As NCCL's global pointer: NULL after closing, which may happen at any time. */
const struct nt_prof_v7 *nt_load_profiler_now(void);
/* For a call: it stays open until nt_load_profiler_done(). NULL: it is closed. */
const struct nt_prof_v7 *nt_load_profiler_use(void);
void nt_load_profiler_done(void);
void nt_load_profiler_drop(void);
int nt_load_profiler_version(void);

/* The one event mask of the process. */
int *nt_load_mask(void);
int nt_load_mask_now(void);
/* As NCCL's RAS service sets it, and again after each communicator's init
 * (ncclProfilerSetRasOverride, src/plugin/profiler.cc@88980683). */
void nt_load_ras(int mask);
void nt_load_ras_again(void);

/* NCCL's debug log: to stderr where NCCL_DEBUG asks for the level. */
void nt_load_log(int level, unsigned long subsystems, const char *file, int line,
		 const char *format, ...) __attribute__((format(printf, 5, 6)));

/* Wrappers for the versions, by symbol; NULL if the library does not have it. */
const struct nt_tuner_v7 *nt_shim_tuner(void *library, int version);
const struct nt_prof_v7 *nt_shim_profiler(void *library, int version);

#endif
