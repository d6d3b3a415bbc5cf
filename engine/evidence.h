/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* evidence.h - measurements of a key's arms in rounds of one kind, by block
 *
 * Sample b of every arm is from the same block. Arm 0 is the baseline. Repeated rounds append
 * blocks.
 *
 * Threads:  values.
 * Memory:   91 KiB each.
 * Errors:   none; blocks beyond NT_EVIDENCE_BLOCKS are dropped.
 * Units:    microseconds; 0 is a missing time.
 */
#ifndef NT_EVIDENCE_H
#define NT_EVIDENCE_H

#include <stdint.h>
#include "engine/schedule.h"

/* NT_CONFIRM_LOOKS rounds of the most confirm_blocks, 128 */
#define NT_EVIDENCE_BLOCKS 384

struct nt_evidence {
	unsigned count, blocks;
	uint16_t arm[NT_SCHEDULE_ARMS];
	float us[NT_SCHEDULE_ARMS][NT_EVIDENCE_BLOCKS]; /* by the measure in use */
	enum nt_measure measure;
	float measured_us[NT_MEASURES][NT_SCHEDULE_ARMS][NT_EVIDENCE_BLOCKS];
	float period_us[NT_SCHEDULE_ARMS][NT_EVIDENCE_BLOCKS];
	float duration_us[NT_SCHEDULE_ARMS]; /* of the newest round that has them */
};

/* Add a round's times, packed by block and arm (engine/times.h), without the first warm_up blocks.
 * The first round determines the arms. */
void nt_evidence_add(struct nt_evidence *evidence, const struct nt_schedule *schedule,
		     unsigned warm_up, const uint16_t *packed);

/* Use this measure's times; the slowest rank's at first. */
void nt_evidence_use(struct nt_evidence *evidence, enum nt_measure measure);

/* Times of an arm; NULL: not measured. */
const float *nt_evidence_of(const struct nt_evidence *evidence, unsigned arm);

/* Of the arm with this index. */
double nt_evidence_p25_us(const struct nt_evidence *evidence, unsigned index);
double nt_evidence_median_us(const struct nt_evidence *evidence, unsigned index);

/* Of the arm with this index. */
unsigned nt_evidence_samples(const struct nt_evidence *evidence, unsigned index);

#endif
