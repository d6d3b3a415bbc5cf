/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* long-work.h - when the node's part of the step's long form is written, and how long the step
 * waits for it (longform.h)
 *
 * A child with root's rights first creates the user's directory, if the site has such directories.
 * One with the user's rights writes the part: with the first decision, then at a bounded rate, and
 * at the step's end.
 *
 * Threads:  nt-recordd's one.
 * Errors:   reported at the step's end.
 */
#ifndef NT_LONG_WORK_H
#define NT_LONG_WORK_H

#include <stdbool.h>
#include "spank/recordd/state.h"

extern const struct nt_work_kind nt_long_maker_kind, nt_long_writer_kind;
void nt_long_maker_look(struct nt_recordd *recordd, int64_t now_ms);
void nt_long_writer_look(struct nt_recordd *recordd, int64_t now_ms);

/* After the step's end: the records for the last part have been read, and it is known where the
 * part will be, or that there will be none. */
bool nt_long_work_has_read(const struct nt_recordd *recordd);
bool nt_long_work_has_place(const struct nt_recordd *recordd);

#endif
