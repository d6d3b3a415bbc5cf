/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* worth.c - see worth.h */
#include "engine/worth.h"

#define DOUBT 10 /* times: so much too short a prediction of a small call may be */
#define WHOLE 1e8 /* millionths of a percent in 1 */

bool nt_worth_it(const struct nt_policy *policy, const struct nt_worth *worth)
{
	return !(worth->us > 0 && worth->of_us > 0) ||
	       DOUBT * worth->us * WHOLE >= worth->of_us * (double)policy->min_share_micro;
}
