/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* rank-section.h - sections of a process's record (record/rank.h) besides its communicators
 *
 * Threads:  the helper thread, with the process's lock held.
 * Memory:   nothing is allocated.
 * Errors:   none: a section that does not fit, or is empty, is left out.
 */
#ifndef NT_RANK_SECTION_H
#define NT_RANK_SECTION_H

#include "engine/history.h"
#include "engine/marker.h"
#include "lib/json-writer.h"
#include "pmix-sync/node-leader.h"
#include "tuner/kept-calls.h"
#include "tuner/process.h"

void nt_rank_section_plugins(struct nt_json_writer *put);
/* Remembered arms: offered, used or refused */
void nt_rank_section_warm(struct nt_json_writer *put, const struct nt_process *process);
/* The step marker, or NULL */
void nt_rank_section_marker(struct nt_json_writer *put, const struct nt_marker *marker);
/* What agreeing with other nodes has cost */
void nt_rank_section_agreement(struct nt_json_writer *put, const struct nt_node_leader_counts *c);
/* Own times of a communicator's kept calls */
void nt_rank_section_sampled(struct nt_json_writer *put, const struct nt_kept_calls *kept);
/* All arms' measurements, in at most half of what is left of the record: keys follow. */
void nt_rank_section_explored(struct nt_json_writer *put, const struct nt_histories *histories);

#endif
