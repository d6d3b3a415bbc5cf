/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* Steps in a memory on disk, and its results. */
#include "recordd/remember.h"

#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include "tests/lib/unit.h"
#include "launch/memory-store.h"
#include "recordd/collect.h"
#include "recordd/step-record.h"
#include "tests/unit/sanitized.h"
#include "tests/unit/scratch.h"

#define RECORD                                                                                               \
	"{\"v\":1,\"job\":12,\"step\":0,\"node\":\"n1\",\"nccl\":22809,\"comms\":[{\"id\":\"a\",\"rank\":0," \
	"\"ranks\":4,\"nodes\":4,\"state\":\"agreed\",\"alike\":true,\"keys\":[{\"coll\":\"AllReduce\","     \
	"\"bytes\":262144,\"state\":\"kept\",\"auto\":\"RING/SIMPLE\",\"best\":\"TREE/SIMPLE\",\"us\":[90]," \
	"\"p25_us\":[80],\"p75_us\":[100],\"samples\":24,\"calls\":1000}]}]}"

static struct nt_error err;

static struct nt_ticket ticket_of(const char *profile, bool asked)
{
	struct nt_ticket ticket = { .why = asked ? NT_WHY_ASKED : NT_WHY_GAIN };

	snprintf(ticket.profile, sizeof(ticket.profile), "%s", profile);
	snprintf(ticket.program, sizeof(ticket.program), "train.py");
	snprintf(ticket.memory, sizeof(ticket.memory), "%s/memory", top);
	return ticket;
}

static struct nt_arguments errand_of(uint32_t job, uint32_t step)
{
	struct nt_arguments errand = { .job = job,
				       .step = step,
				       .tasks = 4,
				       .nodes = 4,
				       .here = 1,
				       .fingerprint = "00f3000000000001",
				       .hosts = "n[1-3,9]" };

	return errand;
}

/* A step whose program steps took about so long. */
static struct nt_step_memory remember(const struct nt_arguments *errand,
				      const struct nt_ticket *ticket, float period_us)
{
	struct nt_rank_marker marker = {
		.coll = NT_ALLREDUCE, .bytes = 1048576, .ranks = 4, .calls = 40, .periods = 40
	};
	struct nt_step_memory out;
	struct nt_sum sum;

	nt_sum_init(&sum);
	assert_int_equal(nt_sum_add_record(&sum, RECORD, strlen(RECORD), 12, 0, &err), 0);
	snprintf(sum.launch.text, sizeof(sum.launch.text), "%s", ticket->profile);
	for (unsigned i = 0; i < 40; i++)
		marker.period_us[i] = (double)(period_us * (1 + 0.001F * (float)((i * 7) % 10)));
	nt_sum_add_marker(&sum, &marker, 0);
	nt_step_remember(&sum, errand, ticket, NULL, &out);
	nt_sum_fini(&sum);
	return out;
}

static struct nt_step_memory step_with(uint32_t job, uint32_t step, const char *profile, bool asked,
				       float period_us)
{
	struct nt_arguments errand = errand_of(job, step);
	struct nt_ticket ticket = ticket_of(profile, asked);

	return remember(&errand, &ticket, period_us);
}

static void read_memory(struct nt_memory *memory)
{
	char path[128];

	nt_memory_init(memory);
	snprintf(path, sizeof(path), "%s/memory", top);
	assert_int_equal(nt_store_read(path, memory, (int64_t)time(NULL), &err), 0);
	assert_int_equal(memory->skipped_lines + memory->skipped_files, 0);
}

static void a_step_and_its_hosts_are_remembered(void **state)
{
	struct nt_step_memory out = step_with(12, 0, "default", false, 1000);
	struct nt_memory memory;

	assert_false(out.failed);
	assert_string_equal(out.remark, "");
	assert_true(out.measured == 0);
	read_memory(&memory);
	assert_int_equal(memory.entries, 1);
	assert_int_equal(memory.entry[0].periods, 40);
	assert_int_equal(memory.entry[0].keys, 1);
	assert_int_equal(memory.hosts, 4);
	assert_int_equal(nt_memory_host(&memory, "n9"), 0xf3000000000001);
	assert_int_equal(nt_memory_host(&memory, "n4"), 0);
	nt_memory_fini(&memory);
}

/* 1.00 to 0.60, to 1.60, and again. */
static void steps_are_compared_with_the_default(void **state)
{
	struct nt_step_memory out;

	(void)step_with(12, 0, "default", false, 1000);
	out = step_with(12, 1, "wide", true, 600);
	assert_true(out.measured > 1.66 && out.measured < 1.67);
	assert_string_equal(out.remark, "");
	out = step_with(12, 2, "threads", true, 1600);
	assert_true(out.measured > 0.62 && out.measured < 0.63);
	assert_string_equal(out.remark, "launch profile threads was 60 % slower than the default; "
					"not used before it is calibrated again");
	out = step_with(12, 3, "wide", false, 1600);
	assert_string_equal(out.remark, "launch profile wide was 60 % slower than the default; "
					"not used before it is calibrated again");
	out = step_with(13, 0, "wide", false, 1600);
	assert_non_null(strstr(out.remark, " slower than the default; not used before"));
	out = step_with(14, 0, "default", false, 1000);
	assert_true(out.measured == 0);
}

static void a_list_of_other_hosts_says_nothing(void **state)
{
	static const char *const lists[] = { "n[1-3]", "-", "n[1-", "n[1-99999999]" };
	struct nt_ticket ticket = ticket_of("default", false);
	struct nt_arguments errand;
	struct nt_memory memory;

	for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++) {
		errand = errand_of(12, (uint32_t)i);
		snprintf(errand.hosts, sizeof(errand.hosts), "%s", lists[i]);
		assert_false(remember(&errand, &ticket, 1000).failed);
	}
	read_memory(&memory);
	assert_int_equal(memory.entries, 4);
	assert_int_equal(memory.hosts, 0);
	nt_memory_fini(&memory);
}

/* A long list is written once, not with every step. */
static void many_hosts_are_written_once(void **state)
{
	struct nt_ticket ticket = ticket_of("default", false);
	char command[160];

	for (uint32_t step = 0; step < 3; step++) {
		struct nt_arguments errand = errand_of(12, step);
		struct nt_memory memory;

		errand.nodes = errand.tasks = 4 * NT_REMEMBER_HOSTS;
		snprintf(errand.hosts, sizeof(errand.hosts), "n[1-%u]", errand.nodes);
		/* As many nodes as the communicator has. */
		{
			struct nt_comm_seen comm = { .id = "b",
						     .ranks = errand.tasks,
						     .nodes = errand.nodes,
						     .alike = true };
			struct nt_key key = { .coll = NT_ALLREDUCE,
					      .state = NT_KEYSTATE_KEPT,
					      .auto_p25_us = 1,
					      .auto_us = 1,
					      .auto_p75_us = 1,
					      .samples = 9,
					      .calls = 9 };
			struct nt_step_memory out;
			struct nt_sum sum;

			comm.keys = &key;
			comm.key_count = 1;
			nt_sum_init(&sum);
			sum.records = 1;
			assert_int_equal(nt_sum_add(&sum, &comm, 0, 0), 0);
			nt_step_remember(&sum, &errand, &ticket, NULL, &out);
			assert_string_equal(out.remark, "");
			nt_sum_fini(&sum);
		}
		read_memory(&memory);
		assert_int_equal(memory.entries, step + 1);
		assert_int_equal(memory.hosts, errand.nodes);
		nt_memory_fini(&memory);
	}
	snprintf(command, sizeof(command), "test $(cat %s/memory/*.jsonl | grep -c host) = %u", top,
		 4 * NT_REMEMBER_HOSTS);
	assert_int_equal(system(command), 0);
}

static void what_cannot_be_written_is_said(void **state)
{
	struct nt_arguments errand = errand_of(12, 0);
	struct nt_ticket ticket = ticket_of("default", false);
	struct nt_step_memory out;
	FILE *file;
	char path[128];

	snprintf(path, sizeof(path), "%s/memory", top);
	file = fopen(path, "w"); /* a file, where a directory should be */
	assert_non_null(file);
	fclose(file);
	out = remember(&errand, &ticket, 1000);
	assert_true(out.failed);
	assert_non_null(strstr(out.remark, "its measurements could not be remembered: "));
	assert_non_null(strstr(out.remark, "Not a directory"));
	errand.tasks = 5;
	out = remember(&errand, &ticket, 1000);
	assert_false(out.failed);
	assert_string_equal(out.remark,
			    "its measurements are not remembered: its tasks or ranks are not "
			    "spread evenly over its nodes");
}

UNIT_TESTS_EACH(make_top, remove_top, a_step_and_its_hosts_are_remembered,
		steps_are_compared_with_the_default, a_list_of_other_hosts_says_nothing,
		many_hosts_are_written_once, what_cannot_be_written_is_said);
