/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* nccl-tune show: print the records of single NCCL processes in full. */
#include "cli/command.h"

#include <inttypes.h>
#include <math.h>
#include <slurm/slurm.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "contract/coll.h"
#include "contract/policy.h"
#include "lib/plural.h"
#include "lib/quantile.h"
#include "lib/file.h"
#include "lib/printable.h"
#include "record/rankread.h"
#include "report/model/explored.h"
#include "report/text/reasons.h"
#include "cli/job-word.h"
#include "lib/table.h"
#include "lib/wrap.h"

#define CLEARLY 1.03 /* more than two medians of a few calls differ by chance */

/* Three tables, because one would be wider than a terminal. */
static const char *const choice_columns[] = {
	"-COLLECTIVE",	  "SIZE",     "-STATE",	   "-NCCL'S\nCHOICE",
	"-OTHER\nCHOICE", "NCCL\nus", "OTHER\nus", "NCCL\np25 us",
	"OTHER\np25 us",  "P",	      "SAM-\nPLES"
};

static const char *const effect_columns[] = { "-COLLECTIVE",	 "SIZE",
					      "CALLS",		 "FORCED\ncalls",
					      "DIFFERED\ncalls", "SPENT\ncalls",
					      "SPENT\nms",	 "SAVED\nms" };

/* NCCL predicts a call's own time. */
static const char *const period_columns[] = { "-COLLECTIVE",	     "SIZE",
					      "PREDICTED\nNCCL us",  "OWN TIME\nNCCL us",
					      "PREDICTED\nOTHER us", "OWN TIME\nOTHER us",
					      "PERIOD\nNCCL us",     "PERIOD\nOTHER us" };

static void add_choice(struct nt_table *table, const struct nt_key *key)
{
	const int arms[] = { key->auto_arm, nt_key_other_arm(key) };

	nt_cell(table, "%s", nt_keystate_name(key->state));
	for (size_t i = 0; i < 2; i++)
		nt_cell(table, "%s", arms[i] < 0 ? "-" : nt_arm_name(arms[i]));
	nt_cell_decimal(table, key->auto_us, 1);
	nt_cell_decimal(table, key->arm_us, 1);
	nt_cell_decimal(table, key->auto_p25_us, 1);
	nt_cell_decimal(table, key->arm_p25_us, 1);
	nt_cell_share(table, key->p);
	nt_cell_count(table, key->samples);
}

static void add_effect(struct nt_table *table, const struct nt_key *key)
{
	nt_cell_count(table, key->calls);
	nt_cell_count(table, key->forced);
	nt_cell_count(table, key->differed);
	nt_cell_count(table, key->spent_calls);
	nt_cell_decimal(table, key->spent_ms, 1);
	nt_cell_decimal(table, key->saved_ms, 1);
}

static void add_periods(struct nt_table *table, const struct nt_key *key)
{
	nt_cell_decimal(table, key->auto_predicted_us, 1);
	nt_cell_decimal(table, key->auto_own_us, 1);
	nt_cell_decimal(table, key->arm_predicted_us, 1);
	nt_cell_decimal(table, key->arm_own_us, 1);
	nt_cell_decimal(table, key->auto_period_us, 1);
	nt_cell_decimal(table, key->arm_period_us, 1);
}

static const struct {
	struct nt_table empty;
	void (*add)(struct nt_table *table, const struct nt_key *key); /* the third cell and on */
} tables[] = {
	{ NT_TABLE(choice_columns, 4), add_choice },
	{ NT_TABLE(effect_columns, 4), add_effect },
	{ NT_TABLE(period_columns, 4), add_periods },
};

static const struct {
	int64_t flag;
	const char *text;
} flag_texts[] = {
	{ NT_PLACE_NO_TUNER, "the user's NCCL_TUNER_PLUGIN was kept" },
	{ NT_PLACE_NO_PROFILER, "the user's NCCL_PROFILER_PLUGIN was kept" },
	{ NT_PLACE_USER_ALGO, "the user's NCCL_ALGO applies" },
	{ NT_PLACE_USER_PROTO, "the user's NCCL_PROTO applies" },
	{ NT_PLACE_LL128_NET, "LL128 is not tried: NCCL uses an external network plugin" },
	{ NT_PLACE_LL128_C2C, "LL128 is not tried: GPUs are on NVLink-C2C" },
	{ NT_PLACE_OTHER_TUNER, "NCCL_TUNER_PLUGIN was changed in the task" },
	{ NT_PLACE_OTHER_PROFILER, "NCCL_PROFILER_PLUGIN was changed in the task" },
};

static void show_nccl(int64_t version)
{
	/* NCCL_VERSION_CODE since 2.9; older ones load no plugin of ours. */
	if (version >= 20900)
		printf(", NCCL %" PRId64 ".%" PRId64 ".%" PRId64, version / 10000,
		       version / 100 % 100, version % 100);
	else if (version >= 0)
		printf(", NCCL version code %" PRId64, version);
}

/* The user's plugins behind ours, or why they were not loaded. Text from a file is not trusted. */
static void show_plugins(json_object *plugins)
{
	char kind[16], text[512];
	struct nt_reason why;

	if (!plugins)
		return;
	json_object_object_foreach(plugins, name, value)
	{
		const char *said = json_object_get_string(value);

		if (!said)
			continue;
		nt_printable_copy(kind, sizeof(kind), name, strlen(name));
		nt_printable_copy(text, sizeof(text), said, strlen(said));
		nt_reason_read(&why, said, strlen(said));
		if (why.id == NT_REASON_NOT_LOADED || why.id == NT_REASON_PLUGIN_FAILED)
			nt_reason_say(&why, NULL, 0, text, sizeof(text));
		printf("  chained %s: %s\n", kind, text);
	}
}

/* The times of the program's own step. */
static void show_marker(const struct nt_rank_marker *marker)
{
	double us[NT_RANK_PERIODS_MAX];
	size_t count = marker->periods;
	char size[24];

	if (marker->coll < 0 || count == 0)
		return;
	memcpy(us, marker->period_us, count * sizeof(us[0]));
	nt_sort_doubles(us, count);
	printf("  step marker: %s %s of %" PRId64 " rank%s, %" PRId64
	       " call%s, every %.1f ms (quartiles %.1f and %.1f, %zu time%s)\n",
	       nt_coll_name(marker->coll), nt_size_text((size_t)marker->bytes, size, sizeof(size)),
	       marker->ranks, nt_plural(marker->ranks), marker->calls, nt_plural(marker->calls),
	       nt_quantile_doubles(us, count, 0.5) / 1e3,
	       nt_quantile_doubles(us, count, 0.25) / 1e3,
	       nt_quantile_doubles(us, count, 0.75) / 1e3, count, nt_plural(count));
}

static void show_platform(const struct nt_rank *rank)
{
	if (rank->driver[0])
		printf("  driver: %s\n", rank->driver);
	if (rank->fabric[0])
		printf("  fabric: %s (a guess)\n", rank->fabric);
	if (rank->launch[0])
		printf("  launch profile: %s\n", rank->launch);
	if (rank->variables[0])
		printf("  NCCL's variables: %s\n", rank->variables);
	if (rank->variables_inside[0])
		printf("  set within the process: %s\n", rank->variables_inside);
}

static void show_head(const struct nt_rank *rank)
{
	printf("  job %" PRId64 ", step ", rank->job);
	if (rank->step == SLURM_BATCH_SCRIPT)
		fputs("batch", stdout);
	else
		printf("%" PRId64, rank->step);
	if (rank->task >= 0)
		printf(", task %" PRId64, rank->task);
	if (rank->pid >= 0)
		printf(", process %" PRId64, rank->pid);
	printf(", node %s", rank->node);
	show_nccl(rank->nccl);
	puts(rank->end ? "; written at its end" : "; written before its end");
	if (rank->policy[0])
		printf("  policy: %s\n", rank->policy);
	else if (rank->mode[0])
		printf("  mode: %s\n", rank->mode);
	for (size_t i = 0; i < sizeof(flag_texts) / sizeof(flag_texts[0]); i++) {
		if (rank->flags & flag_texts[i].flag)
			printf("  note: %s\n", flag_texts[i].text);
	}
	show_plugins(rank->plugins);
	show_platform(rank);
	show_marker(&rank->marker);
}

static void show_counts(json_object *counts)
{
	char shown[256];

	if (!counts)
		return;
	json_object_object_foreach(counts, name, value)
	{
		nt_printable_copy(shown, sizeof(shown), name, strlen(name));
		printf("  count: %s %" PRId64 "\n", shown, json_object_get_int64(value));
	}
}

/* Why NCCL's choice stays. */
static void show_why(const struct nt_key *key)
{
	char size[24];
	struct nt_said said;

	nt_said_key(&said, key->reason, NULL);
	if (said.says[0])
		printf("    %s %s: %s\n", nt_coll_name(key->coll),
		       nt_size_text((size_t)key->bytes, size, sizeof(size)), said.says);
}

/* The other choice is faster, and NCCL predicts that it is slower. */
static void show_misprediction(const struct nt_key *key)
{
	const double predicted = key->arm_predicted_us / key->auto_predicted_us;
	const double own = key->arm_own_us / key->auto_own_us;
	char size[24];

	if (!(predicted >= 1 && own * CLEARLY < 1))
		return;
	printf("    %s %s: NCCL predicts %s to be %.2f times slower than %s; it is %.2f times faster\n",
	       nt_coll_name(key->coll), nt_size_text((size_t)key->bytes, size, sizeof(size)),
	       nt_arm_name(nt_key_other_arm(key)), predicted, nt_arm_name(key->auto_arm), 1 / own);
}

/* The last table may be empty, and is then left out. */
static size_t table_count(const struct nt_comm_seen *comm)
{
	const size_t all = sizeof(tables) / sizeof(tables[0]);

	for (size_t i = 0; i < comm->key_count; i++) {
		const struct nt_key *key = &comm->keys[i];

		if (!isnan(key->auto_own_us) || !isnan(key->auto_period_us) ||
		    !isnan(key->auto_predicted_us))
			return all;
	}
	return all - 1;
}

static int show_table(size_t which, const struct nt_comm_seen *comm, struct nt_error *err)
{
	struct nt_table table = tables[which].empty;
	char size[24];

	for (size_t i = 0; i < comm->key_count; i++) {
		const struct nt_key *key = &comm->keys[i];

		nt_cell(&table, "%s", nt_coll_name(key->coll));
		nt_cell(&table, "%s", nt_size_text((size_t)key->bytes, size, sizeof(size)));
		tables[which].add(&table, key);
	}
	return nt_table_print(stdout, &table, err);
}

/* Why it is not tuned, and what to do. */
static void explain(const struct nt_reason *why)
{
	struct nt_said said;

	nt_said_why(&said, why);
	if (said.says[0])
		nt_wrap(stdout, "    ", 4, said.says);
	if (said.type[0])
		nt_wrap(stdout, "    -> ", 7, said.type);
}

static int show_comm(const struct nt_comm_seen *comm, struct nt_error *err)
{
	printf("  communicator %s: rank %" PRId64 " of %" PRId64, comm->id, comm->rank,
	       comm->ranks);
	if (comm->nodes >= 0)
		printf(" on %" PRId64 " node%s", comm->nodes, nt_plural(comm->nodes));
	printf(", %s\n", nt_comm_state_name(comm->state));
	explain(&comm->why);
	for (size_t i = 0; comm->key_count > 0 && i < table_count(comm); i++) {
		if (show_table(i, comm, err) < 0)
			return -1;
	}
	for (size_t i = 0; i < comm->key_count; i++) {
		show_why(&comm->keys[i]);
		show_misprediction(&comm->keys[i]);
	}
	return 0;
}

static int show_rank(const struct nt_rank *rank, struct nt_error *err)
{
	show_head(rank);
	show_counts(rank->counts);
	if (rank->comm_count == 0)
		puts("  no communicator");
	for (size_t i = 0; i < rank->comm_count; i++) {
		if (show_comm(&rank->comms[i], err) < 0)
			return -1;
	}
	return nt_explored_print(stdout, rank->explored, err);
}

/* A file's name may hold anything. */
static void show_name(const char *path)
{
	struct nt_shown shown;

	puts(strcmp(path, "-") == 0 ? "standard input" : nt_shown(&shown, path));
}

/* One record; path is for messages. */
static int show_text(const char *path, const char *text, size_t text_bytes)
{
	struct nt_rank rank = { .root = NULL };
	struct nt_error err, damage;
	int parsed = nt_rank_parse(&rank, text, text_bytes, &damage);
	int rc = parsed == 0 || rank.comm_count > 0 ? show_rank(&rank, &err) : 0;

	nt_rank_fini(&rank);
	if (rc < 0)
		nt_command_complain("%s", err.text);
	if (parsed < 0) {
		printf("  damaged: %s\n", nt_printable(damage.text));
		nt_command_complain("%s: damaged: %s", path, damage.text);
	}
	return rc < 0 ? -1 : parsed;
}

static int show_record(void *argument, const struct nt_long_part *part, struct nt_text record,
		       struct nt_error *err)
{
	bool *failed = argument;

	(void)err;
	show_name(part->path);
	if (show_text(part->path, record.at, record.bytes) < 0)
		*failed = true;
	return 0;
}

/* A job, a part of its long form, or its directory of them. */
static int show_long(const char *word)
{
	bool failed = false;
	const struct nt_rank_visitor visitor = { show_record, &failed, &failed, false };
	struct nt_error err;
	size_t parts;
	int rc = nt_job_word_visit(word, &visitor, &parts, &err);

	if (rc < 0)
		nt_command_complain("%s", err.text);
	if (rc == 0 && parts == 0 && !failed) {
		nt_command_complain("%s: not the long form of a record", word);
		failed = true;
	}
	return rc < 0 || failed ? -1 : 0;
}

static int show_file(const char *path)
{
	struct nt_error err;
	size_t text_bytes;
	char *text;
	int rc;

	if (nt_job_word_is_long(path))
		return show_long(path);
	if (nt_file_read(path, (size_t)NT_RANK_RECORD_MAX, &text, &text_bytes, &err) < 0) {
		nt_command_complain("%s", err.text);
		return -1;
	}
	show_name(path);
	rc = show_text(path, text, text_bytes);
	free(text);
	return rc;
}

static int run(void *request, char *argv[])
{
	int status = NT_EXIT_OK;

	(void)request;
	if (!argv[0] && show_file("-") < 0)
		status = NT_EXIT_FAILED;
	for (; *argv; argv++) {
		if (show_file(*argv) < 0)
			status = NT_EXIT_FAILED;
	}
	return status;
}

const struct nt_command nt_command_show = {
	.name = "show",
	.summary = "print the records of single ranks in full",
	.usage = "[JOB[.STEP] | FILE]...",
	.doc = "Print records of ranks (rank.*.json): what was measured, chosen and forced on "
	       "each communicator, or why nothing was. NCCL processes write them to the step's "
	       "runtime directory. For a JOB, print those in its long form. FILE may also be a part "
	       "of a long form (*.jsonl.gz) or the directory of these parts. Without an "
	       "argument, or with -, read standard input."
	       "\vExit status: 0 if all was shown, 1 if there is no such job, or a file is "
	       "damaged or cannot be read, 2 for a usage error.",
	.run = run,
	.arguments = NT_ANY_NUMBER,
};
