/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* chain-descr.h - convert an event descriptor to an older profiler interface; pure */
#ifndef NT_CHAIN_DESCR_H
#define NT_CHAIN_DESCR_H

#include <stdbool.h>
#include "tuner/abi.h"

/* From version `to` + 1 to `to`. False: that version has no such event. */
union nt_chain_descr {
	struct nt_prof_descr_v4 v4;
	struct nt_prof_descr_v5 v5; /* and v6 */
	struct nt_prof_descr_v7 v7;
};

bool nt_chain_lower(int to, const union nt_chain_descr *from, union nt_chain_descr *out);

#endif
