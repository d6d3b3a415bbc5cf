/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* truth.h - how long a collective really takes, what NCCL believes, and which arm is best
 *
 * Threads:  pure functions of a world that is set up.
 * Units:    in the names.
 */
#ifndef NT_PROGRAMS_TRUTH_H
#define NT_PROGRAMS_TRUTH_H

#include "lab/programs/world.h"

/* Fills in true_us, auto_arm and best_arm. */
void nt_truth_open(struct nt_world *w);

/* Without noise. */
double nt_truth_us(const struct nt_world *w, const struct nt_inst *inst, unsigned key, int arm);
/* With the noise of that call of the communicator, which is the same for all arms. */
uint64_t nt_truth_ns(const struct nt_world *w, const struct nt_inst *inst, unsigned key, int arm,
		     uint64_t call);

/* When the member with this index is done, as a share of the collective's time: data comes down a
 * tree level by level, which matters where calls are small. */
double nt_truth_end(const struct nt_world *w, const struct nt_inst *inst, unsigned index,
		    unsigned key, int arm);

#endif
