/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* loop.h - what nt-recordd does from the step's begin until nothing is left to be done for it
 *
 * One loop: whenever something has happened or a while is over, each kind of work is looked at and
 * started if it is due; the step is let go as soon as its next steps would find everything, or the
 * time is up.
 *
 * Threads:  nt-recordd's one.
 * Units:    time bounds are those of each kind of work.
 */
#ifndef NT_RECORDD_LOOP_H
#define NT_RECORDD_LOOP_H

#include "spank/recordd/state.h"

/* The arguments, sinks and descriptors are set; the rest is zero. */
void nt_recordd_run(struct nt_recordd *recordd);

#endif
