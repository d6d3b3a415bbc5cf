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

/* Add a round's times, packed by block and arm (engine/times.h), without the warm-up.
 * The first round determines the arms. */
void nt_evidence_add(struct nt_evidence *evidence, const struct nt_schedule *schedule,
		     const uint16_t *packed);

/* Use this measure's times; the slowest rank's at first. */
void nt_evidence_use(struct nt_evidence *evidence, enum nt_measure measure);

/* The measure by which the baseline varies least: the mean unless another varies clearly less. The
 * slowest rank's if too few times are known.
 *
 * If ranks arrive apart, the slowest rank's time from start to start includes the wait for the last
 * rank, and the fastest rank's does not. If each computes for long before the next call, the mean
 * varies least. No other arm is looked at, so tests on later rounds are equally good by each. The
 * slowest rank's time keeps a veto (engine/confirm.h), as the time from call to call does. */
enum nt_measure nt_evidence_steadiest(const struct nt_evidence *evidence);

/* Times of an arm; NULL: not measured. */
const float *nt_evidence_of(const struct nt_evidence *evidence, unsigned arm);

/* Of the arm with this index. */
double nt_evidence_p25_us(const struct nt_evidence *evidence, unsigned index);
double nt_evidence_median_us(const struct nt_evidence *evidence, unsigned index);

/* Of the arm with this index. */
unsigned nt_evidence_samples(const struct nt_evidence *evidence, unsigned index);

#endif
