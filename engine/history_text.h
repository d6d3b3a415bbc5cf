/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* history_text.h - a key's history as members of a rank's record (contract/record.h)
 *
 * Threads:  pure functions; decimal points are those of the thread's locale.
 * Memory:   the caller's.
 * Errors:   0 where the text does not fit or there is nothing to say.
 */
#ifndef NT_HISTORY_TEXT_H
#define NT_HISTORY_TEXT_H

#include "engine/history.h"

#define NT_FINDING_TEXT (240 + NT_HISTORY_ARMS * 140) /* bytes that one takes at most */
/* Of its text: some 60 bytes an arm, 30 a pair, and 8 for each 3 times. */
#define NT_TRIAL_TEXT(positions) \
	(60 * NT_SCHEDULE_ARMS + 30 * NT_PAIRS + 8 * NT_HISTORY_ROUNDS + 6 * (positions) + 64)

/* An element of "explored": what was measured of the arms. Returns its bytes; 0 also where
 * nothing was. */
size_t nt_finding_text(const struct nt_history *history, char *out, size_t out_bytes);

/* A key's "trial", with which its decision can be repeated:
 * {"arms":["TREE/SIMPLE"],"cost":[44.1],"channels":{"ranks":8,"most":16,"chunks":false,"own":{"RING/LL":8}},
 * "rounds":["<base64>"]}. A round is the data of nt_times_write(), in base64 without padding. */
size_t nt_trial_text(const struct nt_history *history, char *out, size_t out_bytes);

/* Bytes of base64 without padding, at most cap; -1: none, or longer. */
int nt_trial_decode(const char *text, uint8_t *out, size_t cap);

#endif
