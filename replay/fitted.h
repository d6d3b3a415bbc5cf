/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* fitted.h - what arms are expected to take at a size by their times at others, from a file
 *
 * Threads:  the main thread.
 * Memory:   none is kept.
 * Errors:   none; what cannot be read is left out, 0 stands for no expectation.
 * Units:    microseconds.
 */
#ifndef NT_REPLAY_FITTED_H
#define NT_REPLAY_FITTED_H

#include "record/rankread.h"
#include "replay/source.h"

/* Of the cell of row number `at`; by pair, AUTO last. */
void nt_fitted_trace(const struct nt_trace *trace, unsigned at, double us[NT_SOURCE_ARMS]);

/* Of a key in a record whose process decided; AUTO's times are those of the pair that it was. */
void nt_fitted_record(const struct nt_rank *rank, const struct nt_rank_comm *comm,
		      const struct nt_rank_key *key, double us[NT_SOURCE_ARMS]);

#endif
