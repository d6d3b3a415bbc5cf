/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* meeting.h - a directory where the ranks of a benchmark exchange files
 *
 * Threads:  any; one at a time for one directory.
 * Memory:   the caller's path.
 * Errors:   -1 and *err set; files that cannot be removed remain.
 */
#ifndef NT_MEETING_H
#define NT_MEETING_H

#include <stdint.h>
#include "contract/names.h"
#include "lib/error.h"

/* Create a new one in the directory, which is created if it is missing. Removes leftovers of killed
 * calibrations. */
int nt_meeting_make(const char *directory, uint32_t job, char path[NT_PATH_MAX],
		    struct nt_error *err);

/* Removes it and its files. "": there is none. */
void nt_meeting_remove(const char *path);

#endif
