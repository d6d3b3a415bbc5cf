/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* remembered.h - the NCCL that this user's jobs have loaded, from the user's memory
 *
 * Threads:  one.
 * Memory:   the caller's.
 * Errors:   none; an unreadable memory counts as empty.
 */
#ifndef NT_BENCH_REMEMBERED_H
#define NT_BENCH_REMEMBERED_H

#include <stdbool.h>
#include <stdint.h>
#include "contract/names.h"

/* From the newest entry of a job that names one. Calibrations do not count: they used what this
 * function returned before. */
bool nt_remembered_library(const char *directory, int64_t now_s, char out[NT_LIBRARY_MAX],
			   uint32_t *job);

#endif
