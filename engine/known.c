/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* known.c - see known.h */
#include "engine/known.h"

#include <math.h>
#include "contract/key.h"

/* Inside a node a call after another arm's takes 1 to 8 us longer (docs/results/h200-x2-carry):
 * beyond this it is nothing. */
#define CARRIED_US 250
#define FREQUENT_US 100000 /* from call to call, or less */

float nt_known_predicted_us(const struct nt_known *known, unsigned arm)
{
	unsigned pair = (unsigned)nt_arm_pair((int)arm);
	float us = pair < NT_PAIRS ? known->cost_us[pair] : -1;

	return isfinite(us) ? us : -1;
}

float nt_known_predicted_auto_us(const struct nt_known *known)
{
	return nt_known_predicted_us(known, known->auto_arm);
}

uint32_t nt_known_other_arms(const struct nt_known *known)
{
	uint32_t mask = nt_key_mask(known->key) & ((1u << NT_PAIRS) - 1) & ~known->forbidden;

	return known->auto_arm < NT_PAIRS ? mask & ~(1u << known->auto_arm) : mask;
}

bool nt_known_carries_over(const struct nt_known *known)
{
	const float us = nt_known_predicted_auto_us(known);

	return known->nodes == 1 && us >= 0 && us < CARRIED_US && known->age_us > 0 &&
	       (double)known->calls * FREQUENT_US > known->age_us;
}

enum nt_remembered nt_known_remembers(const struct nt_known *known)
{
	const unsigned arm = known->remembered_arm;

	if (!known->remembered || !nt_arm_valid((int)arm))
		return NT_REMEMBERED_NOTHING;
	if (arm == NT_ARM_AUTO || arm == known->auto_arm)
		return NT_REMEMBERED_AUTO;
	return nt_key_mask(known->key) & ~known->forbidden & 1u << nt_arm_pair((int)arm)
		       ? NT_REMEMBERED_ARM
		       : NT_REMEMBERED_NOTHING;
}
