/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* library.h - NCCL and CUDA's runtime, loaded at run time
 *
 * Threads:  opened once, before any other thread starts; the tables are constant afterwards.
 * Memory:   libraries stay loaded until the process ends.
 * Errors:   -1 and *err: the library, what is missing, and which option names another.
 */
#ifndef NT_BENCH_LIBRARY_H
#define NT_BENCH_LIBRARY_H

#include "bench/cuda-nccl.h"
#include "bench/options.h"
#include "bench/search.h"
#include "lib/error.h"

extern struct nt_nccl nt_nccl;
extern struct nt_cuda nt_cuda;

struct nt_library {
	char path[NT_LIBRARY_MAX]; /* of the loaded file */
	int version; /* of NCCL: 22809 */
};

/* Load NCCL from the first candidate that works, and set *found to it. Candidates that cannot be
 * loaded are reported on stderr; if the user named it, that is an error. */
int nt_library_open(const struct nt_search *search, struct nt_found *found, struct nt_library *nccl,
		    struct nt_error *err);

/* Load a libcudart that the driver supports: one beside NCCL (Python's packages), else by name. */
int nt_library_open_cuda(const char *nccl_path, struct nt_error *err);

/* Can these libraries do what the options ask for? */
int nt_library_check(const struct nt_bench_options *o, struct nt_error *err);

#endif
