/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* trial.h - read the member "trial" of a key in a rank record (record/rank.h)
 *
 * Threads:  no state of its own; any thread.
 * Memory:   round[].data points into data.
 * Errors:   -1 and *err.
 */
#ifndef NT_REPLAY_TRIAL_H
#define NT_REPLAY_TRIAL_H

#include <json.h>
#include "lib/error.h"
#include "record/rank.h"

int nt_trial_read(struct nt_rank_trial *trial,
		  uint8_t data[NT_RANK_TRIAL_ROUNDS][NT_RANK_TRIAL_BYTES], json_object *object,
		  struct nt_error *err);

/* A round as the record has it, in base64: the number of bytes, at most cap; -1: not base64, or
 * longer. */
int nt_base64_decode(const char *text, uint8_t *out, size_t cap);

#endif
