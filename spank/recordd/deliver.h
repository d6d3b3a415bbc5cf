/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* deliver.h - deliver the step's record: to the site's directory of files if that is the first of
 * its sinks, otherwise to the spool, from where job-writer.h delivers it
 *
 * A child sends requests to slurmctld. slurmctld may process the request of a killed child after a
 * later one, so an early record's child may end after the last one's starts.
 *
 * Threads:  nt-recordd's one.
 * Errors:   reported at the step's end; until then it is tried again.
 */
#ifndef NT_DELIVER_H
#define NT_DELIVER_H

#include <stdbool.h>
#include "spank/recordd/state.h"

extern const struct nt_work_kind nt_deliver_early_kind, nt_deliver_kind;
void nt_deliver_early_look(struct nt_recordd *recordd, int64_t now_ms);
void nt_deliver_look(struct nt_recordd *recordd, int64_t now_ms);

/* After the step's end: slurmctld has the record, or the next update is not due. */
bool nt_deliver_is_handed(const struct nt_recordd *recordd);

/* Points in time after the step's end when a look is worth while. */
#define NT_DELIVER_MEMORY_MS 500 /* it waits for what the user's memory says of the step ... */
#define NT_DELIVER_LONG_MS 200 /* ... and to name where the long form is being written */

#endif
