/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* reader.h - the ranks' records are read: a child with the user's rights makes the step's record of
 *            them, whenever they have changed and at the step's end
 *
 * Who changes many records often has them read less often.
 *
 * Threads:  nt-recordd's one.
 * Errors:   told at the step's end; until then the end is another chance.
 */
#ifndef NT_READER_H
#define NT_READER_H

#include <stdbool.h>
#include "spank/recordd/state.h"

extern const struct nt_work_kind nt_reader_kind;
void nt_reader_look(struct nt_recordd *recordd, int64_t now_ms);

/* A child's output, the first byte as nt_step_record_format() has it. false: it is no record. */
bool nt_reader_take(struct nt_recordd *recordd, const char *out, size_t bytes,
		    struct nt_error *err);

#endif
