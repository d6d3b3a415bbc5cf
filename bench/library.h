/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* library.h - NCCL, CUDA's runtime and its driver, loaded at run time
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
extern struct nt_driver nt_driver;

struct nt_library {
	char path[NT_LIBRARY_MAX]; /* path of the loaded file */
	int version; /* of NCCL: 22809 */
};

/* Load NCCL from the first candidate that works. One that cannot be loaded is reported on stderr;
 * it is an error if the user named it. found says which one it is. */
int nt_library_open(const struct nt_search *search, struct nt_found *found, struct nt_library *nccl,
		    struct nt_error *err);

/* libcudart that fits the driver: first beside NCCL (in Python's packages), then by its names. */
int nt_library_open_cuda(const char *nccl_path, struct nt_error *err);

/* libcuda, for --load. */
int nt_library_open_driver(struct nt_error *err);

/* Do these libraries have what the options need? */
int nt_library_check(const struct nt_bench_options *o, struct nt_error *err);

#endif
