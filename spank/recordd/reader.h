/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* reader.h - a child with the user's rights makes the step's record from the ranks' records,
 * whenever they have changed and at the step's end
 *
 * Records that change often are read less often.
 *
 * Threads:  nt-recordd's one.
 * Errors:   reported at the step's end; until then it is tried again.
 */
#ifndef NT_READER_H
#define NT_READER_H

#include <stdbool.h>
#include "spank/recordd/state.h"

extern const struct nt_work_kind nt_reader_kind;
void nt_reader_look(struct nt_recordd *recordd, int64_t now_ms);

/* A child's output, in the format of nt_step_record_format(). false: it is not a record. */
bool nt_reader_take(struct nt_recordd *recordd, const char *out, size_t bytes,
		    struct nt_error *err);

#endif
