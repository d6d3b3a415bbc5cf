/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* helper.h - the one thread of ours in a process: speaks for the node, publishes counters, writes
 * the rank's record
 *
 * Threads:  start from any thread, more than once is fine; stop from one thread. The thread itself
 *           blocks all signals and is named nccl-tune.
 * Memory:   part of the session, which must outlive the thread.
 * Errors:   a thread that cannot be started leaves the process on AUTO without a record; counted,
 *           not said.
 * Units:    milliseconds of CLOCK_MONOTONIC.
 */
#ifndef NT_HELPER_H
#define NT_HELPER_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

struct nt_session;

struct nt_helper {
	pthread_mutex_t lock;
	pthread_cond_t wake, ended;
	pthread_t thread;
	bool started, stop, done; /* guarded by the lock */
};

void nt_helper_init(struct nt_helper *helper);
void nt_helper_fini(struct nt_helper *helper);

void nt_helper_start(struct nt_session *session);

/* Tell the thread to write its last record and end, and wait for it. False: it has not ended in
 * time. */
bool nt_helper_stop(struct nt_helper *helper, uint32_t wait_ms);

#endif
