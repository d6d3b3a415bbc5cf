/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* play.h - the application: which collectives ranks call in which order, and what goes wrong
 *
 * Threads:  one thread for each call of nt_play; it drives all ranks it is given.
 * Errors:   ends the process with one of enum nt_exit where a real job would end.
 */
#ifndef NT_FAKE_PLAY_H
#define NT_FAKE_PLAY_H

#include "tests/fake/fake.h"

struct nt_seat_of_rank {
	unsigned rank;
	char node[64];
};

/* Plays the whole program of these ranks of the job; returns the exit code. */
int nt_play(struct nt_job *job, const struct nt_seat_of_rank *seat, unsigned seats);

#endif
