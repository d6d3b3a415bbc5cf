/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* known.c - see known.h */
#include "engine/known.h"

#include <math.h>
#include "contract/key.h"

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
