/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* A job's text from accounting, by way of sacct.
 *
 * Not by slurmdb_jobs_get: libslurm loads Slurm's accounting plugin, which wants symbols that
 * libslurm does not export (slurmdbd_msg_type_2_str, 22.05.8), so that a refusal or a lost
 * connection ends the calling program; and it retries for minutes while slurmdbd is away. sacct
 * has the right library, obeys the site's PrivateData, spells array and heterogeneous jobs as
 * users do, and can be ended at a deadline.
 */
#include "report/accounting.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "record/child.h"

#define TIMEOUT_MS 30000
#define SPAN_TIMEOUT_MS 300000
/* an array of 1000 tasks, each with the longest comment there is */
#define OUTPUT_MAX (64u << 20)
#define SEPARATOR '\x1f' /* in no job id and no time; the comment comes last */

#define LEADING 4 /* columns before the comment */
#define COLUMNS "--format=JobID,JobIDRaw,End,User%63,AdminComment"

/* "12_3<US>14<US>2026-01-02T03:04:05<US>ann<US>comment" starts a job; a comment may hold
 * newlines. */
static bool starts_job(const char *line, size_t bytes)
{
	int separators = 0;

	for (size_t i = 0; i < bytes && separators < LEADING; i++) {
		if (line[i] == SEPARATOR)
			separators++;
	}
	return separators == LEADING && isdigit((unsigned char)line[0]);
}

static const char *next_job(const char *line, const char *end)
{
	while (line < end) {
		const char *newline = memchr(line, '\n', (size_t)(end - line));

		line = newline ? newline + 1 : end;
		newline = line < end ? memchr(line, '\n', (size_t)(end - line)) : NULL;
		if (line < end && starts_job(line, (size_t)((newline ? newline : end) - line)))
			break;
	}
	return line;
}

/* As sacct prints a time, on this machine's clock; 0 for "Unknown". */
static int64_t time_of(const char *text)
{
	struct tm when = { .tm_isdst = -1 };

	if (!strptime(text, "%Y-%m-%dT%H:%M:%S", &when))
		return 0;
	return (int64_t)mktime(&when);
}

static int add_job(struct nt_jobtexts *texts, const char *line, const char *end)
{
	char label[NT_JOB_LABEL_MAX];
	const char *parts[LEADING + 1] = { line };
	struct nt_jobtext *text;

	for (int i = 1; i <= LEADING; i++) {
		const char *part = parts[i - 1];

		parts[i] = (const char *)memchr(part, SEPARATOR, (size_t)(end - part)) + 1;
	}
	if (end > parts[LEADING] && end[-1] == '\n')
		end--;
	snprintf(label, sizeof(label), "%.*s", (int)(parts[1] - line - 1), line);
	text = nt_jobtexts_add(texts, label, parts[LEADING], (size_t)(end - parts[LEADING]));
	if (!text)
		return -1;
	text->job = (uint32_t)strtoul(parts[1], NULL, 10);
	text->ended = strncmp(parts[2], "Unknown", 7) != 0;
	text->end_s = time_of(parts[2]);
	snprintf(text->user, sizeof(text->user), "%.*s", (int)(parts[4] - parts[3] - 1), parts[3]);
	return 0;
}

static int add_jobs(struct nt_jobtexts *texts, const char *out, size_t out_bytes)
{
	const char *end = out + out_bytes;
	const char *line = out;
	const char *newline;

	if (out_bytes == 0)
		return 0;
	newline = memchr(out, '\n', out_bytes);
	if (!starts_job(line, newline ? (size_t)(newline - out) : out_bytes))
		return -1;
	while (line < end) {
		const char *next = next_job(line, end);

		if (add_job(texts, line, next) < 0)
			return -1;
		line = next;
	}
	return 0;
}

/* sacct begins some of its complaints with its name, and some not. */
static void complain(const struct nt_child *child, struct nt_error *err)
{
	const char *text = child->complaint;

	if (text[0] == '\0')
		nt_error_set(err, "sacct: it failed and did not say why");
	else
		nt_error_set(err, "%s%.140s",
			     strncmp(text, "sacct", 5) == 0 ? "" : "sacct: ", text);
}

/* argv: of sacct, its delimiter first. */
static int ask(struct nt_jobtexts *texts, char *argv[], int timeout_ms, struct nt_error *err)
{
	struct nt_error reason;
	struct nt_child child;
	int rc = -1;

	if (nt_child_run(&child, argv, OUTPUT_MAX, timeout_ms, &reason) < 0)
		nt_error_set(err, "sacct: %.140s", reason.text);
	else if (child.status != 0)
		complain(&child, err);
	else if (add_jobs(texts, child.out, child.out_bytes) < 0)
		nt_error_set(err, "sacct: its answer could not be read");
	else
		rc = 0;
	nt_child_fini(&child);
	return rc;
}

int nt_accounting_load(struct nt_jobtexts *texts, const struct nt_jobid *id, const char *cluster,
		       struct nt_error *err)
{
	char delimiter[] = "--delimiter=?", columns[] = COLUMNS;
	char job[NT_JOB_LABEL_MAX], clusters[96];
	char *argv[] = { "sacct", "-n", "-P", "-X", delimiter, columns, "-j", job, NULL, NULL };

	delimiter[sizeof(delimiter) - 2] = SEPARATOR;
	nt_jobid_text(id, job, sizeof(job));
	if (cluster) {
		snprintf(clusters, sizeof(clusters), "--clusters=%s", cluster);
		argv[8] = clusters;
	}
	return ask(texts, argv, TIMEOUT_MS, err);
}

int nt_accounting_load_jobs(struct nt_jobtexts *texts, const uint32_t *jobs, size_t count,
			    const char *cluster, int timeout_ms, struct nt_error *err)
{
	char delimiter[] = "--delimiter=?", columns[] = COLUMNS;
	char list[NT_ACCOUNTING_JOBS * 11 + 1] = "", clusters[96];
	char *argv[] = { "sacct", "-n",	     "-P",
			 "-X",	  delimiter, columns,
			 "-j",	  list,	     cluster ? clusters : NULL,
			 NULL };
	size_t used = 0;

	delimiter[sizeof(delimiter) - 2] = SEPARATOR;
	for (size_t i = 0; i < count && i < NT_ACCOUNTING_JOBS; i++)
		used += (size_t)snprintf(list + used, sizeof(list) - used, "%s%" PRIu32,
					 i ? "," : "", jobs[i]);
	snprintf(clusters, sizeof(clusters), "--clusters=%s", cluster ? cluster : "");
	return ask(texts, argv, timeout_ms, err);
}

int nt_accounting_load_span(struct nt_jobtexts *texts, const struct nt_accounting_span *span,
			    struct nt_error *err)
{
	char delimiter[] = "--delimiter=?", columns[] = COLUMNS;
	char text[4][128];
	char *argv[16] = { "sacct", "-n", "-P", "-X", delimiter, columns };
	unsigned count = 6;
	const struct {
		const char *key, *value;
	} given[] = { { "--starttime=", span->since },
		      { "--endtime=", span->until },
		      { "--user=", span->user },
		      { "--partition=", span->partition } };

	delimiter[sizeof(delimiter) - 2] = SEPARATOR;
	if (!span->user && !span->own)
		argv[count++] = "--allusers";
	for (unsigned i = 0; i < 4; i++) {
		if (!given[i].value)
			continue;
		if (snprintf(text[i], sizeof(text[i]), "%s%s", given[i].key, given[i].value) >=
		    (int)sizeof(text[i]))
			return nt_error_set(err, "'%.40s...' is too long", given[i].value);
		argv[count++] = text[i];
	}
	return ask(texts, argv, SPAN_TIMEOUT_MS, err);
}
