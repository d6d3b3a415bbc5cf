/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* coll.c - names printed and parsed, bands, sizes */
#include "tests/lib/unit.h"
#include "contract/shm-layout.h"
#include "contract/coll.h"

static void unknown_names_are_errors(void **state)
{
	assert_int_equal(nt_coll_parse("allreduce"), -1);
	assert_int_equal(nt_coll_parse(NULL), -1);
	assert_int_equal(nt_algo_parse("Ring"), -1);
	assert_int_equal(nt_proto_parse(""), -1);
	assert_int_equal(nt_arm_parse("RING"), -1);
	assert_string_equal(nt_coll_name(NT_KINDS), "?");
	assert_string_equal(nt_algo_name(-1), "?");
	assert_string_equal(nt_arm_name(NT_PAIRS), "?");
	assert_int_equal(nt_datatype_bytes("ncclFloat32"), 4);
	assert_int_equal(nt_datatype_bytes("float"), 0);
}

static void arms_with_a_cap_have_names(void **state)
{
	static const unsigned channels[] = { 0, 1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64 };
	unsigned arms = 0;

	for (int arm = 0; arm < 1 << 16; arm++) {
		const char *name = nt_arm_name(arm);

		if (!nt_arm_valid(arm)) {
			assert_string_equal(name, "?");
			continue;
		}
		arms++;
		assert_true(strlen(name) < NT_ARM_TEXT);
		assert_int_equal(nt_arm_parse(name), arm);
		if (arm != NT_ARM_BASELINE)
			assert_int_equal(nt_arm_make(nt_arm_pair(arm), nt_arm_channels(arm)), arm);
	}
	/* AUTO; 12 pairs, and 9 that also have 12 limits of channels. */
	assert_int_equal(arms, 1 + 12 + 9 * 13);
	for (size_t i = 0; i < sizeof(channels) / sizeof(channels[0]); i++)
		assert_int_equal(nt_arm_channels(nt_arm_make(5, channels[i])), channels[i]);
	assert_string_equal(nt_arm_name(nt_arm_make(5, 8)), "RING/SIMPLE/8ch");
	assert_string_equal(nt_arm_name(nt_arm_make(1, 1000)), "TREE/LL128/64ch");
	assert_int_equal(nt_arm_make(5, 0), 5);
	assert_int_equal(nt_arm_make(5, 11), nt_arm_parse("RING/SIMPLE/8ch"));
}

static void what_nccl_does_not_bound_is_no_arm(void **state)
{
	static const char *const texts[] = { "NVLS/SIMPLE/8ch",
					     "COLLNET_CHAIN/SIMPLE/8ch",
					     "RING/SIMPLE/5ch",
					     "RING/SIMPLE/0ch",
					     "RING/SIMPLE/",
					     "RING/SIMPLE/8",
					     "RING/SIMPLE/08ch",
					     "RING/SIMPLE/8ch/",
					     "RING/SIMPLE/8K",
					     "RING/SIMPLE/8ch/512K",
					     "RING/SIMPLE/4294967304ch",
					     "RING/SIMPLE/8ch/8ch",
					     "AUTO/8ch",
					     "RING//8ch",
					     "/",
					     "" };

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		assert_int_equal(nt_arm_parse(texts[i]), -1);
	assert_int_equal(nt_arm_make(4 * NT_PROTOS + 2, 8), -1);
	assert_int_equal(nt_arm_make(-1, 0), -1);
	assert_int_equal(nt_arm_make(NT_PAIRS, 0), -1);
	assert_false(nt_arm_valid(-1));
	assert_false(nt_arm_valid(NT_ARM_BASELINE | 1 << 8));
}

static void bands_are_half_octaves(void **state)
{
	assert_int_equal(nt_band(0), 0);
	assert_int_equal(nt_band(1), 0);
	assert_int_equal(nt_band(65536), 32);
	assert_int_equal(nt_band(65536 + 32767), 32);
	assert_int_equal(nt_band(65536 + 32768), 33);
	assert_int_equal(nt_band(131071), 33);
	assert_int_equal(nt_band(131072), 34);
	assert_int_equal(nt_band(SIZE_MAX), 127);
	for (unsigned band = 2; band < 128; band++) {
		assert_int_equal(nt_band(nt_band_floor(band)), band);
		if (band > 3)
			assert_int_equal(nt_band(nt_band_floor(band) - 1), band - 1);
	}
}

UNIT_TESTS(unknown_names_are_errors, bands_are_half_octaves, arms_with_a_cap_have_names,
	   what_nccl_does_not_bound_is_no_arm);
