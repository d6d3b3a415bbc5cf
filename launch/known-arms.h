/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* known-arms.h - what a memory knows of the arms of a place: one for each key, the newest
 *
 * Threads:  pure functions.
 * Memory:   the caller's; too large for a stack.
 */
#ifndef NT_KNOWN_ARMS_H
#define NT_KNOWN_ARMS_H

#include "contract/warm.h"
#include "launch/memory.h"

#define NT_KNOWN_ARMS 2048 /* what does not fit is not taken */

struct nt_known_arm {
	struct nt_warm_key key;
	const struct nt_memory_entry *entry; /* its source */
	double worth; /* calls times bytes */
};

struct nt_known_arms {
	unsigned count;
	struct nt_known_arm arm[NT_KNOWN_ARMS];
};

/* Adds the arms of such a place with that profile. For each size band the newest entry that has
 * decided it counts; in it, the first key. */
void nt_known_arms_add(struct nt_known_arms *arms, const struct nt_memory *memory,
		       const struct nt_where *where, const char *profile);

#endif
