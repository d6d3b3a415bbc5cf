/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* loop.h - nt-recordd's main loop, from the step's start until all work is done
 *
 * Whenever something happens or a timeout is over, the loop checks each kind of work and starts it
 * if it is due. The step may end as soon as its next steps would find all results, or when the time
 * is up.
 *
 * Threads:  nt-recordd's one.
 * Units:    each kind of work has its own time limits.
 */
#ifndef NT_RECORDD_LOOP_H
#define NT_RECORDD_LOOP_H

#include "spank/recordd/state.h"

/* The arguments, sinks and descriptors are set; the rest is zero. */
void nt_recordd_run(struct nt_recordd *recordd);

#endif
