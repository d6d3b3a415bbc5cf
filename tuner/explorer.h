/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* explorer.h - the coordinator's link to the engine: shared memory and plans on one side, plain
 * values and schedules on the other
 *
 * Threads:  the node leader's helper thread. Ranks may write shared memory meanwhile.
 * Memory:   an explorer is a value that must outlive the agreement; an open key is on the heap.
 * Errors:   out of memory closes the key.
 * Units:    nanoseconds in shared memory, microseconds in the engine.
 */
#ifndef NT_EXPLORER_H
#define NT_EXPLORER_H

#include "contract/warm.h"
#include "engine/engine.h"
#include "engine/marker.h"
#include "pmix-sync/agree.h"
#include "tuner/key-shares.h"

struct nt_explorer {
	struct nt_engine engine;
	/* this node's, whose keys wait for each other; NULL: they do not, and min_share is not
	 * checked */
	const struct nt_shm *shm;
	struct nt_key_shares shares; /* zero at first */
	struct nt_open_key *open; /* being explored; NULL at first */
	const struct nt_warm *warm; /* remembered arms in use; NULL: none */
	uint64_t end_us; /* of the job's time, by nt_clock_us(); 0: unknown */
	uint64_t began_us; /* the first communicator, by nt_clock_us(); 0: unknown */
	const struct nt_marker *marker; /* this process's; NULL: none */
	bool slower; /* the program's own step is slower than when choices were committed */
};

struct nt_agree_hooks nt_explorer_hooks(struct nt_explorer *explorer);

/* Times of the participating ranks among the first `slots`, at each position of plan: the slowest,
 * and the others that the schedule asks for; none where one of them has none. reward: enum
 * nt_rewards. Returns the bytes, of nt_times_write()'s format; 0: no times. Samples that come later
 * are left out. */
size_t nt_explorer_gather(const struct nt_shm *shm, const struct nt_plan *plan, uint32_t slots,
			  int64_t reward, uint8_t *out, size_t cap);

#endif
