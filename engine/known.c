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
	uint32_t mask = nt_key_mask(known->key) & ((1u << NT_PAIRS) - 1);

	return known->auto_arm < NT_PAIRS ? mask & ~(1u << known->auto_arm) : mask;
}
