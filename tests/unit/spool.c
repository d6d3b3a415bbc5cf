/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* The spool's files: valid, damaged, untrusted. */
#include "record/spool.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>
#include "lib/append.h"

#define WHOLE \
	"{\"v\":1,\"cluster\":\"c\",\"job\":12,\"step\":\"batch\",\"record\":\"{\\\"mode\\\":\\\"off\\\"}\"}\n"

static int make_spool(void **state)
{
	char path[] = "/tmp/nt-report-spool.XXXXXX";
	static int fd;

	if (!mkdtemp(path))
		return -1;
	fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	*state = &fd;
	return fd < 0 ? -1 : 0;
}

static const char *const names[] = { "12.0", "12.1", "12.1.tmp", ".12.2",
				     "link", "pipe", "loose",	 "two" };

static int remove_spool(void **state)
{
	int *fd = *state;
	char link[64], path[256];
	ssize_t bytes;

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		unlinkat(*fd, names[i], 0);
	snprintf(link, sizeof(link), "/proc/self/fd/%d", *fd);
	bytes = readlink(link, path, sizeof(path) - 1);
	if (bytes > 0) {
		path[bytes] = '\0';
		rmdir(path);
	}
	close(*fd);
	return 0;
}

static void put(int directory_fd, const char *name, const char *text)
{
	int fd = openat(directory_fd, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
	close(fd);
}

/* What a visit found, and what to do with it. */
struct seen {
	char log[1024];
	bool replace, remove;
};

static int see(void *argument, const struct nt_spooled *spooled, struct nt_error *err)
{
	struct seen *seen = argument;

	if (spooled->problem) {
		nt_append(seen->log, sizeof(seen->log), "%s: %s\n", spooled->name,
			  spooled->problem);
		return 0;
	}
	nt_append(seen->log, sizeof(seen->log), "%s: %s %" PRId64 " %s %s\n", spooled->name,
		  spooled->cluster, spooled->job, spooled->step, spooled->record);
	if (seen->replace) {
		assert_int_equal(unlinkat(spooled->directory_fd, spooled->name, 0), 0);
		put(spooled->directory_fd, spooled->name, WHOLE " ");
	}
	return seen->remove ? nt_spooled_remove(spooled, err) : 0;
}

static void visits_finished_files_in_order(void **state)
{
	const int fd = *(int *)*state;
	struct seen seen = { .log = "" };
	struct nt_error err;

	put(fd, "12.1", WHOLE);
	put(fd, "12.0", WHOLE);
	put(fd, "12.1.tmp", "{");
	put(fd, ".12.2", "{");
	assert_int_equal(nt_spooled_each(fd, see, &seen, &err), 0);
	assert_string_equal(
		seen.log,
		"12.0: c 12 batch {\"mode\":\"off\"}\n12.1: c 12 batch {\"mode\":\"off\"}\n");
}

static void distrusts_what_root_did_not_write(void **state)
{
	const int fd = *(int *)*state;
	struct seen seen = { .log = "" };
	struct nt_error err;

	put(fd, "loose", WHOLE);
	assert_int_equal(fchmodat(fd, "loose", 0620, 0), 0);
	assert_int_equal(symlinkat("loose", fd, "link"), 0);
	assert_int_equal(mkfifoat(fd, "pipe", 0600), 0);
	assert_int_equal(nt_spooled_each(fd, see, &seen, &err), 0);
	assert_string_equal(seen.log, "link: cannot open it: Too many levels of symbolic links\n"
				      "loose: another user owns it or may write it\n"
				      "pipe: not a plain file\n");
}

static void names_the_damage(void **state)
{
	static const struct {
		const char *text, *log;
	} cases[] = {
		{ "", "two: ends in the middle, after 0 bytes\n" },
		{ WHOLE WHOLE, "two: at byte 76: unexpected character\n" },
		{ "[]", "two: not an object\n" },
		{ "{\"v\":1,\"cluster\":\"c\",\"job\":12,\"step\":\"0\"}",
		  "two: record is missing\n" },
		{ "{\"v\":2,\"cluster\":\"c\",\"job\":12,\"step\":\"0\",\"record\":\"{}\"}",
		  "two: v is 2 (this nccl-tune reads version 1)\n" },
		{ "{\"v\":1,\"cluster\":\"a,b\",\"job\":12,\"step\":\"0\",\"record\":\"{}\"}",
		  "two: cluster is \"a,b\" (want a cluster's name)\n" },
		{ "{\"v\":1,\"cluster\":\"c\",\"job\":0,\"step\":\"0\",\"record\":\"{}\"}",
		  "two: job is 0 (want a job id)\n" },
		{ "{\"v\":1,\"cluster\":\"c\",\"job\":4294967296,\"step\":\"0\",\"record\":\"{}\"}",
		  "two: job is 4294967296 (want a job id)\n" },
		{ "{\"v\":1,\"cluster\":\"c\",\"job\":12,\"step\":\"x\",\"record\":\"{}\"}",
		  "two: step is \"x\" (want a number or batch)\n" },
		{ "{\"v\":1,\"cluster\":\"c\",\"job\":12,\"step\":\"0\",\"record\":\"{\"}",
		  "two: the record is not a JSON object\n" },
		{ "{\"v\":1,\"cluster\":\"c\",\"job\":12,\"step\":\"0\",\"record\":\"1 \"}",
		  "two: the record is not a JSON object\n" },
		{ "{\"v\":1,\"cluster\":\"c\",\"job\":12,\"step\":\"0\",\"record\":\"{}\\u0000\"}",
		  "two: the record has the byte 0x00 at 2\n" },
	};
	const int fd = *(int *)*state;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct seen seen = { .log = "" };
		struct nt_error err;

		put(fd, "two", cases[i].text);
		assert_int_equal(nt_spooled_each(fd, see, &seen, &err), 0);
		assert_string_equal(seen.log, cases[i].log);
	}
}

static void removes_only_what_was_read(void **state)
{
	const int fd = *(int *)*state;
	struct seen seen = { .log = "", .remove = true, .replace = true };
	struct nt_error err;

	put(fd, "12.0", WHOLE);
	assert_int_equal(nt_spooled_each(fd, see, &seen, &err), 0);
	assert_int_equal(faccessat(fd, "12.0", F_OK, 0), 0);
	seen.replace = false;
	assert_int_equal(nt_spooled_each(fd, see, &seen, &err), 0);
	assert_int_equal(faccessat(fd, "12.0", F_OK, 0), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(visits_finished_files_in_order, make_spool,
						remove_spool),
		cmocka_unit_test_setup_teardown(distrusts_what_root_did_not_write, make_spool,
						remove_spool),
		cmocka_unit_test_setup_teardown(names_the_damage, make_spool, remove_spool),
		cmocka_unit_test_setup_teardown(removes_only_what_was_read, make_spool,
						remove_spool),
	};

	return cmocka_run_group_tests_name("spool", tests, NULL, NULL);
}
