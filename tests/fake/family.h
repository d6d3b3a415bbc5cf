/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* family.h - a rank's communicators: those of --comms, made anew where others have ended
 *
 * Threads:  the rank's host thread, or for making them one thread a rank.
 * Memory:   the family owns its communicators.
 * Errors:   ends the process (fake.h).
 */
#ifndef NT_FAKE_FAMILY_H
#define NT_FAKE_FAMILY_H

#include "tests/fake/fake.h"
#include "tests/fake/settled.h"

struct nt_family {
	struct nt_rank rank;
	struct nt_comm *comm[NT_MAX_SPLITS]; /* NULL: this rank is in none of that kind */
	unsigned generation;
	uint64_t children; /* as NCCL counts those that are split off the world */
	struct nt_settled settled;
};

/* Meets the other ranks of the job; afterwards all know where each is. */
void nt_family_meet(struct nt_family *f);

/* Meets them again, for the look-th time: does the plugin want events on one of them, or with
 * --settled, has it something pending on one of their nodes? */
bool nt_family_busy(struct nt_family *f, unsigned look);

/* Communicators of the splits from `first` on, with all ranks of the job. */
void nt_family_create(struct nt_family *f, unsigned first);

/* The streams have run empty, or with abort: whatever they still hold is dropped. */
void nt_family_destroy(struct nt_family *f, unsigned first, bool abort);

/* At the end, where the application destroys nothing: the plugins hear nothing of it. */
void nt_family_free(struct nt_family *f);

/* Host: until all streams are empty. */
void nt_family_sync(struct nt_family *f);

/* The communicator of that split if it decides anything, else NULL: one of a single rank does not
 * (enqueue.cc:2571@v2.28.9-1). */
struct nt_comm *nt_family_active(const struct nt_family *f, unsigned split);

#endif
