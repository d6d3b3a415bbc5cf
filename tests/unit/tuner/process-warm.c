/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* process-warm.c - remembered arms of a process: used, or refused with the reason */
#include "tests/lib/unit.h"
#include "contract/coll.h"
#include "contract/policy.h"
#include "tuner/process.h"

#define ARMS " 8r2n.AllReduce.262144=TREE/SIMPLE"
#define TEXT "v=1 nccl=22809 fabric=socket fingerprint=00000000000000ab" ARMS

static void arms_of_this_kind_are_used(void **state)
{
	struct nt_process_warm warm;

	nt_process_warm_read(&warm, NT_MODE_BANDIT, TEXT);
	assert_true(warm.offered);
	assert_null(nt_process_warm_arms(&warm)); /* not before the hardware and NCCL are known */
	assert_int_equal(warm.hash, 0);
	assert_false(nt_process_warm_check(&warm, 22809, NT_FABRIC_SOCKET, 0xab));
	assert_non_null(nt_process_warm_arms(&warm));
	assert_int_equal(warm.hash, nt_warm_hash(&warm.arms));
	assert_int_not_equal(warm.hash, 0);
	/* Only the first word counts. */
	assert_false(nt_process_warm_check(&warm, 22705, NT_FABRIC_IB, 0xcd));
	assert_non_null(nt_process_warm_arms(&warm));
}

static void what_is_unknown_does_not_differ(void **state)
{
	static const char *const texts[] = {
		TEXT,
		"v=1 nccl=22809 fabric=any fingerprint=00000000000000ab" ARMS,
		"v=1 nccl=22809 fabric=socket fingerprint=0000000000000000" ARMS,
	};

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		struct nt_process_warm warm;

		nt_process_warm_read(&warm, NT_MODE_POLICY, texts[i]);
		assert_false(nt_process_warm_check(&warm, 22809, NT_FABRIC_ANY, 0));
		assert_non_null(nt_process_warm_arms(&warm));
	}
}

static void arms_of_another_kind_are_refused(void **state)
{
	static const struct {
		const char *text;
		uint32_t nccl;
		int fabric;
		uint64_t fingerprint;
		const char *says;
	} cases[] = {
		{ TEXT, 23007, NT_FABRIC_SOCKET, 0xab,
		  "remembered with NCCL 22809, this is 23007" },
		{ TEXT, 0, NT_FABRIC_SOCKET, 0xab, "NCCL does not tell its version" },
		{ TEXT, 22809, NT_FABRIC_IB, 0xab, "remembered over fabric socket, this is ib" },
		{ TEXT, 22809, NT_FABRIC_SOCKET, 0xac,
		  "remembered on hardware 00000000000000ab, this is 00000000000000ac" },
		{ TEXT " 1", 22809, NT_FABRIC_SOCKET, 0xab, "'1' is not RANKSrNODESn" },
		{ "v=2", 22809, NT_FABRIC_SOCKET, 0xab, "'v=2' does not begin" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct nt_process_warm warm;

		nt_process_warm_read(&warm, NT_MODE_POLICY, cases[i].text);
		assert_true(nt_process_warm_check(&warm, cases[i].nccl, cases[i].fabric,
						  cases[i].fingerprint));
		if (!strstr(warm.refused.text, cases[i].says))
			fail_msg("%s says: %s", cases[i].text, warm.refused.text);
		assert_null(nt_process_warm_arms(&warm));
		assert_int_equal(warm.hash, 0);
		assert_false(nt_process_warm_check(&warm, 22809, NT_FABRIC_SOCKET, 0xab));
		assert_null(nt_process_warm_arms(&warm));
	}
}

static void other_modes_are_offered_nothing(void **state)
{
	static const int64_t modes[] = { NT_MODE_OFF, NT_MODE_OBSERVE, NT_MODE_PROFILE };
	struct nt_process_warm warm;

	for (size_t i = 0; i < 3; i++) {
		nt_process_warm_read(&warm, modes[i], TEXT);
		assert_false(warm.offered);
		assert_false(nt_process_warm_check(&warm, 1, NT_FABRIC_IB, 1));
		assert_null(nt_process_warm_arms(&warm));
	}
	nt_process_warm_read(&warm, NT_MODE_POLICY, "");
	assert_false(warm.offered);
	nt_process_warm_read(&warm, NT_MODE_POLICY, NULL);
	assert_false(warm.offered);
}

UNIT_TESTS(arms_of_this_kind_are_used, what_is_unknown_does_not_differ,
	   arms_of_another_kind_are_refused, other_modes_are_offered_nothing);
