/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* rank-section.h - sections of a process's record (record/rank.h) besides its communicators
 *
 * Threads:  the helper thread, with the process's lock held.
 * Memory:   nothing is allocated.
 * Errors:   none: a section that does not fit, or has no contents, is omitted.
 */
#ifndef NT_RANK_SECTION_H
#define NT_RANK_SECTION_H

#include "engine/history.h"
#include "engine/marker.h"
#include "lib/json-writer.h"
#include "pmix-sync/node-leader.h"
#include "tuner/kept-calls.h"
#include "tuner/process.h"

/* The chained plugins. */
void nt_rank_section_plugins(struct nt_json_writer *put);
/* Remembered arms: offered, used or refused. */
void nt_rank_section_warm(struct nt_json_writer *put, const struct nt_process *process);
/* The step marker; marker may be NULL. */
void nt_rank_section_marker(struct nt_json_writer *put, const struct nt_marker *marker);
/* Cost of the agreement with other nodes. */
void nt_rank_section_agreement(struct nt_json_writer *put, const struct nt_node_leader_counts *c);
/* Own times of a communicator's kept calls. */
void nt_rank_section_sampled(struct nt_json_writer *put, const struct nt_kept_calls *kept);
/* Measurements of all arms. Uses at most half of the remaining record: keys follow. */
void nt_rank_section_explored(struct nt_json_writer *put, const struct nt_histories *histories);

#endif
