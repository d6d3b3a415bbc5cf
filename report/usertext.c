/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* usertext.c - see usertext.h */
#include "report/usertext.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include "record/child.h"
#include "report/accounting.h"
#include "spank/slurm_compat.h"

#define OUTPUT_MAX (64u << 20)
#define MARK_BYTES 20 /* what users cannot know beforehand, between two columns */

/* The job stands in front of its texts and behind them. */
static const enum nt_sink columns[] = {
	NT_SINK_COMMENT,
#if NT_SLURM_HAS_EXTRA
	NT_SINK_EXTRA,
#endif
};
#define COLUMNS (sizeof(columns) / sizeof(columns[0]))
#define FORMAT "--format=JobIDRaw,Comment" NT_SLURM_EXTRA_COLUMN ",JobIDRaw"

static int make_mark(char mark[MARK_BYTES], struct nt_error *err)
{
	uint64_t number;

	if (getrandom(&number, sizeof(number), 0) != (ssize_t)sizeof(number))
		return nt_error_set(err, "no random number: %m");
	snprintf(mark, MARK_BYTES, "\x1f%016" PRIx64 "\x1f", number);
	return 0;
}

static int keep(struct nt_jobtexts *texts, uint32_t job, enum nt_sink sink, const char *text,
		size_t bytes)
{
	for (size_t i = 0; i < texts->count; i++) {
		struct nt_jobtext *item = &texts->items[i];

		if (item->job != job || item->text[sink])
			continue;
		item->text[sink] = strndup(text, bytes);
		if (!item->text[sink])
			return -1;
	}
	return 0;
}

/* A job's texts; what follows it, or NULL. */
static const char *read_job(struct nt_jobtexts *texts, const char *at, const char *mark)
{
	const uint32_t job = (uint32_t)strtoul(at, NULL, 10);
	const char *text = strstr(at, mark);

	for (size_t i = 0; text && i < COLUMNS; i++) {
		const char *end;

		text += strlen(mark);
		end = strstr(text, mark);
		if (!end || keep(texts, job, columns[i], text, (size_t)(end - text)) < 0)
			return NULL;
		text = end;
	}
	text = text ? strchr(text, '\n') : NULL;
	return text ? text + 1 : NULL;
}

static int read_answer(struct nt_jobtexts *texts, const struct nt_child *child, const char *mark,
		       struct nt_error *err)
{
	const char *at = child->out;

	while (at && *at)
		at = read_job(texts, at, mark);
	return at ? 0 : nt_error_set(err, "sacct: its answer could not be read");
}

static int ask(struct nt_jobtexts *texts, char *list, const char *cluster, int timeout_ms,
	       struct nt_error *err)
{
	char mark[MARK_BYTES], delimiter[MARK_BYTES + 16], clusters[96], format[] = FORMAT;
	char *argv[] = { "sacct", "-n", "-P", "-X", delimiter, format, "-j", list, NULL, NULL };
	struct nt_error reason;
	struct nt_child child;
	int rc = -1;

	if (make_mark(mark, err) < 0)
		return -1;
	snprintf(delimiter, sizeof(delimiter), "--delimiter=%s", mark);
	if (cluster) {
		snprintf(clusters, sizeof(clusters), "--clusters=%s", cluster);
		argv[8] = clusters;
	}
	if (nt_child_run(&child, argv, OUTPUT_MAX, timeout_ms, &reason) < 0)
		nt_error_set(err, "sacct: %.140s", reason.text);
	else if (child.status != 0)
		nt_error_set(err, "sacct: %.140s", child.complaint);
	else
		rc = read_answer(texts, &child, mark, err);
	nt_child_fini(&child);
	return rc;
}

int nt_usertext_load(struct nt_jobtexts *texts, const char *cluster, int timeout_ms,
		     struct nt_error *err)
{
	char list[NT_ACCOUNTING_JOBS * 11 + 1];
	size_t next = 0;
	int rc = 0;

	while (rc == 0 && next < texts->count) {
		size_t used = 0;

		list[0] = '\0';
		for (size_t i = 0; i < NT_ACCOUNTING_JOBS && next < texts->count; next++) {
			if (texts->items[next].text[NT_SINK_COMMENT])
				continue;
			used += (size_t)snprintf(list + used, sizeof(list) - used, "%s%" PRIu32,
						 used ? "," : "", texts->items[next].job);
			i++;
		}
		if (used > 0)
			rc = ask(texts, list, cluster, timeout_ms, err);
	}
	return rc;
}
