/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* The long form: its state in nt-recordd and its path in the step's record; the node's part, with
 * the user's rights; the user's directory, as root. */
#include "recordd/longform.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include "lib/array.h"
#include "lib/printable.h"
#include "record/longwrite.h"
#include "record/step.h"
#include "spank/step/step-name.h"

#define PART_MAX ((size_t)16 << 20)
#define PART_MIN ((size_t)32 << 10)
#define TRIM_STEPS 16 /* a job with many steps trims the directory once in so many */
#define DIR_FLAGS (O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)

bool nt_longform_wanted(const struct nt_arguments *arguments)
{
	return arguments->long_mib > 0 && arguments->long_dir[0] == '/';
}

bool nt_longform_of_nodes(const struct nt_arguments *arguments)
{
	return arguments->nodes > 1 && arguments->nodes <= NT_LONGFORM_NODES &&
	       arguments->hosts[0] != '-' && nt_longform_wanted(arguments);
}

bool nt_longform_due(const struct nt_longform *longform, uint64_t changes, int64_t now_ms)
{
	return nt_longform_wanted(longform->arguments) && longform->stage == NT_LONGFORM_ENDED &&
	       changes != 0 && changes != longform->changes && now_ms >= longform->next_ms;
}

void nt_longform_begin(struct nt_longform *longform, uint64_t changes, int64_t now_ms)
{
	longform->stage = NT_LONGFORM_BEGUN;
	longform->next_ms = now_ms + NT_LONGFORM_EVERY_MS;
	longform->changes = changes;
}

bool nt_longform_take_byte(struct nt_longform *longform, char byte)
{
	if (byte == NT_LONGSAY_READ)
		longform->stage = NT_LONGFORM_READ;
	else if (byte == NT_LONGSAY_PLACED)
		longform->stage = NT_LONGFORM_PLACED;
	return byte == NT_LONGSAY_READ || byte == NT_LONGSAY_PLACED;
}

static void take_byte(struct nt_longform *longform, char byte, const char *why)
{
	longform->written = longform->written || byte == NT_LONGSAY_WRITTEN;
	longform->why[0] = '\0';
	if (byte != NT_LONGSAY_WRITTEN && byte != NT_LONGSAY_NOTHING)
		snprintf(longform->why, sizeof(longform->why), "%.*s",
			 (int)sizeof(longform->why) - 1, why[0] ? why : "its process ended early");
	nt_printable(longform->why);
}

void nt_longform_end(struct nt_longform *longform, const struct nt_work_result *result)
{
	if (result->bytes > 0)
		take_byte(longform, result->out[0], result->out + 1);
	else
		take_byte(longform, '\0', result->why ? result->why : "");
	longform->stage = NT_LONGFORM_ENDED;
}

/* ---- in the step's record */

int nt_longform_directory(const struct nt_arguments *arguments, char *out, size_t out_bytes)
{
	char job[NT_LONG_NAME_MAX];
	int bytes;

	nt_long_job_name(job, arguments->cluster, arguments->job);
	bytes = snprintf(out, out_bytes, "%s/%s", arguments->long_dir, job);
	return bytes > 0 && (size_t)bytes < out_bytes ? bytes : -1;
}

#define FRAME sizeof(",\"" NT_STEP_LONG "\":\"\"")

size_t nt_longform_reserve(const struct nt_arguments *arguments)
{
	char directory[NT_STEP_LONG_MAX];
	int bytes = nt_longform_directory(arguments, directory, sizeof(directory));

	if (!nt_longform_wanted(arguments) || bytes < 0)
		return 0;
	return (size_t)bytes + FRAME;
}

/* Adds a member to the object, if it has room for one, and if value is plain text. */
static void add_member(char *record, size_t record_bytes, const char *name, const char *value)
{
	size_t used = strlen(record);
	size_t bytes = strlen(name) + strlen(value) + sizeof(",\"\":\"\"}");

	if (used < 2 || record[used - 1] != '}' || used - 1 + bytes > record_bytes ||
	    strpbrk(value, "\"\\{}"))
		return;
	snprintf(record + used - 1, bytes, ",\"%s\":\"%s\"}", name, value);
}

void nt_longform_tell(const struct nt_longform *longform, char *record, size_t record_bytes)
{
	char text[NT_STEP_LONG_MAX];

	if (longform->why[0])
		snprintf(text, sizeof(text), "%s", longform->why);
	else if (longform->arguments->long_mib > 0 && longform->arguments->long_dir[0] != '/' &&
		 longform->arguments->long_dir[0] != '-')
		snprintf(text, sizeof(text), "%.*s", (int)sizeof(text) - 1,
			 longform->arguments->long_dir);
	else
		text[0] = '\0';
	if (text[0])
		add_member(record, record_bytes, NT_STEP_NO_LONG, nt_printable_json(text));
	if ((longform->written || longform->stage == NT_LONGFORM_PLACED) &&
	    nt_longform_directory(longform->arguments, text, sizeof(text)) >= 0)
		add_member(record, record_bytes, NT_STEP_LONG, text);
}

/* ---- what the ranks have left */

/* A record has no NUL. */
void nt_ranks_keep(void *argument, struct nt_collected *item)
{
	struct nt_ranks *ranks = argument;
	struct nt_collected *kept = nt_array_add(&ranks->item, &ranks->count, 3 * NT_TRAYS,
						 sizeof(*kept));

	if (!kept)
		return;
	*kept = *item;
	item->text = NULL;
	if (kept->text)
		kept->bytes = strnlen(kept->text, kept->bytes);
}

/* The first tasks first: the last ones may have no room. */
static int by_name(const void *left, const void *right)
{
	const struct nt_collected *a = left, *b = right;

	return strverscmp(a->name, b->name);
}

void nt_ranks_sort(struct nt_ranks *ranks)
{
	nt_topologies_read(&ranks->topologies, ranks->item, ranks->count);
	if (ranks->count > 0)
		qsort(ranks->item, ranks->count, sizeof(ranks->item[0]), by_name);
}

void nt_ranks_fini(struct nt_ranks *ranks)
{
	for (size_t i = 0; i < ranks->count; i++)
		free(ranks->item[i].text);
	free(ranks->item);
	nt_topologies_fini(&ranks->topologies);
	memset(ranks, 0, sizeof(*ranks));
}

/* ---- the part */

size_t nt_longform_bytes(const struct nt_arguments *arguments)
{
	size_t nodes = arguments->nodes ? arguments->nodes : 1;
	size_t bytes = ((size_t)arguments->long_mib << 20) / 2 / nodes;

	if (bytes > PART_MAX)
		return PART_MAX;
	return bytes > PART_MIN ? bytes : PART_MIN;
}

int nt_longform_say(int out_fd, char byte, const char *why)
{
	char text[1 + sizeof(((struct nt_error *)0)->text)];

	snprintf(text, sizeof(text), "%c%.200s", byte, why);
	return write(out_fd, text, strlen(text)) < 0;
}

static void fill_head(struct nt_long_head *head, const struct nt_arguments *arguments, bool final)
{
	nt_fields_clear(&nt_long_fields, head);
	head->version = NT_LONG_VERSION;
	snprintf(head->cluster, sizeof(head->cluster), "%s", arguments->cluster);
	head->job = arguments->job;
	nt_step_name(arguments->step, arguments->component, head->step);
	snprintf(head->node, sizeof(head->node), "%s", arguments->node);
	head->nodes = arguments->nodes;
	head->uid = arguments->uid;
	head->run = arguments->run;
	head->final = final;
	head->written_s = time(NULL);
	snprintf(head->release, sizeof(head->release), "%s", PACKAGE_VERSION);
}

/* true: the ranks have left something. */
static bool add_lines(struct nt_long_out *out, const struct nt_arguments *arguments,
		      const struct nt_ranks *ranks, const char *record)
{
	bool calls = false;
	char text[32];

	if (record[0])
		(void)nt_long_add(out, NT_LONG_STEP, record, strlen(record));
	if (arguments->fingerprint[0] != '-') {
		snprintf(text, sizeof(text), "\"%s\"", arguments->fingerprint);
		(void)nt_long_add(out, NT_LONG_FINGERPRINT, text, strlen(text));
	}
	for (size_t i = 0; i < ranks->topologies.count; i++) {
		const char *topology = ranks->topologies.text[i];

		(void)nt_long_add(out, NT_LONG_TOPOLOGY, topology, strlen(topology));
	}
	for (size_t i = 0; i < ranks->count; i++) {
		const struct nt_collected *item = &ranks->item[i];

		if (item->kind == NT_COLLECTED_CALLS && item->text)
			calls |= nt_long_add(out, NT_LONG_CALLS, item->text, item->bytes);
		else if (item->kind == NT_COLLECTED_STACKS && item->text)
			(void)nt_long_add(out, NT_LONG_STACKS, item->text, item->bytes);
		else if (item->kind == NT_COLLECTED_RECORD && item->text)
			(void)nt_long_add(out, NT_LONG_RANK, item->text, item->bytes);
		else if (item->kind == NT_COLLECTED_RECORD)
			nt_long_miss(out);
	}
	return calls || out->records + out->dropped + out->unusable > 0;
}

/* Write the part, and remove what exceeds the user's limit. */
static int save(struct nt_long_out *out, const struct nt_arguments *arguments, bool final,
		int out_fd, struct nt_error *err)
{
	char job[NT_LONG_NAME_MAX], part[NT_LONG_NAME_MAX];
	int fd = nt_long_open(arguments->long_dir, arguments->long_parents, err);
	struct nt_long_head head;
	bool made = false;
	int job_fd = -1;
	int rc = -1;

	nt_long_job_name(job, arguments->cluster, arguments->job);
	fill_head(&head, arguments, final);
	nt_long_part_name(part, &head);
	if (fd >= 0)
		job_fd = nt_long_open_job(fd, job, &made, err);
	if (job_fd >= 0)
		(void)nt_longform_say(out_fd, NT_LONGSAY_PLACED, "");
	if (job_fd >= 0)
		rc = nt_long_save(out, job_fd, &head, err);
	if (rc == 0 && (made || (arguments->first && final && arguments->step % TRIM_STEPS == 0)))
		(void)nt_long_trim(fd, job, part, (int64_t)arguments->long_mib << 20);
	if (job_fd >= 0)
		close(job_fd);
	if (fd >= 0)
		close(fd);
	return rc;
}

int nt_longform_write(const struct nt_arguments *arguments, bool final,
		      const struct nt_ranks *ranks, const char *record, int out_fd)
{
	struct nt_long_out out;
	struct nt_error err;
	int rc;

	if (nt_long_begin(&out, nt_longform_bytes(arguments), &err) < 0)
		return nt_longform_say(out_fd, NT_LONGSAY_FAILED, err.text);
	if (!add_lines(&out, arguments, ranks, record)) {
		rc = nt_longform_say(out_fd, NT_LONGSAY_NOTHING, "");
	} else if (save(&out, arguments, final, out_fd, &err) < 0) {
		rc = nt_longform_say(out_fd, NT_LONGSAY_FAILED, err.text);
	} else {
		rc = nt_longform_say(out_fd, NT_LONGSAY_WRITTEN, "");
	}
	nt_long_end(&out);
	return rc;
}

/* ---- the user's directory */

static bool is_ours_alone(int fd)
{
	struct stat status;

	return fstat(fd, &status) == 0 && status.st_uid == geteuid() &&
	       !(status.st_mode & (S_IWGRP | S_IWOTH));
}

/* A directory of root's was made by a process that was killed before it gave it away. */
static int give(int fd, const char *name, uint32_t uid, uint32_t gid)
{
	int user_fd = openat(fd, name, DIR_FLAGS);
	struct stat status;
	int rc;

	if (user_fd < 0)
		return -1;
	rc = fstat(user_fd, &status);
	if (rc == 0 && status.st_uid == geteuid())
		rc = fchown(user_fd, uid, gid);
	close(user_fd);
	return rc;
}

static int make(int fd, const char *name, uint32_t uid, uint32_t gid)
{
	bool made = mkdirat(fd, name, 0700) == 0;
	int problem;

	if (!made && errno != EEXIST)
		return -1;
	if (give(fd, name, uid, gid) == 0)
		return 0;
	problem = errno;
	if (made)
		(void)unlinkat(fd, name, AT_REMOVEDIR);
	errno = problem;
	return -1;
}

int nt_longform_make_directory(const char *path, uint32_t uid, uint32_t gid, struct nt_error *err)
{
	const char *slash = strrchr(path, '/');
	char parent[NT_PATH_MAX];
	int rc = 0;
	int fd;

	if (!slash || slash == path || (size_t)(slash - path) >= sizeof(parent))
		return nt_error_set(err, "%.150s is not a directory below record_dir", path);
	memcpy(parent, path, (size_t)(slash - path));
	parent[slash - path] = '\0';
	fd = open(parent, DIR_FLAGS);
	if (fd < 0)
		return nt_error_set(err, "%.150s: %m", parent);
	if (is_ours_alone(fd) && make(fd, slash + 1, uid, gid) < 0)
		rc = nt_error_set(err, "%.150s cannot be made: %m", path);
	close(fd);
	return rc;
}
