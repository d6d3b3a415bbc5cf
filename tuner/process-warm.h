/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* process-warm.h - the remembered arms passed to a process, and whether they apply to it
 *
 * They are taken or refused as a whole, once, when the first communicator's rank takes its slot:
 * only then is NCCL's version known. Those in use are part of the capabilities (nt_warm_hash), so
 * ranks with different ones are never tuned together.
 *
 * Threads:  read: when the process opens. check: any, with the process's lock held. The others
 *           after the first check, or with the lock held.
 * Memory:   part of the process.
 * Errors:   none: what cannot be parsed or does not apply is refused, with a reason.
 * Host:     NCCL_TUNE_WARM, as spank/ sets it.
 */
#ifndef NT_PROCESS_WARM_H
#define NT_PROCESS_WARM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "contract/policy.h"
#include "contract/warm.h"

struct nt_process_warm {
	bool offered; /* the variable is set */
	bool checked;
	struct nt_error refused; /* why none is used; "": they are, or none was offered */
	uint32_t hash; /* of the arms in use; 0: none */
	struct nt_warm arms;
};

/* text: the variable; NULL or "": nothing is offered. Nothing is read in modes that do not choose
 * arms, and in mode profile. */
void nt_process_warm_read(struct nt_process_warm *warm, int64_t mode, const char *text);

/* fabric: enum nt_fabric. Only the first call counts; true if this is it, and the arms are
 * refused. */
bool nt_process_warm_check(struct nt_process_warm *warm, uint32_t nccl, int fabric,
			   uint64_t fingerprint);

/* Those in use; NULL: none. */
const struct nt_warm *nt_process_warm_arms(const struct nt_process_warm *warm);

/* Has any of those in use a chunk size? */
bool nt_process_warm_chunks(const struct nt_process_warm *warm);

#endif
