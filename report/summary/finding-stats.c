/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "report/summary/finding-stats.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "lib/compare.h"
#include "lib/json.h"
#include "lib/number.h"
#include "lib/plural.h"
#include "lib/wrap.h"
#include "report/metrics/prometheus.h"
#include "report/model/longform-search.h"

#define GROUPS_MAX 65536
#define USERS_MAX 4096 /* of a class that are told apart */

void nt_finding_stats_init(struct nt_finding_stats *stats, uint32_t codes)
{
	memset(stats, 0, sizeof(*stats));
	stats->codes = codes;
	nt_names_init(&stats->names, GROUPS_MAX);
}

void nt_finding_stats_fini(struct nt_finding_stats *stats)
{
	for (size_t i = 0; i < stats->names.count; i++)
		nt_names_fini(&stats->class[i].users);
	free(stats->class);
	nt_names_fini(&stats->names);
	nt_finding_stats_init(stats, 0);
}

/* ---- a job */

static bool names_long_form(const struct nt_summary *summary)
{
	for (size_t i = 0; i < summary->step_count; i++) {
		if (summary->steps[i].long_form[0])
			return true;
	}
	return false;
}

/* In place of the short form's steps. Not if the label is no job id. */
static int prefer_long_form(struct nt_summary *summary, const struct nt_streamed_job *job,
			    struct nt_error *err)
{
	struct nt_long_job wanted = { .user = job->user };
	uint64_t id;

	if (!names_long_form(summary) || nt_number_parse(job->label, 1, UINT32_MAX, &id) < 0)
		return 0;
	wanted.job = (uint32_t)id;
	return nt_long_prefer(summary, &wanted, NULL, 0, err) < 0 ? -1 : 0;
}

/* NULL: no room. */
static struct nt_finding_class *class_of(struct nt_finding_stats *stats,
					 const struct nt_streamed_job *job,
					 const struct nt_finding *finding)
{
	char name[NT_NAME_BYTES], node[NT_FINDING_NODE_MAX];
	struct nt_finding_class *class;
	int at;

	snprintf(name, sizeof(name), "%s %s %s", nt_finding_code(finding->id), job->cluster,
		 nt_finding_node(finding, node));
	at = nt_names_item(&stats->names, name, &stats->class, sizeof(*stats->class));
	if (at < 0)
		return NULL;
	class = &stats->class[at];
	if (class->jobs == 0) {
		memcpy(class->cluster, job->cluster, sizeof(class->cluster));
		memcpy(class->node, node, sizeof(node));
		nt_names_init(&class->users, USERS_MAX);
		class->first_s = job->end_s;
		class->last_s = -1;
	}
	return class;
}

static void add_to_class(struct nt_finding_stats *stats, const struct nt_streamed_job *job,
			 const struct nt_finding *finding)
{
	struct nt_finding_class *class = class_of(stats, job, finding);

	if (!class)
		return;
	if (class->newest_job != stats->jobs)
		class->jobs++;
	class->newest_job = stats->jobs;
	(void)nt_names_add(&class->users, job->user);
	if (job->end_s < class->first_s)
		class->first_s = job->end_s;
	if (job->end_s > class->last_s) {
		class->last_s = job->end_s;
		class->newest = *finding;
	}
}

int nt_finding_stats_add(struct nt_finding_stats *stats, const struct nt_streamed_job *job,
			 struct nt_error *err)
{
	struct nt_summary summary;
	int rc;

	if (job->end_s == 0 || nt_summary_holding(job->text, job->text_bytes) != NT_HOLDS_RECORD)
		return 0;
	stats->jobs++;
	nt_summary_init(&summary);
	rc = nt_summary_parse(&summary, job->text, job->text_bytes, NULL, err);
	if (rc == 0)
		rc = prefer_long_form(&summary, job, err);
	nt_summary_keep_findings(&summary, stats->codes);
	for (size_t i = 0; rc == 0 && i < summary.finding_count; i++)
		add_to_class(stats, job, &summary.findings[i].finding);
	stats->found += rc == 0 && summary.finding_count > 0;
	nt_summary_fini(&summary);
	return rc;
}

static int in_order(const void *left, const void *right)
{
	const struct nt_finding_class *a = left, *b = right;

	NT_COMPARE_TEXT(a->cluster, b->cluster);
	NT_COMPARE(a->newest.id, b->newest.id);
	NT_COMPARE(b->jobs, a->jobs);
	NT_COMPARE_TEXT(a->node, b->node);
	return 0;
}

void nt_finding_stats_sort(struct nt_finding_stats *stats)
{
	if (stats->names.count > 1)
		qsort(stats->class, stats->names.count, sizeof(stats->class[0]), in_order);
}

/* ---- out */

static void print_day(char out[16], int64_t when_s)
{
	time_t when = (time_t)when_s;
	struct tm local;

	localtime_r(&when, &local);
	strftime(out, 16, "%Y-%m-%d", &local);
}

static void print_class(FILE *out, const struct nt_finding_class *class, bool several)
{
	char first[16], last[16], says[NT_FINDING_SENTENCE_MAX];
	char advice[NT_FINDING_ADVICE_MAX];

	print_day(first, class->first_s);
	print_day(last, class->last_s);
	fprintf(out, "\n%s%s%s%s%s: %" PRId64 " job%s of %zu user%s, %s%s%s\n",
		nt_finding_code(class->newest.id), several ? ", " : "",
		several ? class->cluster : "", class->node[0] ? ", " : "", class->node, class->jobs,
		nt_plural(class->jobs), class->users.count, nt_plural(class->users.count), first,
		strcmp(first, last) != 0 ? " to " : "", strcmp(first, last) != 0 ? last : "");
	nt_wrap(out, "  ", 2, nt_finding_say(&class->newest, says, sizeof(says)));
	nt_wrap(out, "  -> ", 5, nt_finding_advise(&class->newest, advice, sizeof(advice)));
}

void nt_finding_stats_text(FILE *out, const struct nt_finding_stats *stats)
{
	bool several = false;

	for (size_t i = 1; i < stats->names.count; i++)
		several = several || strcmp(stats->class[i].cluster, stats->class[0].cluster) != 0;
	fprintf(out, "%" PRIu64 " job%s with a record, %" PRId64 " of them with findings.\n",
		stats->jobs, nt_plural(stats->jobs), stats->found);
	for (size_t i = 0; i < stats->names.count; i++)
		print_class(out, &stats->class[i], several);
}

static json_object *class_value(const struct nt_finding_class *class, int *rc)
{
	json_object *object = nt_json_object(rc);
	char says[NT_FINDING_SENTENCE_MAX], advice[NT_FINDING_ADVICE_MAX];

	nt_json_string(object, "cluster", class->cluster, rc);
	nt_json_string(object, "code", nt_finding_code(class->newest.id), rc);
	nt_json_string(object, "node", class->node, rc);
	nt_json_integer(object, "jobs", class->jobs, rc);
	nt_json_integer(object, "users", (int64_t) class->users.count, rc);
	nt_json_integer(object, "first", class->first_s, rc);
	nt_json_integer(object, "last", class->last_s, rc);
	nt_json_string(object, "says", nt_finding_say(&class->newest, says, sizeof(says)), rc);
	nt_json_string(object, "advice", nt_finding_advise(&class->newest, advice, sizeof(advice)),
		       rc);
	return object;
}

int nt_finding_stats_json(FILE *out, const struct nt_finding_stats *stats, struct nt_error *err)
{
	int rc = 0;
	json_object *object = nt_json_object(&rc), *array = nt_json_array(&rc);

	nt_json_integer(object, "jobs", (int64_t)stats->jobs, &rc);
	nt_json_integer(object, "found", stats->found, &rc);
	for (size_t i = 0; i < stats->names.count; i++)
		nt_json_add(array, NULL, class_value(&stats->class[i], &rc), &rc);
	nt_json_add(object, "findings", array, &rc);
	if (rc == 0)
		rc = nt_json_print(out, object);
	json_object_put(object);
	return rc == 0 ? 0 : nt_error_set(err, "no memory for the summary");
}

void nt_finding_stats_prometheus(FILE *out, const struct nt_finding_stats *stats)
{
	nt_metric_head(out, "nccl_tune_finding_jobs",
		       "Jobs with a finding on their set-up, by code and node");
	for (size_t i = 0; i < stats->names.count; i++) {
		const struct nt_finding_class *class = &stats->class[i];

		fputs("nccl_tune_finding_jobs", out);
		nt_metric_label(out, "{", "cluster", class->cluster);
		nt_metric_label(out, ",", "code", nt_finding_code(class->newest.id));
		nt_metric_label(out, ",", "node", class->node);
		fprintf(out, "} %" PRId64 "\n", class->jobs);
	}
}
