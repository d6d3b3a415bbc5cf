/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* fitted.h - the expected times of arms at a size from their times at other sizes, from a file
 *
 * Threads:  the main thread.
 * Memory:   none is kept.
 * Errors:   none; unreadable parts are left out, 0 stands for unknown.
 * Units:    microseconds.
 */
#ifndef NT_REPLAY_FITTED_H
#define NT_REPLAY_FITTED_H

#include "record/rankread.h"
#include "replay/source.h"

/* For the cell of row number `at`; by pair, AUTO last. */
void nt_fitted_trace(const struct nt_trace *trace, unsigned at, double us[NT_SOURCE_ARMS]);

/* For a key in the record of the process that decided; AUTO's times count for the pair that it
 * used. */
void nt_fitted_record(const struct nt_rank *rank, const struct nt_comm_seen *comm,
		      const struct nt_key *key, double us[NT_SOURCE_ARMS]);

#endif
