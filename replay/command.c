/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* nccl-tune replay: what a rule chooses in measured cells, and how often it errs. */
#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include "replay/replay.h"
#include "report/command.h"
#include "record/file.h"
#include "record/longset.h"

#define TRIALS 1000 /* where --power is given alone */
#define MOST_TRIALS 1000000
#define TRACE_BYTES ((size_t)64 << 20)

static const struct option options[] = {
	{ "aa", required_argument, NULL, 'a' },	    { "help", no_argument, NULL, 'h' },
	{ "json", no_argument, NULL, 'j' },	    { "picks", required_argument, NULL, 'k' },
	{ "policy", required_argument, NULL, 'o' }, { "power", required_argument, NULL, 'p' },
	{ "rule", required_argument, NULL, 'r' },   { "seed", required_argument, NULL, 's' },
	{ "trials", required_argument, NULL, 't' }, { NULL, 0, NULL, 0 },
};

struct asked {
	struct nt_replay replay;
	bool json, aa, power, trials, policy;
	bool any; /* a file was looked at */
	const char *rule;
	const char *picks; /* a path; NULL: none */
};

static int number(const char *text, uint64_t low, uint64_t high, uint64_t *value)
{
	char *end;

	errno = 0;
	*value = strtoull(text, &end, 10);
	return isdigit((unsigned char)*text) && !*end && !errno && *value >= low && *value <= high
		       ? 0
		       : -1;
}

static int take_trials(struct asked *asked, const char *name)
{
	uint64_t value;

	if (number(optarg, 1, MOST_TRIALS, &value) < 0)
		return nt_command_misuse(&nt_command_replay, "bad %s '%.40s' (want 1 to %d trials)",
					 name, optarg, MOST_TRIALS);
	asked->replay.trials = (unsigned)value;
	return 0;
}

static int take_power(struct asked *asked)
{
	double percent;
	char *end;

	percent = strtod(optarg, &end);
	if (end == optarg || *end || !(percent > 0 && percent < 100))
		return nt_command_misuse(
			&nt_command_replay,
			"bad --power '%.40s' (want percent, above 0 and below 100)", optarg);
	asked->power = true;
	asked->replay.kind = NT_REPLAY_POWER;
	asked->replay.gain = percent / 100;
	return 0;
}

static int take_policy(struct asked *asked)
{
	struct nt_error err;

	if (nt_policy_parse_option(&asked->replay.policy, optarg, &err) < 0)
		return nt_command_misuse(&nt_command_replay, "%s", err.text);
	asked->replay.policy.mode = NT_MODE_BANDIT;
	asked->policy = true;
	return 0;
}

static int take(struct asked *asked, int option)
{
	switch (option) {
	case 'a':
		asked->aa = true;
		asked->replay.kind = NT_REPLAY_AA;
		return take_trials(asked, "--aa");
	case 't': asked->trials = true; return take_trials(asked, "--trials");
	case 'p': return take_power(asked);
	case 'o': return take_policy(asked);
	case 'j': asked->json = true; return 0;
	case 'r': asked->rule = optarg; return 0;
	case 'k': asked->picks = optarg; return 0;
	default:
		if (number(optarg, 0, UINT64_MAX, &asked->replay.seed) == 0)
			return 0;
		return nt_command_misuse(&nt_command_replay, "bad --seed '%.40s' (want a number)",
					 optarg);
	}
}

static int check(struct asked *asked)
{
	if (asked->aa && (asked->power || asked->trials))
		return nt_command_misuse(&nt_command_replay,
					 "--aa has its own number of trials and "
					 "stands alone");
	if (asked->trials && !asked->power)
		return nt_command_misuse(&nt_command_replay, "--trials goes with --power");
	if (asked->rule && nt_replay_rule(&asked->replay, asked->rule) < 0)
		return nt_command_misuse(
			&nt_command_replay,
			"unknown rule '%.40s' (want nccl-tune, race, paper-online, "
			"paper-offline or ucb1)",
			asked->rule);
	return 0;
}

static bool is_record(const char *text)
{
	return text[strspn(text, " \t\r\n")] == '{';
}

static int replay_text(struct asked *asked, const char *path, char *text, size_t bytes,
		       struct nt_replay_rows *rows, unsigned *left_out, struct nt_error *err)
{
	struct nt_trace trace = { .rows = 0 };
	FILE *f;
	int rc;

	if (is_record(text))
		return nt_replay_record(&asked->replay, text, bytes, rows, left_out, err);
	f = fmemopen(text, bytes, "r");
	if (!f)
		return nt_error_set(err, "no memory");
	rc = nt_trace_read(&trace, f, path, err);
	fclose(f);
	if (rc == 0)
		rc = nt_replay_trace(&asked->replay, &trace, rows, left_out, err);
	nt_trace_fini(&trace);
	return rc;
}

/* One kind of file at a time: they answer different questions. */
static int check_kind(struct asked *asked, bool record, struct nt_error *err)
{
	bool traces = asked->replay.kind != NT_REPLAY_RECORD;

	if (!asked->any && record && traces) {
		if (asked->rule || asked->picks || asked->aa || asked->power || asked->policy)
			return nt_error_set(
				err, "a record repeats its own decisions, with its own policy; "
				     "other options are for traces");
		asked->replay.kind = NT_REPLAY_RECORD;
		traces = false;
	}
	asked->any = true;
	return record != traces ? 0 : nt_error_set(err, "records and traces cannot be mixed");
}

/* A rank record of a long form: each key was decided in one of them. */
struct in_part {
	struct asked *asked;
	struct nt_replay_rows *rows;
};

static int replay_line(void *argument, const struct nt_long_part *part, struct nt_text name,
		       struct nt_text value, struct nt_error *err)
{
	const struct in_part *in = argument;
	struct nt_error reason;
	unsigned left_out = 0;

	if (!nt_text_is(name, NT_LONG_RANK) ||
	    nt_replay_record(&in->asked->replay, value.at, value.bytes, in->rows, &left_out,
			     &reason) == 0)
		return 0;
	return nt_error_set(err, "%.150s: %.100s", part->path, reason.text);
}

static void complain_part(void *argument, const char *path, const char *why)
{
	bool *damaged = argument;

	*damaged = true;
	nt_command_complain(&nt_command_replay, "%s: %s", path, why);
}

static int replay_long(struct asked *asked, const char *path, struct nt_replay_rows *rows)
{
	struct in_part in = { asked, rows };
	const size_t before = rows->count;
	struct nt_long_set set;
	struct nt_error err;
	bool damaged = false;
	int rc;

	nt_long_set_init(&set);
	set.complain = complain_part;
	set.argument = &damaged;
	rc = check_kind(asked, true, &err);
	if (rc == 0)
		rc = nt_long_set_add(&set, path, &err);
	nt_long_set_sort(&set, 0, UINT32_MAX);
	if (rc == 0)
		rc = nt_long_set_each(&set, replay_line, &in, &err);
	if (rc == 0 && rows->count == before)
		rc = nt_error_set(&err, "%.150s: no decision to repeat", path);
	if (rc < 0)
		nt_command_complain(&nt_command_replay, "%s", err.text);
	nt_long_set_fini(&set);
	return rc < 0 || damaged ? -1 : 0;
}

static int replay_file(struct asked *asked, const char *path, struct nt_replay_rows *rows)
{
	const char *name = strcmp(path, "-") == 0 ? "standard input" : path;
	struct nt_error err = { "" };
	unsigned left_out = 0;
	size_t bytes = 0;
	char *text = NULL;
	int rc;

	if (nt_long_set_is(path))
		return replay_long(asked, path, rows);
	rc = nt_file_read(path, TRACE_BYTES, &text, &bytes, &err);
	if (rc < 0) {
		nt_command_complain(&nt_command_replay, "%s", err.text);
		return -1;
	}
	if (bytes == 0)
		rc = nt_error_set(&err, "%.100s: empty", name);
	else if (check_kind(asked, is_record(text), &err) < 0 ||
		 replay_text(asked, name, text, bytes, rows, &left_out, &err) < 0)
		rc = -1;
	if (rc < 0)
		nt_command_complain(&nt_command_replay, "%s%s%s", is_record(text) ? name : "",
				    is_record(text) ? ": " : "", err.text);
	if (left_out > 0)
		nt_command_complain(&nt_command_replay, "%s: %u %s", name, left_out,
				    is_record(text)
					    ? "decided elsewhere; see the record of the task that "
					      "speaks for the first rank's node"
					    : "without an AUTO row, left out");
	free(text);
	return rc < 0 || left_out > 0 ? -1 : 0;
}

static bool all_same(const struct nt_replay_rows *rows)
{
	for (size_t i = 0; i < rows->count; i++) {
		if (rows->row[i].recorded && !rows->row[i].same)
			return false;
	}
	return true;
}

static int replay_all(struct asked *asked, int count, char *paths[])
{
	struct nt_trace picks = { .rows = 0 };
	struct nt_replay_rows rows = { .count = 0 };
	int status = NT_EXIT_OK;
	struct nt_error err;
	int rc;

	if (asked->picks && nt_picks_load(&picks, asked->picks, &err) < 0) {
		nt_command_complain(&nt_command_replay, "%s", err.text);
		return NT_EXIT_FAILED;
	}
	asked->replay.picks = asked->picks ? &picks : NULL;
	nt_replay_init(&asked->replay);
	for (int i = 0; i < count; i++) {
		if (replay_file(asked, paths[i], &rows) < 0)
			status = NT_EXIT_FAILED;
	}
	if (asked->json)
		rc = nt_replay_json(stdout, &asked->replay, &rows);
	else
		rc = rows.count ? nt_replay_print(stdout, &asked->replay, &rows, &err) : 0;
	if (rc < 0)
		nt_command_complain(&nt_command_replay, "%s", err.text);
	if (!all_same(&rows))
		nt_command_complain(&nt_command_replay, "a decision came out differently");
	if (rc < 0 || !all_same(&rows))
		status = NT_EXIT_FAILED;
	nt_replay_rows_fini(&rows);
	nt_trace_fini(&picks);
	return nt_command_finish(&nt_command_replay, status);
}

static int run(int argc, char *argv[])
{
	struct asked asked = { .replay = { .trials = TRIALS, .seed = 1 } };
	int option, status;

	nt_policy_default(&asked.replay.policy);
	asked.replay.policy.mode = NT_MODE_BANDIT;
	opterr = 0;
	while ((option = getopt_long(argc, argv, ":hj", options, NULL)) != -1) {
		if (option == 'h')
			return nt_command_help(&nt_command_replay);
		if (option == '?' || option == ':')
			return nt_command_misuse_option(&nt_command_replay, option, argv);
		status = take(&asked, option);
		if (status != 0)
			return status;
	}
	status = check(&asked);
	if (status != 0)
		return status;
	if (optind == argc)
		return nt_command_misuse(&nt_command_replay, "no trace (want files, or '-')");
	return replay_all(&asked, argc - optind, argv + optind);
}

const struct nt_command nt_command_replay = {
	.name = "replay",
	.run = run,
	.summary = "what a rule decides on measured times, and how often it errs",
	.help = "Usage: nccl-tune replay [--rule RULE] [--policy POLICY] [--json] FILE...\n"
		"       nccl-tune replay --aa N [OPTION]... TRACE...\n"
		"       nccl-tune replay --power PCT [--trials N] [OPTION]... TRACE...\n"
		"\n"
		"Runs the engine that decides in jobs on traces: text files of measured times, a line\n"
		"for each arm of a cell: collective,topology,mode,algorithm,protocol,bytes,samples...\n"
		"in microseconds, AUTO,AUTO being NCCL's own choice. '-' is standard input. Of the record of\n"
		"a process of a job, or a job's long form, the decisions are repeated.\n"
		"Prints for each cell AUTO and the best arm, the arm chosen, and the calls spent;\n"
		"samples are taken in order, and again from the start when used up.\n"
		"\n"
		"      --aa N           N trials with identical arms, drawn from AUTO's samples: how often\n"
		"                       one of them is chosen\n"
		"      --power PCT      one of them is made PCT percent faster: how often it is found\n"
		"      --trials N       of --power; the default is 1000\n"
		"      --picks FILE     what NCCL picks itself and masks: such arms are left out, since no job\n"
		"                       can choose them; a line for each cell:\n"
		"                       collective,topology,bytes,algorithm,protocol[,masked...]\n"
		"      --rule RULE      nccl-tune (the default), race, paper-online, paper-offline or ucb1\n"
		"      --policy POLICY  settings as srun --nccl-tune takes them\n"
		"      --seed S         for another draw; the same seed gives the same answer\n"
		"  -j, --json           an array of objects\n",
};
