/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* findings.h - what is wrong with the set-up of a job's steps, as text
 *
 * What several steps have is told once.
 *
 * Threads:  pure, but for the stream; any thread.
 */
#ifndef NT_FINDINGS_TEXT_H
#define NT_FINDINGS_TEXT_H

#include <stdio.h>
#include "record/job-summary.h"

#define NT_FINDINGS_FIRST 3 /* behind a report's headline */

/* At most so many, the worst first, each with what to type; then how many more there are. Returns
 * their number in all. */
size_t nt_findings_print(FILE *out, const struct nt_summary *summary, size_t most);

#endif
