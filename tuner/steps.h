/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* steps.h - finds the program's own steps: has stretches of its calls noted (tuner/stretch.h), one
 * from the start and others as its life grows by a quarter, and reads the step marker's count
 * (engine/marker.h)
 *
 * Threads:  the helper thread.
 * Memory:   the caller's.
 * Errors:   none: steps are unknown then.
 */
#ifndef NT_STEPS_H
#define NT_STEPS_H

#include "engine/marker.h"
#include "tuner/process.h"

/* Initially all zero. */
struct nt_steps {
	struct nt_marker marker;
	uint64_t begun_us, ended_us; /* the first stretch, and the newest one's end */
	unsigned looked; /* calls of the open stretch at the newest look */
	bool open; /* a stretch is */
};

/* At the start of the process's life */
void nt_steps_begin(struct nt_steps *steps, struct nt_process *process, const char *clock_path);
/* Look at the stretch, and read the marker's count. last: there will be no other. */
void nt_steps_read(struct nt_steps *steps, struct nt_process *process, bool last);

#endif
