/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* case.c - see case.h */
#include "engine/case.h"

#include "contract/key.h"

#define ENOUGH_PERCENT 60 /* of a round's samples */

double nt_case_min_gain(const struct nt_case *seen)
{
	return (double)seen->policy->min_gain_micro / 1e8; /* percent, in millionths */
}

size_t nt_case_bytes(const struct nt_case *seen)
{
	return nt_band_floor(nt_key_band(seen->known.key));
}

unsigned nt_case_warm_up(const struct nt_case *seen)
{
	return seen->schedule.kind == NT_SCHEDULE_SCREEN ? seen->first_warm_up
							 : NT_SCHEDULE_WARM_UP;
}

bool nt_case_enough(const struct nt_case *seen, unsigned samples)
{
	unsigned blocks = seen->schedule.blocks - nt_case_warm_up(seen);

	return samples * 100 >= blocks * ENOUGH_PERCENT;
}

unsigned nt_case_next_best(const struct nt_case *seen, const struct nt_evidence *evidence,
			   uint32_t taken)
{
	unsigned best = 0;

	for (unsigned i = 1; i < evidence->count; i++) {
		if ((taken & (1u << i)) || !nt_case_enough(seen, nt_evidence_samples(evidence, i)))
			continue;
		if (best == 0 ||
		    nt_evidence_p25_us(evidence, i) < nt_evidence_p25_us(evidence, best))
			best = i;
	}
	return best;
}
