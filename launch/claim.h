/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* claim.h - let only one job of a user at a time calibrate a place
 *
 * Before a job calibrates it claims the place by a file in the user's memory that is named after
 * the place. link(2) creates it and settles who replaces one that has expired, which is atomic on
 * NFS as well. If the calibration failed the claim stays for a while, so that the tasks of an array
 * do not all fail in turn. A claim for unknown hardware blocks all hardware of that shape.
 *
 * Threads:  any; only the file is shared.
 * Memory:   the caller's.
 * Errors:   -1 and *err: the directory cannot be written to. A malformed claim is ignored.
 * Units:    seconds since 1970.
 */
#ifndef NT_LAUNCH_CLAIM_H
#define NT_LAUNCH_CLAIM_H

#include <stdbool.h>
#include <stdint.h>
#include "lib/error.h"
#include "launch/entry.h"

#define NT_CLAIM_RETRY_S 3600 /* after a calibration that failed */

struct nt_claim {
	uint32_t job; /* the job that has it */
	int64_t until_s; /* when it ends */
	bool failed; /* its calibration has failed */
};

/* Claim where for a job. 1: done. 0: *holder has it: another job, or this one, which has calibrated
 * already. */
int nt_claim_take(const char *dir, const struct nt_where *where, const struct nt_claim *claim,
		  int64_t now_s, struct nt_claim *holder, struct nt_error *err);

/* The job's calibration is over. well: remove its claim; otherwise keep it, marked as failed. */
int nt_claim_end(const char *dir, uint32_t job, bool well, int64_t now_s, struct nt_error *err);

#endif
