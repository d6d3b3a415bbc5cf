/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* home.h - what the agreement's home asks the engine: boards and plans on this side, plain values
 *          and schedules on the other
 *
 * Threads:  the speaker's helper thread. Ranks may still write the board meanwhile.
 * Memory:   a home is a value that must outlive the agreement; an open key is on the heap.
 * Errors:   out of memory closes the key.
 * Units:    nanoseconds on the board, microseconds in the engine.
 */
#ifndef NT_HOME_H
#define NT_HOME_H

#include "contract/warm.h"
#include "engine/engine.h"
#include "engine/marker.h"
#include "pmix-sync/agree.h"
#include "tuner/worth.h"

struct nt_home {
	struct nt_engine engine;
	/* of this node, whose keys wait for each other; NULL: they do not, and all are worth it */
	const struct nt_board *board;
	struct nt_worths worths; /* zeros at first */
	struct nt_open_key *open; /* keys that are explored; NULL at first */
	const struct nt_warm *warm; /* remembered arms in use; NULL: there are none */
	uint64_t end_us; /* of the job's time, by nt_clock_us(); 0: not known */
	uint64_t began_us; /* the first communicator, by nt_clock_us(); 0: not known */
	const struct nt_marker *marker; /* of this process; NULL: none */
};

struct nt_agree_hooks nt_home_hooks(struct nt_home *home);

/* The slowest time over those of the first `members` seats that take part, at each position of
 * plan; none where one of them has none. reward: enum nt_rewards. Returns bytes as nt_times_write()
 * has them; 0 if there are no times. Samples that come later are not seen. */
size_t nt_home_gather(const struct nt_board *board, const struct nt_plan *plan, uint32_t members,
		      int64_t reward, uint8_t *out, size_t cap);

#endif
