/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* sink.c - see sink.h */
#include "spank/sink.h"

#include "spank/slurm_compat.h"

const struct nt_sink_place *nt_sink_place(enum nt_sink sink)
{
	switch (sink) {
	case NT_SINK_ADMINCOMMENT: return &nt_sink_admincomment;
	case NT_SINK_COMMENT: return &nt_sink_comment;
	case NT_SINK_EXTRA: return NT_SLURM_HAS_EXTRA ? &nt_sink_extra : NULL;
	default: return NULL;
	}
}
