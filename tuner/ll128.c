/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tuner/ll128.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/utsname.h>

static bool is_set(const char *text)
{
	return text && *text;
}

bool nt_ll128_is_external(const char *net, const char *plugin, bool loaded)
{
	/* NCCL then uses no network but this one. */
	if (is_set(net))
		return strcasecmp(net, "Socket") != 0 && strcasecmp(net, "IB") != 0;
	return loaded || (is_set(plugin) && strcasecmp(plugin, "none") != 0);
}

static bool is_arm(void)
{
	struct utsname machine;

	return uname(&machine) < 0 || strcmp(machine.machine, "aarch64") == 0;
}

uint32_t nt_ll128_look(bool loaded)
{
	uint32_t risks = is_arm() ? NT_RISK_C2C : 0;

	if (nt_ll128_is_external(getenv("NCCL_NET"), getenv("NCCL_NET_PLUGIN"), loaded))
		risks |= NT_RISK_NET;
	return risks;
}

uint32_t nt_ll128_risks(const struct nt_policy *policy, uint32_t risks, uint32_t nodes,
			uint32_t baseline_pairs)
{
	if (policy->ll128 != NT_LL128_AUTO || baseline_pairs & NT_PAIRS_LL128)
		return 0;
	return nodes > 1 ? risks : risks & ~NT_RISK_NET;
}
