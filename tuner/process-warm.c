/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tuner/process-warm.h"

#include <inttypes.h>
#include <string.h>
#include "contract/coll.h"

void nt_process_warm_read(struct nt_process_warm *warm, int64_t mode, const char *text)
{
	memset(warm, 0, sizeof(*warm));
	if (!text || !*text || (mode != NT_MODE_BANDIT && mode != NT_MODE_POLICY))
		return;
	warm->offered = true;
	if (nt_warm_parse(&warm->arms, text, &warm->refused) < 0)
		warm->arms.count = 0;
}

bool nt_process_warm_check(struct nt_process_warm *warm, uint32_t nccl, int fabric,
			   uint64_t fingerprint)
{
	const struct nt_warm *arms = &warm->arms;

	if (!warm->offered || warm->checked)
		return false;
	warm->checked = true;
	if (warm->refused.text[0])
		return true;
	if (nccl == 0)
		nt_error_set(&warm->refused, "NCCL does not tell its version");
	else if (arms->nccl != nccl)
		nt_error_set(&warm->refused, "remembered with NCCL %" PRIu32 ", this is %" PRIu32,
			     arms->nccl, nccl);
	else if (arms->fabric != NT_FABRIC_ANY && fabric != NT_FABRIC_ANY && arms->fabric != fabric)
		nt_error_set(&warm->refused, "remembered over fabric %s, this is %s",
			     nt_fabric_name(arms->fabric), nt_fabric_name(fabric));
	else if (arms->fingerprint != 0 && fingerprint != 0 && arms->fingerprint != fingerprint)
		nt_error_set(&warm->refused,
			     "remembered on hardware %016" PRIx64 ", this is %016" PRIx64,
			     arms->fingerprint, fingerprint);
	else
		warm->hash = nt_warm_hash(arms);
	return warm->refused.text[0] != '\0';
}

const struct nt_warm *nt_process_warm_arms(const struct nt_process_warm *warm)
{
	return warm->checked && !warm->refused.text[0] ? &warm->arms : NULL;
}

bool nt_process_warm_chunks(const struct nt_process_warm *warm)
{
	const struct nt_warm *arms = nt_process_warm_arms(warm);

	for (unsigned i = 0; arms && i < arms->count; i++) {
		if (arms->key[i].arm != NT_ARM_BASELINE && nt_arm_chunk(arms->key[i].arm))
			return true;
	}
	return false;
}
