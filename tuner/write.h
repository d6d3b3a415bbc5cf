/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* write.h - this process's record (record/rank.h), composed and written
 *
 * Threads:  the helper thread. The process's lock is held while the text is composed, never across
 *           a file operation.
 * Memory:   one buffer, freed before return.
 * Errors:   -1: no record, or the one before; the temporary file is gone. Never more than
 *           NT_RANK_RECORD_MAX bytes: what does not fit is left out whole, and "cut" counts it.
 */
#ifndef NT_WRITE_H
#define NT_WRITE_H

#include <stdbool.h>
#include <stddef.h>
#include "pmix-sync/speaker.h"
#include "tuner/process.h"

/* Write or replace the record in the step's runtime directory. speaker: NULL where another process
 * speaks. end: the last one of this process. */
int nt_write_record(struct nt_process *process, const struct nt_speaker *speaker, bool end);

/* The record's text into out. Returns its length, 0 where there was no room for even an empty one.
 * The caller holds the process's lock. agreement: NULL where another process speaks. */
size_t nt_write_text(struct nt_process *process, const struct nt_speaker_counts *agreement,
		     bool end, char *out, size_t out_bytes);

#endif
