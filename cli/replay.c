/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* nccl-tune replay: what the engine chooses in measured cells, and how often it errs. */
#include "cli/replay.h"

#include <stdlib.h>
#include <string.h>
#include "cli/command.h"
#include "cli/job-word.h"
#include "lib/file.h"

#define TRIALS 1000 /* where --power is given alone */
#define MOST_TRIALS 1000000
#define TRACE_BYTES ((size_t)64 << 20)

struct asked {
	struct nt_replay replay;
	bool json, aa, power, trials, policy;
	bool any; /* a file was looked at */
	const char *picks; /* a path; NULL: none */
};

static int take_trials(struct asked *asked, const char *name, const char *text)
{
	return nt_command_count(name, text, MOST_TRIALS, &asked->replay.trials);
}

static int take_power(struct asked *asked, const char *text)
{
	double percent;
	char *end;

	percent = strtod(text, &end);
	if (end == text || *end || !(percent > 0 && percent < 100))
		return nt_command_misuse(
			"bad --power '%.40s' (want percent, above 0 and below 100)", text);
	asked->power = true;
	asked->replay.kind = NT_REPLAY_POWER;
	asked->replay.gain = percent / 100;
	return 0;
}

static int take_policy(struct asked *asked, const char *text)
{
	struct nt_error err;

	if (nt_policy_parse_option(&asked->replay.policy, text, &err) < 0)
		return nt_command_misuse("%s", err.text);
	asked->replay.policy.mode = NT_MODE_BANDIT;
	asked->policy = true;
	return 0;
}

static error_t take_option(int key, char *arg, struct argp_state *state)
{
	struct asked *asked = state->input;

	switch (key) {
	case NT_LONG('a'):
		asked->aa = true;
		asked->replay.kind = NT_REPLAY_AA;
		return take_trials(asked, "--aa", arg);
	case NT_LONG('t'): asked->trials = true; return take_trials(asked, "--trials", arg);
	case NT_LONG('p'): return take_power(asked, arg);
	case NT_LONG('o'): return take_policy(asked, arg);
	case 'j': asked->json = true; return 0;
	case NT_LONG('k'): asked->picks = arg; return 0;
	case NT_LONG('s'):
		return nt_command_number("--seed", arg, 0, UINT64_MAX, &asked->replay.seed);
	default: return ARGP_ERR_UNKNOWN;
	}
}

static int check(struct asked *asked)
{
	if (asked->aa && (asked->power || asked->trials))
		return nt_command_misuse("--aa cannot be combined with --power and --trials");
	if (asked->trials && !asked->power)
		return nt_command_misuse("--trials needs --power");
	return 0;
}

static bool is_record(const char *text)
{
	return text[strspn(text, " \t\r\n")] == '{';
}

static int replay_text(struct asked *asked, const char *path, char *text, size_t bytes,
		       struct nt_replay_rows *rows, unsigned *left_out, struct nt_error *err)
{
	struct nt_trace trace;
	int rc;

	if (is_record(text))
		return nt_replay_record(&asked->replay, text, bytes, rows, left_out, err);
	rc = nt_trace_read(&trace, text, bytes, path, err);
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
		if (asked->picks || asked->aa || asked->power || asked->policy)
			return nt_error_set(err,
					    "a record is replayed with its own policy; the other "
					    "options are for traces");
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

static int replay_rank(void *argument, const struct nt_long_part *part, struct nt_text record,
		       struct nt_error *err)
{
	const struct in_part *in = argument;
	struct nt_error reason;
	unsigned left_out = 0;

	if (nt_replay_record(&in->asked->replay, record.at, record.bytes, in->rows, &left_out,
			     &reason) == 0)
		return 0;
	return nt_error_set(err, "%.150s: %.100s", part->path, reason.text);
}

static int replay_long(struct asked *asked, const char *word, struct nt_replay_rows *rows)
{
	struct in_part in = { asked, rows };
	bool damaged = false;
	const struct nt_rank_visitor visitor = { replay_rank, &in, &damaged, false };
	const size_t before = rows->count;
	struct nt_error err;
	size_t parts;
	int rc = check_kind(asked, true, &err);

	if (rc == 0)
		rc = nt_job_word_visit(word, &visitor, &parts, &err);
	if (rc == 0 && rows->count == before)
		rc = nt_error_set(&err, "%.150s: no decision to replay", word);
	if (rc < 0)
		nt_command_complain("%s", err.text);
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

	if (nt_job_word_is_long(path))
		return replay_long(asked, path, rows);
	rc = nt_file_read(path, TRACE_BYTES, &text, &bytes, &err);
	if (rc < 0) {
		nt_command_complain("%s", err.text);
		return -1;
	}
	if (bytes == 0)
		rc = nt_error_set(&err, "%.100s: empty", name);
	else if (check_kind(asked, is_record(text), &err) < 0 ||
		 replay_text(asked, name, text, bytes, rows, &left_out, &err) < 0)
		rc = -1;
	if (rc < 0)
		nt_command_complain("%s%s%s", is_record(text) ? name : "",
				    is_record(text) ? ": " : "", err.text);
	if (left_out > 0)
		nt_command_complain("%s: %u %s", name, left_out,
				    is_record(text)
					    ? "decided on another node: see the record of the "
					      "node leader of the first rank's node"
					    : "ignored: no row of NCCL's choice (AUTO)");
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

	if (asked->picks && nt_picks_load(&picks, asked->picks, &err) < 0)
		return nt_command_fail(&err);
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
		nt_command_complain("%s", err.text);
	if (!all_same(&rows))
		nt_command_complain("a decision differs");
	if (rc < 0 || !all_same(&rows))
		status = NT_EXIT_FAILED;
	nt_replay_rows_fini(&rows);
	nt_trace_fini(&picks);
	return nt_command_finish(status);
}

int nt_replay_command(const struct nt_replay_rule *rule, int argc, char *argv[])
{
	struct asked asked = { .replay = { .rule = rule, .trials = TRIALS, .seed = 1 } };
	int first, status;

	nt_policy_default(&asked.replay.policy);
	asked.replay.policy.mode = NT_MODE_BANDIT;
	status = nt_command_parse(&nt_command_replay, argc, argv, &asked, &first);
	if (status != NT_COMMAND_GO)
		return status;
	status = check(&asked);
	if (status != 0)
		return status;
	if (first == argc)
		return nt_command_misuse("no trace (want jobs, files, or '-')");
	return replay_all(&asked, argc - first, argv + first);
}

static int run(int argc, char *argv[])
{
	return nt_replay_command(&nt_replay_own, argc, argv);
}

static const struct argp_option options[] = {
	{ "aa", NT_LONG('a'), "N", 0,
	  "Run N trials in which all choices draw from the samples of NCCL's choice, and count how "
	  "often another one is chosen",
	  0 },
	{ "power", NT_LONG('p'), "PCT", 0,
	  "As --aa, with one choice PCT percent faster: count how often it is found", 0 },
	{ "trials", NT_LONG('t'), "N", 0, "Trials of --power (default: 1000)", 0 },
	{ "picks", NT_LONG('k'), "FILE", 0,
	  "NCCL's choice and the choices that it masks, which are not tried. One line per case: "
	  "collective,topology,bytes,algorithm,protocol[,masked...]",
	  0 },
	{ "policy", NT_LONG('o'), "POLICY", 0, "Settings, as srun --nccl-tune takes them", 0 },
	{ "seed", NT_LONG('s'), "S", 0, "Seed of the trials; the same seed gives the same answer",
	  0 },
	{ "json", 'j', NULL, 0, "Print an array of objects", 0 },
	{ 0 },
};

static const struct argp argp = {
	.options = options,
	.parser = take_option,
	.args_doc = "{JOB[.STEP] | FILE}...\n--aa N TRACE...\n--power PCT TRACE...",
	.doc = "Run the decision engine of jobs on traces, and print for each case NCCL's choice, "
	       "the best other one, the one chosen and the calls spent. A trace is a text file "
	       "with one line per choice: "
	       "collective,topology,mode,algorithm,protocol,bytes,samples... in microseconds. "
	       "AUTO,AUTO is NCCL's choice. Samples are used in order, repeatedly if necessary. "
	       "- is standard input.\n\n"
	       "For the record of a process, a job's long form, or a JOB that has one, repeat its "
	       "decisions.",
};

const struct nt_command nt_command_replay = {
	.name = "replay",
	.run = run,
	.summary = "run the decision engine on measured times, and count its errors",
	.argp = &argp,
};
