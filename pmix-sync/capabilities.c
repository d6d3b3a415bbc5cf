/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "pmix-sync/capabilities.h"

#define NT_KINDS 16 /* most different ones counted */

bool nt_capabilities_same(const struct nt_capabilities *x, const struct nt_capabilities *y)
{
	return x->fingerprint == y->fingerprint && x->build == y->build && x->policy == y->policy &&
	       x->warm == y->warm && x->nccl == y->nccl && x->api == y->api &&
	       x->active == y->active && x->idle == y->idle;
}

const struct nt_capabilities *nt_capabilities_usual(const struct nt_capabilities *all_caps,
						    uint32_t ranks)
{
	const struct nt_capabilities *kinds[NT_KINDS] = { &all_caps[0] };
	uint32_t votes[NT_KINDS] = { 0 };
	uint32_t count = 0, best = 0;

	for (uint32_t r = 0; r < ranks; r++) {
		uint32_t k = 0;

		while (k < count && !nt_capabilities_same(kinds[k], &all_caps[r]))
			k++;
		if (k == count && count < NT_KINDS)
			kinds[count++] = &all_caps[r];
		if (k < count)
			votes[k]++;
	}
	for (uint32_t k = 1; k < count; k++) {
		if (votes[k] > votes[best])
			best = k;
	}
	return kinds[best];
}

/* Ranks of one node that lacks something, or those who opened the communicator a moment later: what
 * is missing says more than which rank has it. */
static int lack_name(const struct nt_capabilities *caps)
{
	return caps->idle == NT_IDLE_ROOM || caps->idle == NT_IDLE_LIMITS
		       ? nt_capabilities_idle(caps->idle)
		       : NT_REASON_NONE;
}

static const char *state_name(const struct nt_capabilities *caps)
{
	return caps->active ? "ready" : nt_reason_code(nt_capabilities_idle(caps->idle));
}

void nt_capabilities_difference(const struct nt_capabilities *odd,
				const struct nt_capabilities *usual, uint32_t rank,
				const char *node, struct nt_reason *why)
{
	if (odd->fingerprint != usual->fingerprint)
		nt_reason_setf(why, NT_REASON_HARDWARE, "%u:%.63s:%016llx:%016llx", rank, node,
			       (unsigned long long)odd->fingerprint,
			       (unsigned long long)usual->fingerprint);
	else if (odd->nccl != usual->nccl)
		nt_reason_setf(why, NT_REASON_NCCL, "%u:%.63s:%u:%u", rank, node, odd->nccl,
			       usual->nccl);
	else if (odd->api != usual->api)
		nt_reason_setf(why, NT_REASON_INTERFACE, "%u:%.63s:%x:%x", rank, node, odd->api,
			       usual->api);
	else if (odd->build != usual->build)
		nt_reason_setf(why, NT_REASON_BUILD, "%u:%.63s:%08x:%08x", rank, node, odd->build,
			       usual->build);
	else if (odd->policy != usual->policy)
		nt_reason_setf(why, NT_REASON_POLICY, "%u:%.63s:%08x:%08x", rank, node, odd->policy,
			       usual->policy);
	else if (odd->warm != usual->warm)
		nt_reason_setf(why, NT_REASON_WARM, "%u:%.63s:%08x:%08x", rank, node, odd->warm,
			       usual->warm);
	else if (lack_name(odd) || lack_name(usual))
		nt_reason_set(why, lack_name(odd) ? lack_name(odd) : lack_name(usual));
	else
		nt_reason_setf(why, NT_REASON_DIFFERS, "%u:%.63s:%s:%s", rank, node,
			       state_name(odd), state_name(usual));
}

int nt_capabilities_idle(uint32_t idle)
{
	switch (idle) {
	case NT_IDLE_MODE: return NT_REASON_MODE;
	case NT_IDLE_API: return NT_REASON_API;
	case NT_IDLE_HALF: return NT_REASON_HALF;
	case NT_IDLE_SHM: return NT_REASON_SHM;
	case NT_IDLE_ROOM: return NT_REASON_SHM_SMALL;
	case NT_IDLE_LIMITS: return NT_REASON_LIMITS;
	default: return NT_REASON_NOT_READY;
	}
}

bool nt_capabilities_all_idle(const struct nt_reason *rejected)
{
	for (uint32_t idle = NT_IDLE_MODE; idle < NT_IDLES; idle++) {
		if (rejected->id == nt_capabilities_idle(idle))
			return true;
	}
	return false;
}
