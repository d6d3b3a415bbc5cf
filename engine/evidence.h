/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* evidence.h - what was measured of a key's arms in rounds of one kind, block by block
 *
 * Sample b of every arm is from one block. Arm 0 is AUTO. The blocks of a round that is repeated
 * follow those of the one before.
 *
 * Threads:  values.
 * Memory:   37 KiB each.
 * Errors:   none; blocks beyond NT_EVIDENCE_BLOCKS are not taken.
 * Units:    microseconds; 0 stands for a missing time.
 */
#ifndef NT_EVIDENCE_H
#define NT_EVIDENCE_H

#include <stdint.h>
#include "engine/schedule.h"

/* NT_CONFIRM_LOOKS rounds of the largest confirm_blocks, 128 */
#define NT_EVIDENCE_BLOCKS 384

struct nt_evidence {
	unsigned count, blocks;
	uint16_t arm[NT_SCHEDULE_ARMS];
	float us[NT_SCHEDULE_ARMS][NT_EVIDENCE_BLOCKS];
	float period_us[NT_SCHEDULE_ARMS][NT_EVIDENCE_BLOCKS];
	float own_us[NT_SCHEDULE_ARMS]; /* of the newest round that has them (engine/times.h) */
};

/* The times of a round, packed as engine/times.h has them, by block and place in the schedule's
 * arm[]; the first warm_up blocks are left out. The first round that is added says which arms the
 * evidence is of. */
void nt_evidence_add(struct nt_evidence *evidence, const struct nt_schedule *schedule,
		     unsigned warm_up, const uint16_t *packed);

/* The times of an arm; NULL: it was not measured. */
const float *nt_evidence_of(const struct nt_evidence *evidence, unsigned arm);

/* Lower quartile and median of the arm with this index. */
double nt_evidence_p25_us(const struct nt_evidence *evidence, unsigned index);
double nt_evidence_median_us(const struct nt_evidence *evidence, unsigned index);

/* How many samples there are of the arm with this index. */
unsigned nt_evidence_samples(const struct nt_evidence *evidence, unsigned index);

#endif
