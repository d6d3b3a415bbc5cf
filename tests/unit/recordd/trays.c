/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* What processes leave in the node's memory, and what a reader makes of it, whatever is there. */
#include "record/tray.h"

#include <stdbool.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include "tests/lib/unit.h"
#include "contract/names.h"
#include "record/step.h"
#include "recordd/collect.h"
#include "recordd/step-record.h"
#include "spank/step/shm-fd.h"

static int fd;

static int make_memory(void **state)
{
	struct nt_error err;

	(void)state;
	fd = nt_shm_fd_make(getuid(), getgid(), "n1", 12, 0, &err);
	return fd < 0;
}

static int close_memory(void **state)
{
	(void)state;
	return close(fd);
}

static void put(enum nt_tray_kind kind, uint32_t pid, const char *text, size_t bytes)
{
	struct nt_tray_out out;

	assert_int_equal(nt_tray_open(&out, fd, kind, "", pid), 0);
	out.tray->calls.task = pid - 1;
	out.tray->calls.pid = pid;
	assert_int_equal(nt_tray_put(&out, text, bytes), 0);
	nt_tray_close(&out);
}

/* ---- what a visitor sees */

static struct {
	size_t records, texts, troubles, calls, others;
	char text[64], why[160];
} seen;

static void see(void *argument, struct nt_collected *item)
{
	(void)argument;
	if (item->kind == NT_COLLECTED_CALLS) {
		seen.calls++;
		return;
	}
	seen.records += item->kind == NT_COLLECTED_RECORD;
	seen.others += item->kind != NT_COLLECTED_RECORD;
	seen.texts += item->text != NULL;
	seen.troubles += item->text == NULL;
	if (item->text)
		snprintf(seen.text, sizeof(seen.text), "%s", item->text);
	else
		snprintf(seen.why, sizeof(seen.why), "%.150s", item->why.text);
}

static void look(void)
{
	struct nt_error err = { "" };

	memset(&seen, 0, sizeof(seen));
	if (nt_collect_each(fd, see, NULL, &err) < 0)
		fail_msg("%s", err.text);
}

/* ---- writing */

static void the_newest_text_counts(void **state)
{
	struct nt_tray_out out;
	uint64_t changes;

	assert_true(nt_shm_fd_changes(fd) == 0);
	assert_int_equal(nt_tray_open(&out, fd, NT_TRAY_RANK, "", 7), 0);
	look();
	assert_int_equal(seen.records, 0); /* it has not written yet */
	assert_int_equal(seen.calls, 1);
	for (int i = 0; i < 5; i++) {
		char text[16];

		snprintf(text, sizeof(text), "text %d", i);
		changes = nt_shm_fd_changes(fd);
		assert_int_equal(nt_tray_put(&out, text, strlen(text)), 0);
		assert_true(nt_shm_fd_changes(fd) != changes);
		look();
		assert_string_equal(seen.text, text);
		assert_int_equal(seen.texts, 1);
	}
	assert_int_equal(nt_tray_put(&out, "", NT_TRAY_TEXT + 1), -1);
	nt_tray_close(&out);
	assert_int_equal(nt_tray_put(&out, "x", 1), -1);
	look();
	assert_string_equal(seen.text, "text 4");
}

/* It is killed after a part of the text. */
static void a_text_that_is_not_finished_is_not_seen(void **state)
{
	struct nt_tray_out out;

	assert_int_equal(nt_tray_open(&out, fd, NT_TRAY_RANK, "", 7), 0);
	assert_int_equal(nt_tray_put(&out, "whole", 5), 0);
	out.tray->bytes[0] = 3;
	memcpy((char *)out.tray + NT_TRAY_ALIGN, "torn", 4);
	look();
	assert_string_equal(seen.text, "whole");
	nt_tray_close(&out);
}

/* While a process writes as fast as it can. */
static void no_text_is_torn(void **state)
{
	static char a[40000], text[sizeof(a) + 1];
	unsigned whole = 0;
	pid_t writer = fork();

	memset(a, 'a', sizeof(a));
	if (writer == 0) {
		struct nt_tray_out out;

		if (nt_tray_open(&out, fd, NT_TRAY_RANK, "", 7) < 0)
			_exit(1);
		for (unsigned i = 0; i < 100000; i++) {
			memset(text, 'a' + (int)(i % 26), sizeof(a));
			(void)nt_tray_put(&out, text, sizeof(a) - i % 100);
		}
		_exit(0);
	}
	for (int i = 0; i < 300; i++) {
		look();
		assert_true(seen.texts <= 1);
		whole += seen.texts > 0;
		for (size_t c = 1; seen.texts > 0 && seen.text[c]; c++)
			assert_int_equal(seen.text[c], seen.text[0]);
	}
	kill(writer, SIGKILL);
	waitpid(writer, NULL, 0);
	look();
	assert_int_equal(seen.texts, 1);
	assert_true(whole > 0);
}

static void who_finds_no_tray_is_counted(void **state)
{
	struct nt_trays *trays = mmap(NULL, sizeof(*trays), PROT_READ | PROT_WRITE, MAP_SHARED, fd,
				      (off_t)NT_TRAYS_AT);
	struct nt_tray_out out;
	struct nt_sum sum;

	assert_true(trays != MAP_FAILED);
	put(NT_TRAY_RANK, 1, "{", 1);
	for (int i = 1; i < NT_TRAYS; i++)
		trays->owner[i] = 1;
	for (int i = 0; i < 3; i++)
		assert_int_equal(nt_tray_open(&out, fd, NT_TRAY_RANK, "", 9), -1);
	assert_int_equal(nt_tray_put(&out, "x", 1), -1);
	look();
	assert_int_equal(seen.troubles, 3);
	assert_string_equal(seen.why, "no room for its record in the node's memory");
	nt_sum_init(&sum);
	nt_collect_add(&sum, &(struct nt_collected){ .why = { "no room" } }, 12, 0);
	assert_int_equal(sum.unusable, 1);
	nt_sum_fini(&sum);
	munmap(trays, sizeof(*trays));
}

/* The program has closed it, and the number is that of a file of its own. */
static void no_other_file_is_written(void **state)
{
	const int other = memfd_create("other", MFD_CLOEXEC);
	struct nt_tray_out out;
	struct stat status;

	assert_int_equal(nt_tray_open(&out, other, NT_TRAY_RANK, "", 1), -1);
	assert_int_equal(nt_tray_open(&out, -1, NT_TRAY_RANK, "", 1), -1);
	assert_int_equal(nt_tray_open(&out, fd, NT_TRAY_RANK, "", 1), 0);
	out.fd = other;
	assert_int_equal(nt_tray_put(&out, "x", 1), -1);
	assert_int_equal(fstat(other, &status), 0);
	assert_int_equal(status.st_size, 0);
	nt_tray_close(&out);
	close(other);
}

/* Only what was written has memory, and reading takes none. */
static void memory_is_sparse(void **state)
{
	struct stat status;

	put(NT_TRAY_RANK, 1, "x", 1);
	look();
	assert_int_equal(fstat(fd, &status), 0);
	assert_int_equal(status.st_size, NT_SHM_BYTES);
	assert_true(status.st_blocks * 512 <= 4 * NT_TRAY_ALIGN);
}

/* ---- reading */

static const char good[] =
	"{\"v\":1,\"job\":12,\"step\":0,\"nccl\":22809,\"comms\":[{\"id\":\"a\",\"rank\":0,\"ranks\":8,"
	"\"nodes\":2,\"state\":\"agreed\",\"why\":\"\",\"keys\":[{\"coll\":\"AllReduce\",\"bytes\":262144,"
	"\"state\":\"committed\",\"auto\":\"RING/SIMPLE\",\"arm\":\"TREE/SIMPLE\",\"us\":[280.1,173.2],"
	"\"calls\":10000}]}]}";

static const char good_text[] =
	"{\"mode\":\"bandit\",\"nccl\":\"2.28.9\",\"ranks\":8,\"nodes\":2,\"heard\":1,\"8r2n\":{\"AllReduce 256K\":{"
	"\"auto\":\"RING/SIMPLE\",\"arm\":\"TREE/SIMPLE\",\"us\":[280.1,173.2],\"calls\":10000}},"
	"\"why\":[\"unusable:3:1.2: it is not JSON of at most 262144 bytes\"]}";

static void add(void *sum, struct nt_collected *item)
{
	nt_collect_add(sum, item, 12, 0);
}

static void garbage_among_the_records(void **state)
{
	const struct nt_sum_head head = { .mode = "bandit", .tasks = 8, .nodes = 2, .final = true };
	char *big = calloc(1, NT_RANK_RECORD_MAX + 1);
	char out[NT_STEP_RECORD_MAX + 1];
	struct nt_error err;
	struct nt_sum sum;

	put(NT_TRAY_RANK, 1, good, strlen(good));
	put(NT_TRAY_RANK, 2, "\0\1\2\3", 4);
	put(NT_TRAY_RANK, 3, big, NT_RANK_RECORD_MAX + 1);
	put(NT_TRAY_RANK, 4, big, NT_RANK_RECORD_MAX);
	put((enum nt_tray_kind)77, 6, good, strlen(good));
	nt_sum_init(&sum);
	assert_int_equal(nt_collect_each(fd, add, &sum, &err), 0);
	assert_int_equal(sum.records, 1);
	assert_int_equal(sum.unusable, 3);
	assert_true(sum.started);
	assert_true(nt_sum_format(&sum, &head, out, sizeof(out)) > 0);
	assert_int_equal(nt_step_check(out, strlen(out), &err), 0);
	assert_string_equal(out, good_text);
	nt_sum_fini(&sum);
	free(big);
}

/* Any bytes anywhere, and writers that never rest. */
static void anything_can_be_read(void **state)
{
	const size_t bytes = NT_TRAY_AT(3) - NT_TRAYS_AT;
	uint8_t *map = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd,
			    (off_t)NT_TRAYS_AT);

	assert_true(map != MAP_FAILED);
	for (unsigned round = 0; round < 40; round++) {
		for (size_t i = 0; i < NT_TRAY_ALIGN + sizeof(struct nt_tray); i++)
			map[i] = round == 0 ? 0xff : (uint8_t)rand();
		/* Not thousands of trays in each round. */
		memset(map + offsetof(struct nt_trays, owner) + 12, 0,
		       sizeof(struct nt_trays) - offsetof(struct nt_trays, owner) - 12);
		*(uint32_t *)(void *)(map + NT_TRAY_ALIGN) = round % 6;
		look();
	}
	munmap(map, bytes);
}

/* In all trays, so fast that no copy is whole. */
static void writers_that_never_rest_are_given_up(void **state)
{
	const size_t bytes = NT_SHM_BYTES - NT_TRAYS_AT;
	char *map = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd,
			 (off_t)NT_TRAYS_AT);
	struct nt_trays *trays = (void *)map;
	struct stat status;
	pid_t writer;

	assert_true(map != MAP_FAILED);
	for (uint32_t i = 0; i < NT_TRAYS; i++) {
		struct nt_tray *tray = (void *)(map + NT_TRAY_AT(i) - NT_TRAYS_AT);

		trays->owner[i] = 1;
		tray->kind = NT_TRAY_GRAPHS;
		tray->bytes[0] = tray->bytes[1] = NT_TRAY_TEXT;
		tray->written = 2;
	}
	writer = fork();
	for (uint32_t i = 0; writer == 0; i = (i + 1) % NT_TRAYS) {
		struct nt_tray *tray = (void *)(map + NT_TRAY_AT(i) - NT_TRAYS_AT);

		tray->written++;
	}
	look();
	kill(writer, SIGKILL);
	waitpid(writer, NULL, 0);
	assert_string_equal(seen.why, "too many records to sum up");
	assert_true(seen.texts + seen.troubles <= NT_COLLECT_BYTES / NT_TRAY_TEXT + 2);
	assert_int_equal(fstat(fd, &status), 0);
	assert_true(status.st_blocks * 512 <= 2 * NT_TRAY_ALIGN + NT_TRAYS * 4096L);
	munmap(map, bytes);
}

static void no_memory_is_an_error(void **state)
{
	const int other = memfd_create("other", MFD_CLOEXEC);
	struct nt_error err;

	assert_int_equal(nt_collect_each(-1, see, NULL, &err), -1);
	assert_int_equal(nt_collect_each(other, see, NULL, &err), -1);
	assert_true(nt_shm_fd_changes(-1) == 0 && nt_shm_fd_changes(other) == 0);
	close(other);
}

UNIT_TESTS_EACH(make_memory, close_memory, the_newest_text_counts,
		a_text_that_is_not_finished_is_not_seen, no_text_is_torn,
		who_finds_no_tray_is_counted, no_other_file_is_written, memory_is_sparse,
		garbage_among_the_records, anything_can_be_read,
		writers_that_never_rest_are_given_up, no_memory_is_an_error);
