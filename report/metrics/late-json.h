/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* late-json.h - for whom the ranks of a communicator waited, in the report's JSON
 *
 * Threads, Memory, Errors: as lib/json.h.
 */
#ifndef NT_LATE_JSON_H
#define NT_LATE_JSON_H

#include "lib/json.h"
#include "record/summary.h"

/* The member "lateness" of a communicator's object; nothing where it is not known. */
void nt_late_json(json_object *object, const struct nt_summary *summary,
		  const struct nt_comm_seen *comm, int *rc);

#endif
