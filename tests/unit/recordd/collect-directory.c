/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* The directory of a step: its possible content when records are read. */
#include "recordd/collect.h"

#include <stdbool.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>
#include "tests/lib/unit.h"
#include "recordd/step-record.h"
#include "contract/names.h"
#include "record/step.h"
#include "tests/unit/scratch.h"

static const char good[] =
	"{\"v\":1,\"job\":12,\"step\":0,\"nccl\":22809,\"comms\":[{\"id\":\"a\",\"rank\":0,\"ranks\":8,"
	"\"nodes\":2,\"state\":\"agreed\",\"why\":\"\",\"keys\":[{\"coll\":\"AllReduce\",\"bytes\":262144,"
	"\"state\":\"committed\",\"auto\":\"RING/SIMPLE\",\"arm\":\"TREE/SIMPLE\",\"us\":[280.1,173.2],"
	"\"calls\":10000}]}]}";

static const char good_text[] =
	"{\"mode\":\"bandit\",\"nccl\":\"2.28.9\",\"ranks\":8,\"nodes\":2,\"heard\":1,\"8r2n\":{\"AllReduce 256K\":{"
	"\"auto\":\"RING/SIMPLE\",\"arm\":\"TREE/SIMPLE\",\"us\":[280.1,173.2],\"calls\":10000}},"
	"\"why\":[\"unusable:7:rank.(')/?.json: it is not JSON of at most 262144 bytes\"]}";

static void garbage_in_the_directory(void **state)
{
	const struct nt_sum_head head = { .mode = "bandit", .tasks = 8, .nodes = 2, .final = true };
	char *big = calloc(1, NT_RANK_RECORD_MAX + 1);
	char out[NT_STEP_RECORD_MAX + 1];
	char path[256];
	struct nt_error err;
	struct nt_sum sum;

	write_file("rank.0.1.json", good, strlen(good));
	write_file("rank.1.2.json.tmp", good, 7);
	write_file("shm.1", "x", 1);
	write_file("rank.2.3.json", "\0\1\2\3", 4);
	write_file("rank.3.4.json", big, NT_RANK_RECORD_MAX + 1);
	write_file("rank.3.5.json", big, NT_RANK_RECORD_MAX);
	write_file("rank.{\"}\\\n.json", "{", 1);
	snprintf(path, sizeof(path), "%s/rank.4.5.json", top);
	assert_int_equal(symlink("/etc/shadow", path), 0);
	snprintf(path, sizeof(path), "%s/rank.5.6.json", top);
	assert_int_equal(mkfifo(path, 0600), 0);
	snprintf(path, sizeof(path), "%s/rank.6.7.json", top);
	assert_int_equal(mkdir(path, 0700), 0);
	nt_sum_init(&sum);
	assert_int_equal(nt_collect_directory(&sum, top, 12, 0, &err), 0);
	assert_int_equal(sum.records, 1);
	assert_int_equal(sum.unusable, 7);
	assert_true(nt_sum_format(&sum, &head, out, sizeof(out)) > 0);
	assert_int_equal(nt_step_check(out, strlen(out), &err), 0);
	assert_string_equal(out, good_text);
	nt_sum_fini(&sum);
	free(big);
}

static void no_directory_is_an_error(void **state)
{
	char path[128];
	struct nt_error err;
	struct nt_sum sum;

	nt_sum_init(&sum);
	snprintf(path, sizeof(path), "%s/none", top);
	assert_int_equal(nt_collect_directory(&sum, path, 12, 0, &err), -1);
	assert_int_equal(symlink(top, path), 0);
	assert_int_equal(nt_collect_directory(&sum, path, 12, 0, &err), -1);
	nt_sum_fini(&sum);
}

/* When records must be read again. */
static void records_that_changed_are_seen(void **state)
{
	char path[128];
	uint64_t none, one, two;

	none = nt_collect_signature(top);
	write_file("news.tmp", "x", strlen("x"));
	assert_true(nt_collect_signature(top) == none);
	write_file("rank.0.1.json", "x", strlen("x"));
	one = nt_collect_signature(top);
	assert_true(one != none);
	assert_true(nt_collect_signature(top) == one);
	write_file("rank.1.2.json", "x", strlen("x"));
	two = nt_collect_signature(top);
	assert_true(two != one);
	write_file("rank.1.2.json", "longer", strlen("longer"));
	assert_true(nt_collect_signature(top) != two);
	snprintf(path, sizeof(path), "%s/rank.1.2.json", top);
	assert_int_equal(unlink(path), 0);
	assert_true(nt_collect_signature(top) == one);
	write_file(NT_SHM_FILE ".1", "x", strlen("x"));
	assert_true(nt_collect_signature(top) != one);
	assert_true(nt_collect_signature("/nonexistent") == 0);
}

/* With the user's rights, because the user's file system may not respond. */
static void what_is_mounted_on_it_is_not_entered(void **state)
{
	if (geteuid() != 0 || unshare(CLONE_NEWNS) < 0 ||
	    mount(NULL, "/", NULL, MS_PRIVATE | MS_REC, NULL) < 0 ||
	    mount("over", top, "tmpfs", 0, NULL) < 0)
		skip();
	write_file("rank.0.1.json", "x", strlen("x"));
	assert_true(nt_collect_signature(top) == 0);
	assert_int_equal(umount(top), 0);
}

UNIT_TESTS_EACH(make_top, remove_top, garbage_in_the_directory, no_directory_is_an_error,
		records_that_changed_are_seen, what_is_mounted_on_it_is_not_entered);
