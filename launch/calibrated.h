/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* calibrated.h - what a step's tasks have measured before its program: the text that bench's
 * driver leaves in the node's memory
 *
 * The first line has the calibration, each other line is an entry for a profile (launch/entry.h),
 * without hardware and time:
 *
 *   {"v":1,"seconds":41.2,"laps":14,"ranks":8,"nodes":2,"per_node":4,"nccl":22809,
 *    "library":"/...","chosen":"sockets-wide","gain":2.41,"settings":"NCCL_A=1",
 *    "deviation":0.05,"why":"","mix":true,"failed":{"wide":"..."}}
 *
 * The text is the user's: everything is checked, and a profile that makes no sense is left out.
 *
 * Threads:  pure.
 * Memory:   the memory's entries: nt_memory_fini().
 * Errors:   -1 and *err: it is not such a text.
 * Units:    seconds, microseconds, bytes; gain: the default's cost divided by the chosen one's.
 */
#ifndef NT_CALIBRATED_H
#define NT_CALIBRATED_H

#include "launch/measure/request.h"
#include "launch/memory.h"
#include "launch/ticket.h"

#define NT_CALIBRATED_BYTES 262144

struct nt_calibrated {
	double seconds;
	uint32_t nodes, per_node, nccl; /* per_node: ranks that measured */
	char library[NT_LIBRARY_MAX];
	char chosen[NT_PROFILE_NAME]; /* NT_PROFILE_DEFAULT: none was better; "": no result */
	double gain, deviation;
	char why[NT_CAL_WHY]; /* without a result; "" */
	struct nt_settings settings; /* of the chosen profile */
	/* One for each profile, without place and time; wrong results have no keys. */
	struct nt_memory profiles;
};

int nt_calibrated_parse(struct nt_calibrated *out, const char *text, size_t bytes,
			struct nt_error *err);
void nt_calibrated_fini(struct nt_calibrated *calibrated);

/* The step ran with what its calibration has chosen. */
void nt_calibrated_apply(const struct nt_calibrated *calibrated, struct nt_ticket *ticket);

#endif
