/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* pmix.h - a libpmix for tasks that live in one process
 *
 * Threads:  as vtime.h.
 */
#ifndef NT_PROGRAMS_PMIX_H
#define NT_PROGRAMS_PMIX_H

#define NT_PMIX_TASKS 512

/* Sets the variables by which a plugin knows that there is PMIx, too. */
void nt_pmix_begin(unsigned tasks, unsigned nodes);

#endif
