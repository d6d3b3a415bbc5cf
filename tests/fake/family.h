/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* family.h - a rank's communicators: those of --comms, and new ones after others have ended
 *
 * Threads:  the rank's host thread; creation may use one thread for each rank.
 * Memory:   the family owns its communicators.
 * Errors:   ends the process (fake.h).
 */
#ifndef NT_FAKE_FAMILY_H
#define NT_FAKE_FAMILY_H

#include "tests/fake/fake.h"
#include "tests/fake/settled.h"

struct nt_family {
	struct nt_rank rank;
	struct nt_comm *comm[NT_MAX_SPLITS]; /* NULL: this rank is not in one of that kind */
	unsigned generation;
	uint64_t children; /* NCCL's count of communicators split off the world */
	struct nt_settled settled;
};

/* Waits for the other ranks of the job; then all know each rank's node. */
void nt_family_meet(struct nt_family *f);

/* Waits for them again, for the look-th time: does the plugin want events on any rank, or with
 * --settled, has it work pending on any node? */
bool nt_family_busy(struct nt_family *f, unsigned look);

/* Communicators of the splits from `first` on, with all ranks of the job. */
void nt_family_create(struct nt_family *f, unsigned first);

/* Waits until the streams are empty; with abort their content is dropped. */
void nt_family_destroy(struct nt_family *f, unsigned first, bool abort);

/* At the end, if the application destroys nothing: the plugins are not called. */
void nt_family_free(struct nt_family *f);

/* Host: waits until all streams are empty. */
void nt_family_sync(struct nt_family *f);

/* The communicator of that split; NULL for one of a single rank, which decides nothing
 * (enqueue.cc:2571@v2.28.9-1). */
struct nt_comm *nt_family_active(const struct nt_family *f, unsigned split);

#endif
