/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* card.c - see card.h */
#include "pmix-sync/card.h"

#include <stdio.h>

#define NT_KINDS 16 /* different cards told apart when looking for the odd one */

bool nt_card_same(const struct nt_card *x, const struct nt_card *y)
{
	return x->fingerprint == y->fingerprint && x->build == y->build && x->policy == y->policy &&
	       x->warm == y->warm && x->nccl == y->nccl && x->api == y->api &&
	       x->active == y->active && x->idle == y->idle;
}

const struct nt_card *nt_card_usual(const struct nt_card *cards, uint32_t ranks)
{
	const struct nt_card *kinds[NT_KINDS] = { &cards[0] };
	uint32_t votes[NT_KINDS] = { 0 };
	uint32_t count = 0, best = 0;

	for (uint32_t r = 0; r < ranks; r++) {
		uint32_t k = 0;

		while (k < count && !nt_card_same(kinds[k], &cards[r]))
			k++;
		if (k == count && count < NT_KINDS)
			kinds[count++] = &cards[r];
		if (k < count)
			votes[k]++;
	}
	for (uint32_t k = 1; k < count; k++) {
		if (votes[k] > votes[best])
			best = k;
	}
	return kinds[best];
}

void nt_card_difference(const struct nt_card *odd, const struct nt_card *usual, char *out,
			size_t out_bytes)
{
	if (odd->fingerprint != usual->fingerprint)
		snprintf(out, out_bytes, "hardware %016llx, others %016llx",
			 (unsigned long long)odd->fingerprint,
			 (unsigned long long)usual->fingerprint);
	else if (odd->nccl != usual->nccl)
		snprintf(out, out_bytes, "NCCL %u, others %u", odd->nccl, usual->nccl);
	else if (odd->api != usual->api)
		snprintf(out, out_bytes, "plugin interface %x, others %x", odd->api, usual->api);
	else if (odd->build != usual->build)
		snprintf(out, out_bytes, "plugin build %08x, others %08x", odd->build,
			 usual->build);
	else if (odd->policy != usual->policy)
		snprintf(out, out_bytes, "policy %08x, others %08x", odd->policy, usual->policy);
	else if (odd->warm != usual->warm)
		snprintf(out, out_bytes, "remembered arms %08x, others %08x", odd->warm,
			 usual->warm);
	else
		snprintf(out, out_bytes, "ready %u.%u, others %u.%u", odd->active, odd->idle,
			 usual->active, usual->idle);
}

const char *nt_card_idle(uint32_t idle)
{
	switch (idle) {
	case NT_IDLE_MODE: return "the mode tries nothing";
	case NT_IDLE_API: return "this NCCL gives no GPU times or no sequence numbers to plugins";
	case NT_IDLE_HALF: return "NCCL loaded only one half of the plugin";
	case NT_IDLE_BOARD: return "no shared board on a node";
	default: return "not ready";
	}
}
