/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* task-log.h - the size bands of the newest tasks of a collective function
 *
 * They tell a rank how many calls of a key there were since a turn. All ranks count alike, as they
 * do turns: NCCL reports tasks in the order in which it launches plans, which all ranks share, or
 * their kernels would not meet. A task is logged by the number and bytes that NCCL reports, so
 * requests of a single rank leave no trace. No event is missing after the first turn that a rank
 * has published, because its mask stays on while the key is open; and a plan begins after a turn
 * that every rank has published (pmix-sync/turn.h).
 *
 * Threads:  the thread of the Coll events writes before it publishes the turn; the decision thread
 *           reads entries below a turn that it has acquired.
 * Memory:   a value; all zero: empty. A task is forgotten after NT_TASK_LOG more.
 * Units:    tasks of one function on one communicator, by NCCL's sequence number.
 */
#ifndef NT_SYNC_TASK_LOG_H
#define NT_SYNC_TASK_LOG_H

#include <stdatomic.h>
#include <stdint.h>

#define NT_TASK_LOG 16384u /* a power of two */
#define NT_TASK_LOG_NONE 127u /* of no key */

struct nt_task_log {
	uint64_t next; /* writer only: the task after the newest */
	_Atomic uint8_t task[NT_TASK_LOG]; /* band, and the parity of the lap */
};

/* Two laps in a row differ. */
static inline uint8_t nt_task_log_mark(uint64_t seq, unsigned band)
{
	return (uint8_t)(band | (seq / NT_TASK_LOG % 2 == 0 ? 128u : 0));
}

/* Clear turns without a reported task: they hold entries of earlier laps, which differ between
 * ranks. */
static inline void nt_task_log_note(struct nt_task_log *task_log, uint64_t seq, unsigned band)
{
	if (task_log->next + NT_TASK_LOG < seq)
		task_log->next = seq - NT_TASK_LOG;
	for (; task_log->next < seq; task_log->next++)
		atomic_store_explicit(&task_log->task[task_log->next % NT_TASK_LOG],
				      nt_task_log_mark(task_log->next, NT_TASK_LOG_NONE),
				      memory_order_relaxed);
	task_log->next = seq + 1;
	atomic_store_explicit(&task_log->task[seq % NT_TASK_LOG], nt_task_log_mark(seq, band),
			      memory_order_relaxed);
}

/* Tasks of a band at turns from..until - 1; only the newest NT_TASK_LOG count. */
static inline uint32_t nt_task_log_count(const struct nt_task_log *task_log, uint64_t from,
					 uint64_t until, unsigned band)
{
	uint32_t count = 0;

	if (until > NT_TASK_LOG && from < until - NT_TASK_LOG)
		from = until - NT_TASK_LOG;
	for (uint64_t seq = from; seq < until; seq++)
		count += atomic_load_explicit(&task_log->task[seq % NT_TASK_LOG],
					      memory_order_relaxed) == nt_task_log_mark(seq, band);
	return count;
}

#endif
