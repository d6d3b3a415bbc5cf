/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* p2p-watch.h - when NCCL's events of sends and receives are on
 *
 * Without them NCCL tells of no send; each group, of collectives too, and each send or receive
 * costs one. So they are on while the process sends and receives, which counts all, and off after
 * 1000 calls of collectives without a send. To look they are on again after 10 s, then after pauses
 * that double up to five minutes, and when a communicator is opened.
 *
 * Whatever is explored, GPU times are on for the first 64 of them, or ten seconds, but not after
 * half a second without one; not where a CUDA graph was captured, or may have been while the events
 * were off.
 *
 * Threads:  begin on NCCL's init thread; the rest on the helper thread.
 * Memory:   the caller's.
 * Errors:   none.
 * Host:     P2pApi alone also brings GroupApi, of each group (groupApiMask,
 *           src/plugin/profiler.cc:218@v2.28.9-1); before v5 P2p brings Group, of each plan
 *           (:216@v2.27.7-1).
 */
#ifndef NT_P2P_WATCH_H
#define NT_P2P_WATCH_H

#include "tuner/process.h"

#define NT_P2P_TIMED 64u /* calls that are timed, whatever is explored */

struct nt_p2p_watch {
	bool off;
	bool gap; /* off for a time: a capture may have gone unseen */
	bool timed; /* times were asked for, and are all there or too late */
	uint64_t seen_ms, seen_calls; /* sends or receives, when their number last grew */
	uint64_t first_ms, first_calls; /* at the first look with sends or receives; 0: none yet */
	uint64_t calls; /* of collectives, when a send was last seen or the events came on */
	uint64_t wait_ms, until_ms; /* while off: the pause, and its end */
	uint32_t comms; /* opened so far */
};

/* Returns whether the events are to be on. seen: a send or receive since the last step; calls of
 * collectives and communicators so far. */
bool nt_p2p_watch_step(struct nt_p2p_watch *watch, bool seen, uint64_t calls, uint32_t comms,
		       uint64_t ms);

/* The first communicator is opened. api: of the profiler */
void nt_p2p_watch_begin(struct nt_process *process, int api);

/* Are GPU times to be on for sends and receives, of which there were so many calls? */
bool nt_p2p_watch_times(struct nt_p2p_watch *watch, uint64_t p2p_calls, uint64_t ms);

/* calls: of collectives, and those that send and receive, so far */
void nt_p2p_watch_look(struct nt_p2p_watch *watch, struct nt_process *process, uint64_t calls,
		       uint64_t p2p_calls, uint64_t ms);

#endif
