/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* Where a report looks for a job's long form. */
#include "report/longform.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>
#include "launch/records.h"
#include "record/longwrite.h"

static char top[64];

static int make_top(void **state)
{
	(void)state;
	snprintf(top, sizeof(top), "%s", "/tmp/nt-find.XXXXXX");
	if (!mkdtemp(top))
		return -1;
	unsetenv(NT_ENV_RECORD_DIR);
	setenv("NCCL_TUNE_MEMORY", top, 1);
	return 0;
}

static int remove_top(void **state)
{
	char command[128];

	(void)state;
	snprintf(command, sizeof(command), "rm -rf '%s'", top);
	return system(command);
}

/* A part of that node, below DIRECTORY/CLUSTER.12. */
static void save(const char *directory, const char *cluster, const char *node)
{
	struct nt_long_head head;
	struct nt_long_out out;
	struct nt_error err;
	char path[NT_LONG_PATH_MAX];
	int fd;

	snprintf(path, sizeof(path), "mkdir -p '%s/%s.12'", directory, cluster);
	assert_int_equal(system(path), 0);
	snprintf(path, sizeof(path), "%s/%s.12", directory, cluster);
	nt_fields_clear(&nt_long_fields, &head);
	head.version = NT_LONG_VERSION;
	snprintf(head.cluster, sizeof(head.cluster), "%s", cluster);
	head.job = 12;
	snprintf(head.step, sizeof(head.step), "0");
	snprintf(head.node, sizeof(head.node), "%s", node);
	head.final = true;
	assert_int_equal(nt_long_begin(&out, 1 << 16, &err), 0);
	assert_true(nt_long_add(&out, NT_LONG_FINGERPRINT, "\"ab\"", 4));
	fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_true(fd >= 0);
	assert_int_equal(nt_long_save(&out, fd, &head, &err), 0);
	close(fd);
	nt_long_end(&out);
}

static size_t found(const char *user)
{
	const struct nt_long_job job = { .job = 12, .user = user };
	struct nt_long_set set;
	size_t count;

	nt_long_set_init(&set);
	nt_long_find(&set, &job, NULL);
	count = set.count;
	nt_long_set_fini(&set);
	return count;
}

/* Just after a job's end accounting may name root, or nobody, as its user. */
static void who_asks_finds_it_whomever_accounting_names(void **state)
{
	static const char *const users[] = { NULL, "", "root", "nobody", "no such user" };
	char records[NT_LONG_PATH_MAX];

	(void)state;
	for (size_t i = 0; i < sizeof(users) / sizeof(users[0]); i++)
		assert_int_equal(found(users[i]), 0);
	/* Beside the memory. */
	snprintf(records, sizeof(records), "%s/own", top);
	setenv("NCCL_TUNE_MEMORY", records, 1);
	snprintf(records, sizeof(records), "%s/records", top);
	save(records, NT_CLUSTER_UNKNOWN, "n1");
	for (size_t i = 0; i < sizeof(users) / sizeof(users[0]); i++)
		assert_int_equal(found(users[i]), 1);
	/* Where the variable says. */
	snprintf(records, sizeof(records), "%s/elsewhere", top);
	setenv(NT_ENV_RECORD_DIR, records, 1);
	save(records, NT_CLUSTER_UNKNOWN, "n2");
	for (size_t i = 0; i < sizeof(users) / sizeof(users[0]); i++)
		assert_int_equal(found(users[i]), 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(who_asks_finds_it_whomever_accounting_names,
						make_top, remove_top),
	};

	return cmocka_run_group_tests_name("report-longform", tests, NULL, NULL);
}
