/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* findings-differs.h - findings on ranks that are started differently: differs
 *
 * seen is sorted by node.
 *
 * Threads:  pure functions, any thread.
 */
#ifndef NT_FINDINGS_DIFFERS_H
#define NT_FINDINGS_DIFFERS_H

#include "record/findings-list.h"

void nt_findings_judge_differs(struct nt_findings *findings, const struct nt_facts_seen *seen,
			       size_t count);

#endif
