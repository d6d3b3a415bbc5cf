/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* record-dir.h - where the long form of a user's records is (record/long.h)
 *
 * $NCCL_TUNE_RECORD_DIR; else the user's own directory, named by the number of the user, in the
 * site's record_dir; else "records" beside the user's memory (launch/memory-dir.h).
 *
 * Threads:  pure functions, any thread.
 * Memory:   the caller's.
 * Errors:   -1 and *err, printable: why there is none.
 */
#ifndef NT_LAUNCH_RECORDS_H
#define NT_LAUNCH_RECORDS_H

#include <stdbool.h>
#include <stdint.h>
#include "lib/error.h"
#include "contract/names.h"

#define NT_ENV_RECORD_DIR "NCCL_TUNE_RECORD_DIR"
#define NT_RECORDS_NONE "none" /* the variable's value for no long form */
#define NT_RECORDS_PATH_MAX 160 /* with its NUL; jobs have directories below it */

struct nt_records {
	char path[NT_RECORDS_PATH_MAX];
	bool parents; /* set by the user: its parents may be created, too */
};

/* NULL or "": not set. site: record_dir. */
struct nt_records_asked {
	const char *own; /* NT_ENV_RECORD_DIR */
	const char *site;
	uint32_t uid;
	const char *memory; /* the directory of the user's memory */
};

int nt_records_choose(struct nt_records *out, const struct nt_records_asked *asked,
		      struct nt_error *err);

#endif
