/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* writehistory.h - what decisions were made from, as parts of this process's record (record/rank.h)
 *
 * Threads:  the helper thread.
 * Memory:   nothing is allocated.
 * Errors:   put->full (record/put.h).
 */
#ifndef NT_WRITEHISTORY_H
#define NT_WRITEHISTORY_H

#include "record/put.h"

struct nt_finding;
struct nt_trial;

/* An element of the record's "explored". */
void nt_write_finding(struct nt_put *put, const struct nt_finding *finding);

/* The member "trial" of a key. */
void nt_write_trial(struct nt_put *put, const struct nt_trial *trial);

#endif
