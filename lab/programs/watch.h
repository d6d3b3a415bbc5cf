/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* watch.h - when keys are decided: a look at the nodes' shared memories after each step
 *
 * Threads:  as vtime.h.
 * Errors:   shared memory that is not there: nothing is decided.
 */
#ifndef NT_PROGRAMS_WATCH_H
#define NT_PROGRAMS_WATCH_H

#include "lab/programs/world.h"

/* Once the node's plugin has made its memory, the file at path. */
void nt_watch_open(unsigned node, const char *path);

/* Into the log of the run. */
void nt_watch_step(struct nt_world *w, uint64_t step);

#endif
