/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/key-info.h"

#include <math.h>
#include "contract/key-id.h"

/* Within a node a call after another arm's takes 1 to 8 us longer (docs/results/h200-x2-carry):
 * negligible for longer calls. */
#define CARRIED_US 250
#define FREQUENT_US 100000 /* from call to call, or less */
#define DOUBT 10 /* predictions of small calls may be too short by this factor */
#define WHOLE 1e8 /* millionths of a percent in 1 */

bool nt_min_share_met(const struct nt_policy *policy, const struct nt_share *share)
{
	return !(share->us > 0 && share->of_us > 0) ||
	       DOUBT * share->us * WHOLE >= share->of_us * (double)policy->min_share_micro;
}

float nt_key_info_predicted_us(const struct nt_key_info *info, unsigned arm)
{
	unsigned pair = (unsigned)nt_arm_pair((int)arm);
	float us = pair < NT_PAIRS ? info->cost_us[pair] : -1;

	return isfinite(us) ? us : -1;
}

float nt_key_info_predicted_baseline_us(const struct nt_key_info *info)
{
	return nt_key_info_predicted_us(info, info->baseline_arm);
}

uint32_t nt_key_info_other_arms(const struct nt_key_info *info)
{
	uint32_t mask = nt_key_mask(info->key) & NT_PAIRS_ALL & ~info->forbidden;

	return info->baseline_arm < NT_PAIRS ? mask & ~(1u << info->baseline_arm) : mask;
}

bool nt_key_info_carries_over(const struct nt_key_info *info)
{
	const float us = nt_key_info_predicted_baseline_us(info);

	return info->nodes == 1 && us >= 0 && us < CARRIED_US && info->age_us > 0 &&
	       (double)info->calls * FREQUENT_US > info->age_us;
}

enum nt_remembered nt_key_info_remembers(const struct nt_key_info *info)
{
	const unsigned arm = info->remembered_arm;

	if (!info->remembered || !nt_arm_valid((int)arm))
		return NT_REMEMBERED_NOTHING;
	if (arm == NT_ARM_BASELINE || arm == info->baseline_arm)
		return NT_REMEMBERED_BASELINE;
	return nt_key_mask(info->key) & ~info->forbidden & 1u << nt_arm_pair((int)arm)
		       ? NT_REMEMBERED_ARM
		       : NT_REMEMBERED_NOTHING;
}
