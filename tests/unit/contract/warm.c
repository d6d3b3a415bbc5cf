/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* warm.c - remembered arms printed and parsed, and every kind of mistake */
#include "tests/lib/unit.h"
#include "contract/coll.h"
#include "contract/warm.h"

#define HEADER "v=1 nccl=22809 fabric=socket fingerprint=00f3a0b1c2d3e4f5"

static void texts_round_trip(void **state)
{
	static const char *const texts[] = {
		HEADER,
		"v=1 nccl=21903 fabric=any fingerprint=0000000000000000 2r1n.Reduce.0=AUTO",
		HEADER " 2r2n.AllReduce.64=RING/LL 8r2n.AllGather.1048576=AUTO"
		       " 8r2n.AllReduce.262144=TREE/SIMPLE/4ch"
		       " 8r2n.AllReduce.393216=RING/SIMPLE/8ch"
		       " 8r8n.Broadcast.262144=PAT/SIMPLE 16r2n.Broadcast.96=TREE/LL128",
		HEADER " 8r2n.AllReduce.64=RING/LL@1 8r2n.AllReduce.96=TREE/SIMPLE/4ch@9999999999",
	};

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		struct nt_error err = { "" };
		struct nt_warm warm;
		char out[NT_WARM_TEXT_MAX];

		if (nt_warm_parse(&warm, texts[i], &err) < 0)
			fail_msg("%s: %s", texts[i], err.text);
		assert_int_equal(nt_warm_print(&warm, out, sizeof(out), &err), 0);
		assert_string_equal(out, texts[i]);
	}
}

static void bad_texts_are_refused_with_the_reason(void **state)
{
	static const struct {
		const char *text, *says;
	} cases[] = {
		{ "", "does not begin with v=1 nccl=" },
		{ "v=2 nccl=22809 fabric=ib fingerprint=0000000000000000", "does not begin" },
		{ "v=1", "does not begin" },
		{ "v=1 nccl=22809 fabric=ib", "does not begin" },
		{ "v=1 nccl=0 fabric=ib fingerprint=0000000000000000", "bad NCCL version 0" },
		{ "v=1 nccl=2x fabric=ib fingerprint=0000000000000000", "does not begin" },
		{ "v=1 nccl=22809 fabric=myrinet fingerprint=0000000000000000", "unknown fabric" },
		{ "v=1 nccl=22809 fabric=ib fingerprint=1", "not as nccl-tune writes it" },
		{ "v=1 nccl=22809 fabric=ib fingerprint=000000000000000G",
		  "not as nccl-tune writes it" },
		{ "v=1  nccl=22809 fabric=ib fingerprint=0000000000000000",
		  "not as nccl-tune writes it" },
		{ HEADER " ", "'' is not RANKSrNODESn.COLLECTIVE.BYTES=ARM" },
		{ HEADER " 8r2n.AllReduce.262144", "is not RANKSrNODESn" },
		{ HEADER " 8r2n.allreduce.262144=AUTO", "is not RANKSrNODESn" },
		{ HEADER " 8r2n.AllReduce.262144=Tree/Simple", "is not RANKSrNODESn" },
		{ HEADER " 8r2n.AllReduce.262144=TREE/SIMPLE/7ch", "is not RANKSrNODESn" },
		{ HEADER " 8r2n.AllReduce.64=RING/LL@", "not as nccl-tune writes it" },
		{ HEADER " 8r2n.AllReduce.64=RING/LL@0", "not as nccl-tune writes it" },
		{ HEADER " 8r2n.AllReduce.64=RING/LL@01", "not as nccl-tune writes it" },
		{ HEADER " 8r2n.AllReduce.64=RING/LL@-1", "bad gain" },
		{ HEADER " 8r2n.AllReduce.64=RING/LL@1.5", "not as nccl-tune writes it" },
		{ HEADER " 8r2n.AllReduce.64=RING/LL@1@2", "not as nccl-tune writes it" },
		{ HEADER " 8r2n.AllReduce.64=@1", "is not RANKSrNODESn" },
		{ HEADER " 8r2n.AllReduce.64=RING/LL@10000000000", "not as nccl-tune writes it" },
		{ HEADER " 8r2n.AllReduce.64=AUTO@1", "bad gain of 1 ns" },
		{ HEADER " 08r2n.AllReduce.262144=AUTO", "not as nccl-tune writes it" },
		{ HEADER " 8r2n.AllReduce.-1=AUTO", "not the lower end" },
		{ HEADER " 8r2n.AllReduce.99999999999999999999=AUTO", "is not RANKSrNODESn" },
		{ HEADER " 8r2n.AllReduce.262145=AUTO", "not the lower end of a size band" },
		{ HEADER " 2r8n.AllReduce.262144=AUTO", "2 ranks on 8 nodes" },
		{ HEADER " 2r0n.AllReduce.262144=AUTO", "2 ranks on 0 nodes" },
		{ HEADER " 8r2n.AllReduce.64=AUTO 8r2n.AllReduce.64=RING/LL", "given twice" },
		{ HEADER " 8r2n.AllReduce.96=AUTO 8r2n.AllReduce.64=AUTO",
		  "not as nccl-tune writes it" },
		{ HEADER " 8r2n.AllReduce.96=AUTO 4r2n.AllReduce.128=AUTO",
		  "not as nccl-tune writes it" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct nt_error err = { "" };
		struct nt_warm warm;

		assert_int_equal(nt_warm_parse(&warm, cases[i].text, &err), -1);
		if (!strstr(err.text, cases[i].says))
			fail_msg("'%s' says: %s", cases[i].text, err.text);
	}
}

static void fill(struct nt_warm *warm, unsigned band, uint32_t ranks, int arm)
{
	memset(warm, 0, sizeof(*warm));
	warm->nccl = 22809;
	for (unsigned i = 0; i < NT_WARM_MAX; i++) {
		struct nt_warm_key key = { ranks + i / 60,
					   ranks,
					   NT_REDUCESCATTER,
					   nt_band_floor(band + i % 60),
					   arm,
					   0 };

		assert_int_equal(nt_warm_add(warm, &key, NULL), 0);
	}
}

static void bounds_are_kept(void **state)
{
	struct nt_warm_key one = { 2, 1, NT_REDUCE, 64, NT_ARM_BASELINE, 0 };
	struct nt_error err = { "" };
	char text[NT_WARM_TEXT_MAX + 8];
	struct nt_warm warm;

	fill(&warm, 20, 8, 3);
	assert_int_equal(nt_warm_add(&warm, &one, &err), -1);
	assert_non_null(strstr(err.text, "more than 128"));
	assert_int_equal(nt_warm_print(&warm, text, NT_WARM_TEXT_MAX, &err), 0);
	assert_int_equal(nt_warm_print(&warm, text, 100, &err), -1);
	assert_non_null(strstr(err.text, "are too long"));
	fill(&warm, 66, 10000000, nt_arm_make(3 * NT_PROTOS, 0));
	assert_int_equal(nt_warm_print(&warm, text, sizeof(text), &err), -1);
	memset(text, ' ', sizeof(text));
	memcpy(text, HEADER, sizeof(HEADER) - 1);
	text[sizeof(text) - 1] = '\0';
	assert_int_equal(nt_warm_parse(&warm, text, &err), -1);
	assert_non_null(strstr(err.text, "longer than"));
}

static void keys_are_put_in_order_and_found(void **state)
{
	static const struct nt_warm_key keys[] = {
		{ 8, 2, NT_ALLREDUCE, 262144, 5, 0 },
		{ 8, 2, NT_ALLREDUCE, 65536, 2, 0 },
		{ 8, 1, NT_ALLREDUCE, 65536, NT_ARM_BASELINE, 0 },
		{ 2, 2, NT_ALLGATHER, 64, 3, 0 },
	};
	struct nt_warm warm = { .nccl = 22809 };
	char text[NT_WARM_TEXT_MAX];

	for (size_t i = 0; i < 4; i++)
		assert_int_equal(nt_warm_add(&warm, &keys[i], NULL), 0);
	assert_int_equal(nt_warm_add(&warm, &keys[1], NULL), -1);
	assert_int_equal(nt_warm_print(&warm, text, sizeof(text), NULL), 0);
	assert_string_equal(text,
			    "v=1 nccl=22809 fabric=any fingerprint=0000000000000000"
			    " 2r2n.AllGather.64=RING/LL 8r1n.AllReduce.65536=AUTO"
			    " 8r2n.AllReduce.65536=TREE/SIMPLE 8r2n.AllReduce.262144=RING/SIMPLE");
	assert_int_equal(nt_warm_find(&warm, 8, 2, NT_ALLREDUCE, nt_band(70000)), 2);
	assert_int_equal(nt_warm_find(&warm, 8, 1, NT_ALLREDUCE, nt_band(65536)), NT_ARM_BASELINE);
	assert_int_equal(nt_warm_find(&warm, 8, 2, NT_ALLREDUCE, nt_band(131072)), -1);
	assert_int_equal(nt_warm_find(&warm, 4, 2, NT_ALLREDUCE, nt_band(65536)), -1);
	assert_int_equal(nt_warm_find(&warm, 8, 2, NT_BROADCAST, nt_band(65536)), -1);
}

static void a_gain_is_that_of_its_arm(void **state)
{
	const int arm = nt_arm_parse("RING/LL");
	struct nt_warm_key want = { 8, 2, NT_ALLREDUCE, 64, arm, 0 };
	struct nt_warm warm;

	assert_int_equal(nt_warm_parse(&warm,
				       HEADER " 8r2n.AllReduce.64=RING/LL@284500"
					      " 8r2n.AllReduce.96=RING/LL",
				       NULL),
			 0);
	assert_int_equal(nt_warm_gain_ns(&warm, &want), 284500);
	want.bytes = 96;
	assert_int_equal(nt_warm_gain_ns(&warm, &want), 0);
	want.bytes = 128;
	assert_int_equal(nt_warm_gain_ns(&warm, &want), 0);
	want.bytes = 64;
	want.arm = nt_arm_parse("TREE/LL");
	assert_int_equal(nt_warm_gain_ns(&warm, &want), 0);
}

static void the_hash_follows_the_text(void **state)
{
	struct nt_warm a, b;

	assert_int_equal(nt_warm_hash(NULL), 0);
	assert_int_equal(nt_warm_parse(&a, HEADER " 8r2n.AllReduce.64=RING/LL", NULL), 0);
	assert_int_equal(nt_warm_parse(&b, HEADER " 8r2n.AllReduce.64=RING/LL", NULL), 0);
	assert_int_equal(nt_warm_hash(&a), nt_warm_hash(&b));
	assert_int_not_equal(nt_warm_hash(&a), 0);
	b.key[0].arm = NT_ARM_BASELINE;
	assert_int_not_equal(nt_warm_hash(&a), nt_warm_hash(&b));
}

UNIT_TESTS(texts_round_trip, bad_texts_are_refused_with_the_reason, bounds_are_kept,
	   keys_are_put_in_order_and_found, a_gain_is_that_of_its_arm, the_hash_follows_the_text);
