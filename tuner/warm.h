/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* warm.h - the remembered arms that a process was given, and whether they are of its kind
 *
 * They are taken or refused as a whole, once, when the first communicator's rank takes its seat:
 * only then is NCCL's version known. What is in use is part of every card (nt_warm_hash), so that
 * ranks of a communicator that use other remembered arms are never tuned together.
 *
 * Threads:  read: the process's opening. check: any, with the process's lock held. The others after
 *           the first check, or with the lock held.
 * Memory:   a part of the process.
 * Errors:   none: what cannot be read, or is of another kind, is refused and says why.
 * Host:     NCCL_TUNE_WARM, as spank/ sets it.
 */
#ifndef NT_TUNER_WARM_H
#define NT_TUNER_WARM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "contract/policy.h"
#include "contract/warm.h"

struct nt_process_warm {
	bool offered; /* the variable was there */
	bool checked;
	char refused[160]; /* why none is used; "" where they are, or none were offered */
	uint32_t hash; /* of what is used; 0: nothing is */
	struct nt_warm arms;
};

/* text: of the variable; NULL or "": nothing is offered. In modes that do not choose, and in mode
 * profile, nothing is. */
void nt_process_warm_read(struct nt_process_warm *warm, int64_t mode, const char *text);

/* What this process runs on; fabric: enum nt_fabric. Only the first call counts. True where it was
 * the first and refused them. */
bool nt_process_warm_check(struct nt_process_warm *warm, uint32_t nccl, int fabric,
			   uint64_t fingerprint);

/* What may be used; NULL: nothing. */
const struct nt_warm *nt_process_warm_arms(const struct nt_process_warm *warm);

/* Does any arm in use have a chunk size? */
bool nt_process_warm_chunks(const struct nt_process_warm *warm);

#endif
