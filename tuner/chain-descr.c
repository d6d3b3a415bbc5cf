/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* One version at a time, as NCCL does it (src/plugin/profiler/). */
#include "tuner/chain-descr.h"

#include <string.h>

/* The parent of a Coll or P2p is the Group, which v5 has as a member at their end. */
static bool to_v4(const struct nt_prof_descr_v5 *from, struct nt_prof_descr_v4 *to)
{
	to->type = (uint8_t)from->type;
	to->parent = from->parent;
	to->rank = from->rank;
	switch (from->type) {
	case NT_PROF_GROUP:
	case NT_PROF_PROXY_CTRL: return true;
	case NT_PROF_COLL:
		memcpy(&to->coll, &from->coll, sizeof(to->coll));
		to->parent = from->coll.group;
		return true;
	case NT_PROF_P2P:
		memcpy(&to->p2p, &from->p2p, sizeof(to->p2p));
		to->parent = from->p2p.group;
		return true;
	case NT_PROF_PROXY_OP: to->proxy_op = from->proxy_op; return true;
	case NT_PROF_PROXY_STEP: to->proxy_step = from->proxy_step; return true;
	case NT_PROF_KERNEL_CH: to->kernel_ch = from->kernel_ch; return true;
	case NT_PROF_NET_PLUGIN: to->net_plugin = from->net_plugin; return true;
	default: return false;
	}
}

bool nt_chain_lower(int to, const union nt_chain_descr *from, union nt_chain_descr *out)
{
	memset(out, 0, sizeof(*out));
	switch (to) {
	case 6: /* v7 has one event more, and members at the end */
		memcpy(&out->v5, &from->v7, sizeof(out->v5));
		return from->v7.type < NT_PROF_KERNEL_PHASE;
	case 5: /* v6 only has more events */
		out->v5 = from->v5;
		return from->v5.type < NT_PROF_CE_COLL;
	case 4: return to_v4(&from->v5, &out->v4);
	default: return false;
	}
}
