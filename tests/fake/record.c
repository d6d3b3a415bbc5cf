/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* nt-record - what tests without Slurm need of it: policies for tasks, and the record of a step
 *
 *  nt-record options          every setting with every other value that matters, one a line
 *  nt-record policy DIR OPTION  NCCL_TUNE_POLICY of the tasks of step 1.0 with that option; the
 *                             node's memory is the file DIR/shm
 *  nt-record put SHM TASK PID [KIND]  a process leaves stdin in the node's memory, a rank record
 *                             unless KIND has another number (contract/tray-layout.h). SHM: its
 *                             file, or a directory with it. The same PID writes again
 *  nt-record memory SHM       makes the node's memory
 *  nt-record claim SHM        a process that has started, without a record
 *  nt-record fill SHM         a process claims all trays that are free
 *  nt-record scribble SHM SECONDS  writes anything into all of them but the agreement
 *  nt-record list SHM [KIND]  the rank records there, one a line; of KIND 0: "TASK PID" of each
 *                             process with a tray; else the texts of that kind
 *  nt-record step SHM MODE [SHM]...  the step's record from the rank records there, of several
 *                             nodes where there are more, as nt-recordd makes it; how many there
 *                             were is said on stderr
 *  nt-record long SHM OUT     the part of a long form with those rank records, below OUT
 *  nt-record check SCHEMA FILE...  is the JSON in each of the files, one a line, what the schema
 *                             says?
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include "contract/policy.h"
#include "record/step.h"
#include "recordd/collect.h"
#include "recordd/longform.h"
#include "record/tray.h"
#include "spank/step/step-name.h"
#include "recordd/step-record.h"
#include "tests/lib/schema.h"

#define NODE "n1"

static int fail(const struct nt_error *err)
{
	fprintf(stderr, "nt-record: %s\n", err->text);
	return 1;
}

static uint32_t number_of(const char *text)
{
	return (uint32_t)strtoul(text, NULL, 10);
}

static int print_option(const struct nt_policy *policy)
{
	char text[NT_POLICY_MAX];

	if (nt_policy_format_option(policy, text, sizeof(text)) < 0)
		return 1;
	return puts(text) < 0;
}

/* All other words of a setting with words; another value of a number or a set. */
static int print_setting(size_t offset, const char *kind, int64_t min, int64_t max, int64_t value)
{
	bool words = strcmp(kind, "NT_ENUM") == 0;
	int64_t other = value > 0 ? value + value / 8 + 1 : max / 10;
	struct nt_policy policy;
	int rc = 0;

	if (strcmp(kind, "NT_SET") == 0)
		other = value & ~INT64_C(1); /* all except one */
	nt_policy_default(&policy);
	policy.mode = NT_MODE_BANDIT;
	if (strcmp(kind, "NT_NAME") == 0) {
		snprintf((char *)&policy + offset, NT_LAUNCH_NAME, "auto");
		return print_option(&policy);
	}
	for (int64_t v = words ? min : other; v <= (words ? max : other) && rc == 0; v++) {
		memcpy((char *)&policy + offset, &v, sizeof(v));
		if (v != value)
			rc = print_option(&policy);
	}
	return rc;
}

static int print_options(void)
{
	int rc = 0;

#define SETTING(key, member, kind, min, max, value, ...) \
	rc |= print_setting(offsetof(struct nt_policy, member), #kind, min, max, value);
	NT_SETTINGS(SETTING)
#undef SETTING
	return rc;
}

static int print_policy(const char *directory, const char *option)
{
	struct nt_node_step place = { .node = NODE, .fingerprint = 1, .job = 1, .step = 0 };
	char text[NT_POLICY_MAX];
	struct nt_policy policy;
	struct nt_error err;

	nt_policy_default(&policy);
	snprintf(place.shm, sizeof(place.shm), "%s/shm", directory);
	if (nt_policy_parse_option(&policy, option, &err) < 0 ||
	    nt_policy_format_task(&policy, &place, text, sizeof(text), &err) < 0)
		return fail(&err);
	return puts(text) < 0;
}

/* Open for life: the program ends. */
static int open_shm(const char *path, int flags)
{
	char inside[NT_PATH_MAX];
	struct stat status;
	int fd;

	snprintf(inside, sizeof(inside), "%s", path);
	if (stat(path, &status) == 0 && S_ISDIR(status.st_mode))
		snprintf(inside, sizeof(inside), "%s/shm", path);
	fd = open(inside, O_RDWR | O_CLOEXEC | flags, 0600);
	if (fd >= 0 && fstat(fd, &status) == 0 && status.st_size == 0 &&
	    ftruncate(fd, (off_t)NT_SHM_BYTES) < 0)
		return -1;
	return fd;
}

static struct nt_trays *map_trays(int fd, size_t bytes)
{
	void *trays = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, (off_t)NT_TRAYS_AT);

	return trays == MAP_FAILED ? NULL : trays;
}

/* Of a process that has one already. */
static int open_tray(struct nt_tray_out *out, int fd, enum nt_tray_kind kind, uint32_t pid)
{
	uint32_t index = 0;
	struct nt_trays *trays = map_trays(fd, sizeof(*trays));

	while (trays && index < NT_TRAYS && trays->owner[index] != pid)
		index++;
	if (!trays || index == NT_TRAYS)
		return nt_tray_open(out, fd, kind, "", pid);
	*out = (struct nt_tray_out){ .trays = trays, .index = index, .fd = fd };
	out->tray = mmap(NULL, NT_TRAY_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd,
			 (off_t)NT_TRAY_AT(index));
	return out->tray == MAP_FAILED ? -1 : 0;
}

static int put_text(const char *path, const char *task, const char *pid, const char *kind)
{
	static char text[NT_TRAY_TEXT + 1];
	const uint32_t number = number_of(pid);
	const size_t bytes = fread(text, 1, sizeof(text), stdin);
	struct nt_tray_out out;
	struct stat status;

	if (open_tray(&out, open_shm(path, O_CREAT), (enum nt_tray_kind)number_of(kind), number) <
		    0 ||
	    fstat(out.fd, &status) < 0)
		return 1;
	out.device = status.st_dev;
	out.inode = status.st_ino;
	out.tray->calls.task = number_of(task);
	out.tray->calls.pid = number;
	return nt_tray_put(&out, text, bytes) < 0;
}

static int fill(int fd)
{
	struct nt_trays *trays = map_trays(fd, sizeof(*trays));

	for (uint32_t i = 0; trays && i < NT_TRAYS; i++) {
		uint32_t nobody = 0;

		(void)atomic_compare_exchange_strong(&trays->owner[i], &nobody, 1);
	}
	return !trays;
}

static int scribble(int fd, unsigned seconds)
{
	const size_t bytes = NT_TRAY_AT(16) - NT_TRAYS_AT;
	uint8_t *at = (uint8_t *)map_trays(fd, bytes);

	if (!at)
		return 1;
	alarm(seconds);
	for (;;)
		at[(size_t)rand() * 8191 % bytes] = (uint8_t)rand();
}

static void print_item(void *argument, struct nt_collected *item)
{
	const int wanted = *(const int *)argument;

	if (wanted == 0 && item->kind == NT_COLLECTED_CALLS)
		puts(item->name);
	else if (wanted == 1 && item->kind == NT_COLLECTED_RECORD && item->text)
		printf("%s%s", item->text,
		       item->bytes > 0 && item->text[item->bytes - 1] == '\n' ? "" : "\n");
	else if (wanted > 1 && (int)item->kind == wanted && item->text)
		fwrite(item->text, 1, item->bytes, stdout);
}

static int list(const char *path, int wanted)
{
	const int fd = open_shm(path, 0);
	struct nt_error err;

	if (fd >= 0 && nt_collect_each(fd, print_item, &wanted, &err) < 0)
		return fail(&err);
	return fflush(stdout);
}

static void add_item(void *argument, struct nt_collected *item)
{
	nt_collect_add(argument, item, 1, 0);
}

static int print_step(const char *directory, const char *mode, char *const *others, int count)
{
	const struct nt_sum_head head = { .mode = mode,
					  .nodes = 1 + (uint32_t)count,
					  .final = true };
	char text[NT_STEP_RECORD_MAX + 1] = "";
	struct nt_error err;
	struct nt_sum sum;
	int rc;

	nt_sum_init(&sum);
	rc = nt_collect_each(open_shm(directory, 0), add_item, &sum, &err);
	for (int i = 0; i < count && rc == 0; i++)
		rc = nt_collect_each(open_shm(others[i], 0), add_item, &sum, &err);
	if (rc == 0 && nt_sum_format(&sum, &head, text, sizeof(text)) > 0)
		rc = nt_step_check(text, strlen(text), &err);
	fprintf(stderr, "%zu read, %zu unusable%s%s\n", sum.records, sum.unusable,
		sum.unusable ? ": " : "", sum.unusable_why.text);
	nt_sum_fini(&sum);
	return rc < 0 ? fail(&err) : puts(text) < 0;
}

static int write_long(const char *directory, const char *out)
{
	struct nt_arguments errand = {
		.job = 1, .component = NT_STEP_WHOLE, .nodes = 1, .long_mib = 16, .long_parents = 1
	};
	struct nt_ranks ranks = { .count = 0 };
	int rc;

	snprintf(errand.cluster, sizeof(errand.cluster), "nt");
	snprintf(errand.node, sizeof(errand.node), NODE);
	snprintf(errand.fingerprint, sizeof(errand.fingerprint), "0000000000000001");
	snprintf(errand.long_dir, sizeof(errand.long_dir), "%s", out);
	(void)nt_collect_each(open_shm(directory, 0), nt_ranks_keep, &ranks, NULL);
	nt_ranks_sort(&ranks);
	rc = nt_longform_write(&errand, true, &ranks, "", STDERR_FILENO);
	nt_ranks_fini(&ranks);
	return rc;
}

static int check_line(json_object *schema, const char *file, const char *line)
{
	json_object *value = json_tokener_parse(line);
	struct nt_error err = { "it is no JSON" };
	int rc = value ? nt_schema_check(schema, value, &err) : -1;

	if (rc < 0)
		fprintf(stderr, "nt-record: %s: %s\n", file, err.text);
	json_object_put(value);
	return rc;
}

static int check_file(json_object *schema, const char *path)
{
	FILE *file = fopen(path, "re");
	size_t room = 0, lines = 0;
	char *line = NULL;
	int rc = 0;

	while (file && getline(&line, &room, file) > 0) {
		lines++;
		rc |= check_line(schema, path, line);
	}
	if (lines == 0)
		fprintf(stderr, "nt-record: %s: there is nothing in it\n", path);
	free(line);
	if (file)
		fclose(file);
	return lines == 0 || rc != 0;
}

static int check(const char *schema_path, char *const *path, int count)
{
	struct nt_error err = { "" };
	json_object *schema = nt_schema_read(schema_path, &err);
	int rc = schema && count > 0 ? 0 : 1;

	for (int i = 0; schema && i < count; i++)
		rc |= check_file(schema, path[i]);
	json_object_put(schema);
	return rc;
}

int main(int argc, char *argv[])
{
	struct nt_tray_out out;

	if (argc == 2 && strcmp(argv[1], "options") == 0)
		return print_options();
	if (argc == 4 && strcmp(argv[1], "policy") == 0)
		return print_policy(argv[2], argv[3]);
	if ((argc == 5 || argc == 6) && strcmp(argv[1], "put") == 0)
		return put_text(argv[2], argv[3], argv[4], argc == 6 ? argv[5] : "1");
	if (argc == 3 && strcmp(argv[1], "memory") == 0)
		return open_shm(argv[2], O_CREAT) < 0;
	if (argc == 3 && strcmp(argv[1], "claim") == 0)
		return nt_tray_open(&out, open_shm(argv[2], 0), NT_TRAY_RANK, "", 1) < 0;
	if (argc == 3 && strcmp(argv[1], "fill") == 0)
		return fill(open_shm(argv[2], 0));
	if (argc == 4 && strcmp(argv[1], "scribble") == 0)
		return scribble(open_shm(argv[2], 0), number_of(argv[3]));
	if ((argc == 3 || argc == 4) && strcmp(argv[1], "list") == 0)
		return list(argv[2], argc == 4 ? (int)number_of(argv[3]) : 1);
	if (argc >= 4 && strcmp(argv[1], "step") == 0)
		return print_step(argv[2], argv[3], argv + 4, argc - 4);
	if (argc == 4 && strcmp(argv[1], "long") == 0)
		return write_long(argv[2], argv[3]);
	if (argc > 3 && strcmp(argv[1], "check") == 0)
		return check(argv[2], argv + 3, argc - 3);
	fprintf(stderr,
		"usage: nt-record options | policy DIR OPTION | put SHM TASK PID [KIND] | "
		"memory SHM | claim SHM | fill SHM | scribble SHM SECONDS | list SHM [KIND] | step SHM MODE [SHM]... | long SHM OUT | "
		"check SCHEMA FILE...\n");
	return 2;
}
