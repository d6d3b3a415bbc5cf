/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* play.h - the application: which collectives a rank calls in which order, and what goes wrong
 *
 * Threads:  one thread a rank.
 * Errors:   ends the process with one of enum nt_exit where a real job would end.
 */
#ifndef NT_FAKE_PLAY_H
#define NT_FAKE_PLAY_H

#include "tests/fake/fake.h"

/* Plays the whole program of one rank; returns its exit code. */
int nt_play(struct nt_job *job, unsigned rank, const char *node);

#endif
