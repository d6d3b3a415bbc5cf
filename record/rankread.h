/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* rankread.h - read the record of one NCCL process (rank.h)
 *
 * Threads:  no state of its own; any thread.
 * Memory:   nt_rank_fini frees all, also after a failure.
 * Errors:   -1 and *err says what is wrong and where; what was read before may be shown as partial.
 */
#ifndef NT_RANKREAD_H
#define NT_RANKREAD_H

#include "record/rank.h"
#include "record/read.h"

/* For people (NT_READ_TO_SHOW). */
int nt_rank_parse(struct nt_rank *rank, const char *text, size_t text_bytes, struct nt_error *err);
/* root, from nt_json_parse, becomes the record's. */
int nt_rank_read_take(struct nt_rank *rank, json_object *root, enum nt_reading how,
		      struct nt_error *err);
void nt_rank_fini(struct nt_rank *rank);

void nt_comm_seen_fini(struct nt_comm_seen *comm);

#endif
