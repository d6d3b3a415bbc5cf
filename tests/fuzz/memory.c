/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* memory.c - memories of users and sites: what is read is written and read back, and a choice comes
 *            of it
 *
 * Input: a byte that is passed over, as in the inputs that are kept, then the text.
 */
#include <string.h>
#include "launch/select.h"
#include "tests/fuzz/fuzz.h"

#define NOW_S INT64_C(1763769600)
#define BYTES 20000

static struct nt_profiles profiles;

static const struct nt_where where = { .fingerprint = UINT64_C(0xf3a0b1c2d3e4f5),
				       .nodes = 2,
				       .per_node = 4,
				       .nccl = 22809,
				       .driver = "550.54",
				       .fabric = NT_FABRIC_SOCKET };

static char *printed(const struct nt_memory *memory, size_t *bytes)
{
	struct nt_error err;
	char *text = NULL;
	FILE *out = open_memstream(&text, bytes);

	FUZZ_CHECK(out != NULL);
	FUZZ_CHECK(nt_memory_print(memory, out, &err) == 0);
	fclose(out);
	fuzz_check_plain(text, *bytes);
	return text;
}

/* All lines are taken, and say the same. */
static void check_printed(const struct nt_memory *memory)
{
	struct nt_memory again;
	size_t bytes = 0, more = 0;
	char *text = printed(memory, &bytes), *twice;
	struct nt_error err;

	nt_memory_init(&again);
	FUZZ_CHECK(nt_memory_read_text(&again, text, bytes, &err) == 0);
	FUZZ_CHECK(again.entries == memory->entries && again.hosts == memory->hosts);
	nt_memory_sort(&again, NOW_S);
	twice = printed(&again, &more);
	FUZZ_CHECK(more == bytes && memcmp(text, twice, bytes) == 0);
	nt_memory_fini(&again);
	free(twice);
	free(text);
}

static void check_choice(const struct nt_memory *memory)
{
	static struct nt_launch_choice choice;
	struct nt_launch_case launch = {
		.memory = { memory, memory }, .profiles = &profiles, .where = where, .job = 1
	};

	if (memory->entries > 0) {
		launch.where = memory->entry[0].where;
		launch.step = memory->entry[0].keys > 0 ? &memory->entry[0] : NULL;
	}
	nt_profile_select(&launch, &choice);
	FUZZ_CHECK(strcmp(choice.profile, NT_PROFILE_DEFAULT) == 0 ||
		   nt_profiles_find(&profiles, choice.profile) != NULL);
	FUZZ_CHECK(choice.count <= NT_PROFILES_MAX);
}

static void make_profiles(void)
{
	static const char text[] = "[wide]\nfabric=socket\nNCCL_SOCKET_NTHREADS=2\n"
				   "[channels]\nNCCL_MIN_NCHANNELS=8\n"
				   "[ib]\nfabric=ib\nNCCL_CROSS_NIC=1\n";

	nt_profiles_init(&profiles);
	FUZZ_CHECK(nt_profiles_parse(&profiles, "test", text, sizeof(text) - 1, NULL) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz in = { data, size };
	(void)fuzz_below(&in, 4);
	struct nt_memory memory;
	struct nt_error err;
	char *text;

	if (profiles.count == 0)
		make_profiles();
	if (in.left > BYTES)
		in.left = BYTES;
	text = fuzz_text(in.at, in.left);
	nt_memory_init(&memory);
	FUZZ_CHECK(nt_memory_read_text(&memory, text, in.left, &err) >= 0);
	for (size_t i = 0; i < memory.entries; i++)
		for (unsigned j = 0; j < memory.entry[i].keys; j++)
			FUZZ_CHECK(memory.entry[i].key[j].best.samples == 0 ||
				   memory.entry[i].key[j].best.p25_us > 0);
	nt_memory_sort(&memory, NOW_S);
	check_printed(&memory);
	check_choice(&memory);
	nt_memory_fini(&memory);
	free(text);
	return 0;
}

FUZZ_TEXT_TARGET(
	"{\"v\":1,\"host\":\"n1\",\"fingerprint\":\"00f3a0b1c2d3e4f5\",\"when\":1763769600}\n",
	"\"fingerprint\":\"00f3a0b1c2d3e4f5\"", "\"fabric\":\"socket\"", "\"nodes\":2",
	"\"per_node\":4", "\"profile\":\"wide\"", "\"profile\":\"default\"",
	"\"profile\":\"channels\"", "\"keys\":[", "\"AllReduce\"", "\"RING/SIMPLE\"", "\"AUTO\"",
	"\"periods\":[1.5,2]", "\"job\":", "\"step\":", "\"when\":", "\"asked\":true",
	"\"origin\":\"calibrate\"", "allreduce,", "ring,", "tree,", "simple,", "ll128,", "-1,",
	"\n", "#")
