/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* policy.c - the two text forms of a policy: what is read is written, and reads back as the same
 *
 * Input: a byte that says which form, then the text.
 */
#include <string.h>
#include "contract/policy.h"
#include "tests/fuzz/fuzz.h"

static const struct nt_node_step place = {
	.shm = "/proc/12/fd/100", .node = "n1", .fingerprint = 7, .job = 12, .flags = 3
};

static void check_task_form(const struct nt_policy *policy, const struct nt_node_step *where)
{
	char text[2 * NT_POLICY_MAX], again[2 * NT_POLICY_MAX];
	struct nt_policy read;
	struct nt_node_step there;
	struct nt_error err;

	FUZZ_CHECK(nt_policy_format_task(policy, where, text, sizeof(text), &err) == 0);
	FUZZ_CHECK(nt_policy_parse_task(&read, &there, text, &err) == 0);
	FUZZ_CHECK(nt_policy_hash(&read) == nt_policy_hash(policy));
	FUZZ_CHECK(nt_policy_format_task(&read, &there, again, sizeof(again), &err) == 0);
	FUZZ_CHECK(strcmp(text, again) == 0);
}

static void check_option_form(const struct nt_policy *policy)
{
	char text[NT_POLICY_MAX];
	struct nt_policy read;
	struct nt_error err;

	nt_policy_default(&read);
	FUZZ_CHECK(nt_policy_format_option(policy, text, sizeof(text)) == 0);
	FUZZ_CHECK(nt_policy_parse_option(&read, text, &err) == 0);
	FUZZ_CHECK(nt_policy_hash(&read) == nt_policy_hash(policy));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct nt_policy policy;
	struct nt_node_step where;
	struct nt_error err;
	char *text;

	if (size == 0)
		return 0;
	text = fuzz_text(data + 1, size - 1);
	nt_policy_default(&policy);
	if (data[0] % 2) {
		if (nt_policy_parse_task(&policy, &where, text, &err) == 0) {
			check_task_form(&policy, &where);
			check_option_form(&policy);
		}
	} else if (nt_policy_parse_option(&policy, text, &err) == 0) {
		check_task_form(&policy, &place);
		check_option_form(&policy);
	}
	free(text);
	return 0;
}

#define SETTING(key, ...) #key "=",
FUZZ_TEXT_TARGET(NT_SETTINGS(SETTING) "bandit", "observe", "policy", "profile", "off", "on",
		 "never", "period", "auto", "sockets-wide", "60s",
		 "dir=", "node=", "fingerprint=", "job=", "step=", "flags=", ",")
