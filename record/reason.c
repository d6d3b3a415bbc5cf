/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* reason.c - see reason.h */
#include "record/reason.h"

#include <stddef.h>
#include <string.h>

#define LENGTH(array) (sizeof(array) / sizeof((array)[0]))

static const struct {
	const char *code;
	enum nt_reason_of about;
} reasons[] = {
#define REASON(id, code, of) { code, NT_ABOUT_##of },
	NT_REASONS(REASON)
#undef REASON
};

const char *nt_reason_code(int reason)
{
	return reason >= 0 && reason < NT_REASON_COUNT ? reasons[reason].code : "";
}

enum nt_reason_of nt_reason_about(int reason)
{
	return reason >= 0 && reason < NT_REASON_COUNT ? reasons[reason].about : NT_ABOUT_NOTHING;
}

int nt_reason_parse(const char *code)
{
	for (int i = 0; i < NT_REASON_COUNT; i++) {
		if (strcmp(reasons[i].code, code) == 0)
			return i;
	}
	return NT_REASON_OTHER;
}

/* What the words hold, the first that is found; those of engine/schedule.c, tuner/write.c,
 * tuner/open.c, pmix-sync/card.c and pmix-sync/join.c. */
static const struct {
	const char *part;
	enum nt_reason reason;
} words[] = {
	{ "plugin was not loaded: ", NT_REASON_NOT_LOADED }, /* quotes another's words */
	{ " rank records, ", NT_REASON_UNUSABLE },
	{ ".json: ", NT_REASON_UNUSABLE },
	{ "no other arm", NT_REASON_ALONE },
	{ "nothing looked faster", NT_REASON_SCREENED },
	{ "gain below min_gain", NT_REASON_SMALL },
	{ "may be chance", NT_REASON_CHANCE },
	{ "slower on average", NT_REASON_MEAN },
	{ "the program around it slower", NT_REASON_PERIOD },
	{ "not enough samples", NT_REASON_SAMPLES },
	{ "exploring would cost too much", NT_REASON_BUDGET },
	{ "remembered, not measured here", NT_REASON_REMEMBERED },
	{ "nothing better is remembered", NT_REASON_NOTHING_BETTER },
	{ "remembered arm is not legal", NT_REASON_ILLEGAL },
	{ "forbids the remembered arm", NT_REASON_FORBIDDEN },
	{ "nothing is remembered", NT_REASON_NOT_REMEMBERED },
	{ "captured before", NT_REASON_CAPTURED },
	{ "not worth it", NT_REASON_UNWORTHY },
	{ "not decided", NT_REASON_UNFINISHED },
	{ "tries nothing", NT_REASON_MODE },
	{ "nothing is tried", NT_REASON_MODE },
	{ "gives no GPU times", NT_REASON_API },
	{ "one half of the plugin", NT_REASON_HALF },
	{ "no shared board", NT_REASON_BOARD },
	{ "does not tell this plugin its rank", NT_REASON_RANK_UNKNOWN },
	{ "PMIx", NT_REASON_NO_PMIX },
	{ "libpmix", NT_REASON_NO_PMIX },
	{ "differs: hardware", NT_REASON_HARDWARE },
	{ "differs: NCCL", NT_REASON_NCCL },
	{ "differs: plugin interface", NT_REASON_INTERFACE },
	{ "differs: plugin build", NT_REASON_BUILD },
	{ "differs: policy", NT_REASON_POLICY },
	{ "differs: remembered", NT_REASON_WARM },
	{ "differs: ", NT_REASON_DIFFERS },
	{ "do not match", NT_REASON_DIFFERS },
	{ "were not all seen", NT_REASON_JOINING },
	{ "was not seen", NT_REASON_UNSEEN },
	{ "was seen on two nodes", NT_REASON_DIFFERS },
	{ "nothing was heard from the node", NT_REASON_SILENT },
	{ "too many", NT_REASON_LIMIT },
	{ "stand in no order", NT_REASON_LIMIT },
	{ "another communicator's before", NT_REASON_LIMIT },
	{ "takes no plan", NT_REASON_REFUSED },
	{ "CUDA graphs are captured", NT_REASON_GRAPHS },
	{ "graph-captured", NT_REASON_GRAPHS },
	{ "issued asynchronously", NT_REASON_ASYNCHRONOUS },
	{ "symmetric kernels", NT_REASON_SYMMETRIC },
	{ "RAS service", NT_REASON_RAS },
	{ "a rank has left", NT_REASON_LEFT },
	{ "spoke for a node", NT_REASON_SPEAKER },
	{ "speaker left", NT_REASON_SPEAKER },
	{ "first task of a node", NT_REASON_SPEAKER },
	{ "NCCL_TUNER_PLUGIN", NT_REASON_OWN_TUNER },
	{ "NCCL_PROFILER_PLUGIN", NT_REASON_OWN_PROFILER },
	{ "NCCL_ALGO", NT_REASON_OWN_ALGO },
	{ "NCCL_PROTO", NT_REASON_OWN_PROTO },
};

int nt_reason_find(const char *text)
{
	if (!text[0])
		return NT_REASON_NONE;
	for (size_t i = 0; i < LENGTH(words); i++) {
		if (strstr(text, words[i].part))
			return words[i].reason;
	}
	return NT_REASON_OTHER;
}
