/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* findings-left.h - findings on variables left over: left
 *
 * seen is sorted by node.
 *
 * Threads:  pure functions, any thread.
 */
#ifndef NT_FINDINGS_LEFT_H
#define NT_FINDINGS_LEFT_H

#include "record/findings-list.h"

void nt_findings_judge_left(struct nt_findings *findings, const struct nt_facts_seen *seen,
			    size_t count, int64_t nodes);

#endif
