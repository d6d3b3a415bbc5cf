/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/min-share.h"

#define DOUBT 10 /* predictions of small calls may be too short by this factor */
#define WHOLE 1e8 /* millionths of a percent in 1 */

bool nt_min_share_met(const struct nt_policy *policy, const struct nt_share *share)
{
	return !(share->us > 0 && share->of_us > 0) ||
	       DOUBT * share->us * WHOLE >= share->of_us * (double)policy->min_share_micro;
}
