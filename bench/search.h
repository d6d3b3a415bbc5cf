/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* search.h - which libnccl.so.2 the benchmark loads
 *
 * A calibration must use the NCCL that the user's programs load. In this order: --nccl; the library
 * in the newest record of the user's jobs; LD_PRELOAD; LD_LIBRARY_PATH; the package nvidia.nccl of
 * the python3 in PATH, as PyTorch loads it; the system's.
 *
 * Threads:  one.
 * Memory:   texts are the caller's and must stay valid.
 * Errors:   -1 and *err, only for --nccl; other missing candidates are skipped.
 */
#ifndef NT_BENCH_SEARCH_H
#define NT_BENCH_SEARCH_H

#include <stdbool.h>
#include <stdint.h>
#include "lib/error.h"
#include "contract/names.h"

#define NT_SEARCH_SONAME "libnccl.so.2"

struct nt_search {
	const char *named; /* --nccl; NULL: not given */
	const char *remembered; /* from a job's record; NULL or "": none */
	uint32_t job; /* the job of that record */
	const char *preload, *library_path; /* the loader's variables; NULL: not set */
	/* Finds the directory of Python's package; false: there is none. NULL: do not ask
	 * Python. */
	bool (*ask_python)(char out[NT_LIBRARY_MAX]);
};

enum nt_search_from {
	NT_SEARCH_NAMED,
	NT_SEARCH_RECORD,
	NT_SEARCH_PRELOAD,
	NT_SEARCH_PATH,
	NT_SEARCH_PYTHON,
	NT_SEARCH_SYSTEM,
	NT_SEARCH_END
};

struct nt_found {
	enum nt_search_from from;
	char path[NT_LIBRARY_MAX]; /* of the system's, only its name */
	char why[64]; /* "named by job 12's record" */
};

/* The next existing candidate, from `from` on; NT_SEARCH_END: none. */
int nt_search_next(const struct nt_search *search, enum nt_search_from from, struct nt_found *found,
		   struct nt_error *err);

/* Takes some seconds at most. */
bool nt_search_ask_python(char out[NT_LIBRARY_MAX]);

/* The library in the newest entry of a job in the user's memory; false: none. Calibrations do not
 * count: they used what this function returned. */
bool nt_search_remembered(const char *directory, int64_t now_s, char out[NT_LIBRARY_MAX],
			  uint32_t *job);

#endif
