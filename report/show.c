/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* nccl-tune show: the records of single NCCL processes, in full, for support. */
#include "report/command.h"

#include <getopt.h>
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <slurm/slurm.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "contract/coll.h"
#include "contract/policy.h"
#include "record/file.h"
#include "record/longset.h"
#include "record/printable.h"
#include "record/rankread.h"
#include "report/explored.h"
#include "report/reasons.h"
#include "report/table.h"
#include "report/wrap.h"

#define ROW(row) ((const struct nt_rank_key *)(row))
#define DECIMAL(member)                                         \
	static void print_##member(char *cell, const void *row) \
	{                                                       \
		nt_cell_decimal(cell, ROW(row)->member, 1);     \
	}
#define COUNT(member)                                           \
	static void print_##member(char *cell, const void *row) \
	{                                                       \
		nt_cell_count(cell, ROW(row)->member);          \
	}
#define ARM(member)                                                                   \
	static void print_##member(char *cell, const void *row)                       \
	{                                                                             \
		snprintf(cell, NT_CELL_MAX, "%s",                                     \
			 ROW(row)->member < 0 ? "-" : nt_arm_name(ROW(row)->member)); \
	}

static void print_coll(char *cell, const void *row)
{
	snprintf(cell, NT_CELL_MAX, "%s", nt_coll_name(ROW(row)->coll));
}

static void print_bytes(char *cell, const void *row)
{
	nt_size_text((size_t)ROW(row)->bytes, cell, NT_CELL_MAX);
}

static void print_state(char *cell, const void *row)
{
	snprintf(cell, NT_CELL_MAX, "%s", ROW(row)->state);
}

static void print_p(char *cell, const void *row)
{
	nt_cell_share(cell, ROW(row)->p);
}

ARM(auto_arm)
ARM(arm)
DECIMAL(auto_us)
DECIMAL(arm_us)
DECIMAL(auto_p25_us)
DECIMAL(arm_p25_us)
DECIMAL(auto_own_us)
DECIMAL(arm_own_us)
DECIMAL(auto_period_us)
DECIMAL(arm_period_us)
DECIMAL(predicted_auto_us)
DECIMAL(predicted_arm_us)
DECIMAL(spent_ms)
DECIMAL(saved_ms)
COUNT(samples)
COUNT(calls)
COUNT(spent_calls)
COUNT(forced)
COUNT(differed)

/* Three tables, since all of it side by side would be wider than a terminal. */
static const struct nt_column choice_columns[] = {
	{ { "", "COLLECTIVE" }, true, print_coll },
	{ { "", "SIZE" }, false, print_bytes },
	{ { "", "STATE" }, true, print_state },
	{ { "AUTO", "PICKS" }, true, print_auto_arm },
	{ { "", "ARM" }, true, print_arm },
	{ { "AUTO", "us" }, false, print_auto_us },
	{ { "ARM", "us" }, false, print_arm_us },
	{ { "AUTO", "p25 us" }, false, print_auto_p25_us },
	{ { "ARM", "p25 us" }, false, print_arm_p25_us },
	{ { "", "P" }, false, print_p },
	{ { "SAM-", "PLES" }, false, print_samples },
};

static const struct nt_column effect_columns[] = {
	{ { "", "COLLECTIVE" }, true, print_coll },
	{ { "", "SIZE" }, false, print_bytes },
	{ { "", "CALLS" }, false, print_calls },
	{ { "FORCED", "calls" }, false, print_forced },
	{ { "DIFFERED", "calls" }, false, print_differed },
	{ { "SPENT", "calls" }, false, print_spent_calls },
	{ { "SPENT", "ms" }, false, print_spent_ms },
	{ { "SAVED", "ms" }, false, print_saved_ms },
	{ { "PREDICTED", "AUTO us" }, false, print_predicted_auto_us },
	{ { "PREDICTED", "ARM us" }, false, print_predicted_arm_us },
};

static const struct nt_column period_columns[] = {
	{ { "", "COLLECTIVE" }, true, print_coll },
	{ { "", "SIZE" }, false, print_bytes },
	{ { "OWN TIME", "AUTO us" }, false, print_auto_own_us },
	{ { "OWN TIME", "ARM us" }, false, print_arm_own_us },
	{ { "PERIOD", "AUTO us" }, false, print_auto_period_us },
	{ { "PERIOD", "ARM us" }, false, print_arm_period_us },
};

static const struct nt_table tables[] = {
	{ choice_columns, sizeof(choice_columns) / sizeof(choice_columns[0]),
	  sizeof(struct nt_rank_key), 4 },
	{ effect_columns, sizeof(effect_columns) / sizeof(effect_columns[0]),
	  sizeof(struct nt_rank_key), 4 },
	{ period_columns, sizeof(period_columns) / sizeof(period_columns[0]),
	  sizeof(struct nt_rank_key), 4 },
};

static const struct {
	int64_t flag;
	const char *text;
} flag_texts[] = {
	{ NT_PLACE_NO_TUNER, "the user's own NCCL_TUNER_PLUGIN was kept" },
	{ NT_PLACE_NO_PROFILER, "the user's own NCCL_PROFILER_PLUGIN was kept" },
	{ NT_PLACE_USER_ALGO, "the user's own NCCL_ALGO is in force" },
	{ NT_PLACE_USER_PROTO, "the user's own NCCL_PROTO is in force" },
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

/* What was loaded behind ours, or why not; text from a file is not trusted. */
static void show_plugins(json_object *plugins)
{
	char kind[16], text[512];

	if (!plugins)
		return;
	json_object_object_foreach(plugins, name, value)
	{
		const char *said = json_object_get_string(value);

		if (!said)
			continue;
		nt_printable_copy(kind, sizeof(kind), name, strlen(name));
		nt_printable_copy(text, sizeof(text), said, strlen(said));
		printf("  chained %s: %s\n", kind, text);
	}
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* What the program felt. */
static void show_marker(const struct nt_rank_marker *marker)
{
	double us[NT_RANK_PERIODS_MAX];
	size_t count = marker->periods;
	char size[NT_CELL_MAX];

	if (marker->coll < 0 || count == 0)
		return;
	memcpy(us, marker->period_us, count * sizeof(us[0]));
	qsort(us, count, sizeof(us[0]), by_value);
	printf("  step marker: %s %s of %" PRId64 " ranks, %" PRId64
	       " calls, every %.1f ms (quartiles %.1f and %.1f, %zu times)\n",
	       nt_coll_name(marker->coll), nt_size_text((size_t)marker->bytes, size, sizeof(size)),
	       marker->ranks, marker->calls, us[count / 2] / 1e3, us[count / 4] / 1e3,
	       us[count * 3 / 4] / 1e3, count);
}

static void show_platform(const struct nt_rank *rank)
{
	if (rank->driver[0])
		printf("  driver: %s\n", rank->driver);
	if (rank->fabric[0])
		printf("  fabric: %s (a guess)\n", rank->fabric);
	if (rank->launch[0])
		printf("  launch profile: %s\n", rank->launch);
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

/* Where AUTO was kept. */
static void show_why(const struct nt_rank_key *key)
{
	char size[NT_CELL_MAX];

	if (key->why[0])
		printf("    %s %s: AUTO stays: %s\n", nt_coll_name(key->coll),
		       nt_size_text((size_t)key->bytes, size, sizeof(size)), key->why);
}

/* The last one only where there is something in it. */
static size_t table_count(const struct nt_rank_comm *comm)
{
	const size_t all = sizeof(tables) / sizeof(tables[0]);

	for (size_t i = 0; i < comm->key_count; i++) {
		if (!isnan(comm->keys[i].auto_own_us) || !isnan(comm->keys[i].auto_period_us))
			return all;
	}
	return all - 1;
}

/* The record's words as a sentence, and what to do. */
static void explain(const char *why)
{
	struct nt_said said;

	if (!why[0])
		return;
	nt_reason_say(&said, nt_reason_find(why), why, NULL);
	if (!said.type[0])
		return;
	nt_wrap(stdout, "    ", 4, said.says);
	nt_wrap(stdout, "    -> ", 7, said.type);
}

static int show_comm(const struct nt_rank_comm *comm, struct nt_error *err)
{
	printf("  communicator %s: rank %" PRId64 " of %" PRId64, comm->id, comm->rank,
	       comm->ranks);
	if (comm->nodes >= 0)
		printf(" on %" PRId64 " node%s", comm->nodes, comm->nodes == 1 ? "" : "s");
	printf(", %s%s%s\n", comm->state, comm->why[0] ? ": " : "", comm->why);
	explain(comm->why);
	for (size_t i = 0; comm->key_count > 0 && i < table_count(comm); i++) {
		if (nt_table_print(stdout, &tables[i], comm->keys, comm->key_count, err) < 0)
			return -1;
	}
	for (size_t i = 0; i < comm->key_count; i++)
		show_why(&comm->keys[i]);
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
		nt_command_complain(&nt_command_show, "%s", err.text);
	if (parsed < 0) {
		printf("  damaged: %s\n", nt_printable(damage.text));
		nt_command_complain(&nt_command_show, "%s: damaged: %s", path, damage.text);
	}
	return rc < 0 ? -1 : parsed;
}

static int show_line(void *argument, const struct nt_long_part *part, struct nt_text name,
		     struct nt_text value, struct nt_error *err)
{
	bool *failed = argument;

	(void)err;
	if (!nt_text_is(name, NT_LONG_RANK))
		return 0;
	show_name(part->path);
	if (show_text(part->path, value.at, value.bytes) < 0)
		*failed = true;
	return 0;
}

static void complain_part(void *argument, const char *path, const char *why)
{
	bool *failed = argument;

	*failed = true;
	nt_command_complain(&nt_command_show, "%s: %s", path, why);
}

/* A part of a long form, or a job's directory of them. */
static int show_long(const char *path)
{
	struct nt_long_set set;
	struct nt_error err;
	bool failed = false;
	int rc;

	nt_long_set_init(&set);
	set.complain = complain_part;
	set.argument = &failed;
	rc = nt_long_set_add(&set, path, &err);
	nt_long_set_sort(&set, 0, UINT32_MAX);
	if (rc == 0)
		rc = nt_long_set_each(&set, show_line, &failed, &err);
	if (rc < 0)
		nt_command_complain(&nt_command_show, "%s", err.text);
	if (rc == 0 && set.count == 0 && !failed) {
		nt_command_complain(&nt_command_show, "%s: no long form of a record", path);
		failed = true;
	}
	nt_long_set_fini(&set);
	return rc < 0 || failed ? -1 : 0;
}

static int show_file(const char *path)
{
	struct nt_error err;
	size_t text_bytes;
	char *text;
	int rc;

	if (nt_long_set_is(path))
		return show_long(path);
	if (nt_file_read(path, (size_t)NT_RANK_RECORD_MAX, &text, &text_bytes, &err) < 0) {
		nt_command_complain(&nt_command_show, "%s", err.text);
		return -1;
	}
	show_name(path);
	rc = show_text(path, text, text_bytes);
	free(text);
	return rc;
}

static int run(int argc, char *argv[])
{
	static const struct option options[] = {
		{ "help", no_argument, NULL, 'h' },
		{ NULL, 0, NULL, 0 },
	};
	int status = NT_EXIT_OK;
	int option;

	opterr = 0;
	while ((option = getopt_long(argc, argv, ":h", options, NULL)) != -1) {
		if (option == 'h')
			return nt_command_help(&nt_command_show);
		return nt_command_misuse_option(&nt_command_show, option, argv);
	}
	if (optind == argc && show_file("-") < 0)
		status = NT_EXIT_FAILED;
	for (int i = optind; i < argc; i++) {
		if (show_file(argv[i]) < 0)
			status = NT_EXIT_FAILED;
	}
	return nt_command_finish(&nt_command_show, status);
}

const struct nt_command nt_command_show = {
	.name = "show",
	.run = run,
	.summary = "print the records of single ranks in full",
	.help = "Usage: nccl-tune show [FILE...]\n"
		"\n"
		"Print the records that NCCL processes leave in a step's runtime directory (rank.*.json):\n"
		"what was measured, chosen and forced on each communicator, or why nothing was.\n"
		"FILE may be a part of a job's long form (*.jsonl.gz), or the job's directory of them.\n"
		"Without FILE, or with -, standard input is read.\n"
		"\n"
		"  -h, --help  print this\n"
		"\n"
		"Exit status: 0 shown in full, 1 a file is damaged or cannot be read, 2 misuse.\n",
};
