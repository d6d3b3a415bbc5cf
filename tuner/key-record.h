/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* key-record.h - what a rank's record says of a key: its choice, times, reason and trial
 *
 * Threads:  the helper thread; what other threads write is atomic.
 * Memory:   none is kept.
 * Errors:   put->full (lib/json-writer.h): the caller takes the key back.
 * Units:    those of record/record.def.
 */
#ifndef NT_KEY_RECORD_H
#define NT_KEY_RECORD_H

#include <stdint.h>
#include "lib/json-writer.h"
#include "tuner/comm.h"

/* of_us: predicted time of all calls of the process */
void nt_key_record_put(struct nt_json_writer *put, const struct nt_comm *comm,
		       const struct nt_local_key *key, uint64_t id, double of_us);

/* NT_RISK_*: why LL128 is not tried on this communicator; 0: it may be. */
uint32_t nt_key_record_risks(const struct nt_comm *comm);

#endif
