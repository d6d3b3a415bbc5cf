/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* outline.h - describe how a key would be explored, the number of calls, and what an arm must
 * achieve
 *
 * Threads:  the main thread.
 * Memory:   none is kept.
 * Errors:   none; write errors stay on the stream.
 * Units:    microseconds.
 */
#ifndef NT_REPLAY_OUTLINE_H
#define NT_REPLAY_OUTLINE_H

#include <stdio.h>
#include "contract/policy.h"
#include "replay/drive.h"

struct nt_outline_key {
	char name[96]; /* "AllReduce 256K on 2x4, seq" */
	struct nt_drive_key key; /* mask, auto_arm, cost_us, size_bytes */
	double median_us[NT_PAIRS + 1]; /* AUTO last; 0: unknown */
	double fitted_us[NT_PAIRS + 1]; /* from times at other sizes, AUTO last; 0: unknown */
	uint32_t known; /* all arms, also those that would not be tried */
};

/* The part that is the same for every key. */
void nt_outline_policy(FILE *out, const struct nt_policy *policy);

void nt_outline_print(FILE *out, struct nt_drive *drive, const struct nt_outline_key *key);

#endif
