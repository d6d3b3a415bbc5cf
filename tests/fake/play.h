/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* play.h - the application: the ranks' collectives in order, and faults
 *
 * Threads:  one thread for each call of nt_play; it runs all ranks that it gets.
 * Errors:   ends the process with one of enum nt_exit if a real job would end.
 */
#ifndef NT_FAKE_PLAY_H
#define NT_FAKE_PLAY_H

#include "tests/fake/fake.h"

struct nt_slot_of_rank {
	unsigned rank;
	char node[64];
};

/* Plays the whole program of these ranks of the job; returns the exit code. */
int nt_play(struct nt_job *job, const struct nt_slot_of_rank *seat, unsigned seats);

#endif
