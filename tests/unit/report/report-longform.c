/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* Where a report searches for a job's long form. */
#include "report/model/longform-search.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include "tests/lib/unit.h"
#include "launch/record-dir.h"
#include "record/longwrite.h"
#include "tests/unit/scratch.h"

static int make(void **state)
{
	int rc = make_top(state);

	unsetenv(NT_ENV_RECORD_DIR);
	setenv("NCCL_TUNE_MEMORY", top, 1);
	return rc;
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
		assert_int_equal(found(users[i]), 1);
}

/* A run that wrote nothing does not show the one before it. */
static void the_run_is_what_accounting_says(void **state)
{
	struct nt_long_job job = { .job = 12 };
	char records[NT_LONG_PATH_MAX];
	struct nt_long_set set;

	snprintf(records, sizeof(records), "%s/elsewhere", top);
	setenv(NT_ENV_RECORD_DIR, records, 1);
	save(records, NT_CLUSTER_UNKNOWN, "n1");
	for (job.run = 0; job.run < 2; job.run++) {
		nt_long_set_init(&set);
		nt_long_find(&set, &job, NULL);
		assert_int_equal(set.count, job.run == 0);
		nt_long_set_fini(&set);
	}
}

UNIT_TESTS_EACH(make, remove_top, who_asks_finds_it_whomever_accounting_names,
		the_run_is_what_accounting_says);
