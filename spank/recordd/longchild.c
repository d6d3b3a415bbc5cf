/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* Write the node's part of the long form, with the user's rights. */
#include "spank/recordd/longform.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "lib/array.h"
#include "record/longdir.h"
#include "record/longwrite.h"
#include "spank/step-dir.h"

#define PART_MAX ((size_t)16 << 20)
#define PART_MIN ((size_t)32 << 10)
#define TRIM_STEPS 16 /* a job with many steps trims the directory once in so many */

/* ---- the ranks' files */

/* A record has no NUL. */
static void keep_file(void *argument, struct nt_collected *file)
{
	struct nt_ranks *ranks = argument;
	struct nt_collected *kept = nt_array_add(&ranks->file, &ranks->count, 3 * NT_COLLECT_FILES,
						 sizeof(*kept));

	if (!kept)
		return;
	*kept = *file;
	file->text = NULL;
	if (kept->text)
		kept->bytes = strnlen(kept->text, kept->bytes);
}

/* The first tasks first: the last ones may have no room. */
static int by_name(const void *left, const void *right)
{
	const struct nt_collected *a = left, *b = right;

	return strverscmp(a->name, b->name);
}

void nt_ranks_read(struct nt_ranks *ranks, const char *directory)
{
	memset(ranks, 0, sizeof(*ranks));
	/* Without the directory there are no files. */
	(void)nt_collect_each(directory, keep_file, ranks, NULL);
	nt_topologies_read(&ranks->topologies, directory);
	if (ranks->count > 0)
		qsort(ranks->file, ranks->count, sizeof(ranks->file[0]), by_name);
}

void nt_ranks_fini(struct nt_ranks *ranks)
{
	for (size_t i = 0; i < ranks->count; i++)
		free(ranks->file[i].text);
	free(ranks->file);
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

void nt_longform_say(int out_fd, char word)
{
	(void)!write(out_fd, &word, 1);
}

static int say(int out_fd, char word, const struct nt_error *err)
{
	char text[1 + sizeof(err->text)];

	snprintf(text, sizeof(text), "%c%.200s", word, err ? err->text : "");
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
		const struct nt_collected *file = &ranks->file[i];

		if (file->kind == NT_COLLECTED_CALLS)
			calls |= nt_long_add(out, NT_LONG_CALLS, file->text, file->bytes);
		else if (file->text)
			(void)nt_long_add(out, NT_LONG_RANK, file->text, file->bytes);
		else if (file->kind == NT_COLLECTED_RECORD)
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
		nt_longform_say(out_fd, NT_LONGSAY_PLACED);
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
		return say(out_fd, NT_LONGSAY_FAILED, &err);
	if (!add_lines(&out, arguments, ranks, record)) {
		rc = say(out_fd, NT_LONGSAY_NOTHING, NULL);
	} else if (save(&out, arguments, final, out_fd, &err) < 0) {
		rc = say(out_fd, NT_LONGSAY_FAILED, &err);
	} else {
		rc = say(out_fd, NT_LONGSAY_WRITTEN, NULL);
	}
	nt_long_end(&out);
	return rc;
}
