/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* nccl-tune replay: run the decision engine on measured times, and count its errors. */
#include "cli/replay.h"

#include <stdlib.h>
#include <string.h>
#include "cli/command.h"
#include "cli/job-word.h"
#include "lib/file.h"

#define TRIALS 1000 /* where --power is given alone */
#define MOST_TRIALS 1000000
#define TRACE_BYTES ((size_t)64 << 20)

static const struct nt_replay_rule *the_rule = &nt_replay_own;

struct asked {
	struct nt_replay replay;
	unsigned aa, trials; /* 0: not given */
	bool json, policy;
	bool any; /* a file was read */
	const char *picks; /* a path; NULL: none */
};

static int take_power(void *argument, const char *text)
{
	struct asked *asked = argument;
	double percent;
	char *end;

	percent = strtod(text, &end);
	if (end == text || *end || !(percent > 0 && percent < 100))
		return nt_command_misuse(
			"bad --power '%.40s' (want percent, above 0 and below 100)", text);
	asked->replay.kind = NT_REPLAY_POWER;
	asked->replay.gain = percent / 100;
	return 0;
}

static int take_policy(void *argument, const char *text)
{
	struct asked *asked = argument;
	struct nt_error err;

	if (nt_policy_parse_option(&asked->replay.policy, text, &err) < 0)
		return nt_command_misuse("%s", err.text);
	asked->replay.policy.mode = NT_MODE_BANDIT;
	asked->policy = true;
	return 0;
}

static int check(struct asked *asked)
{
	const bool power = asked->replay.kind == NT_REPLAY_POWER;

	if (asked->aa && (power || asked->trials))
		return nt_command_misuse("--aa cannot be combined with --power and --trials");
	if (asked->trials && !power)
		return nt_command_misuse("--trials needs --power");
	if (asked->aa)
		asked->replay.kind = NT_REPLAY_AA;
	asked->replay.trials = asked->aa ? asked->aa : asked->trials ? asked->trials : TRIALS;
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

/* Records and traces cannot be mixed: they answer different questions. */
static int check_kind(struct asked *asked, bool record, struct nt_error *err)
{
	bool traces = asked->replay.kind != NT_REPLAY_RECORD;

	if (!asked->any && record && traces) {
		if (asked->picks || asked->replay.kind != NT_REPLAY_CELLS || asked->policy)
			return nt_error_set(err,
					    "a record is replayed with its own policy; the other "
					    "options are for traces");
		asked->replay.kind = NT_REPLAY_RECORD;
		traces = false;
	}
	asked->any = true;
	return record != traces ? 0 : nt_error_set(err, "records and traces cannot be mixed");
}

/* Each key was decided by one of the ranks of a long form. */
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

static int replay_all(struct asked *asked, char *paths[])
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
	for (; *paths; paths++) {
		if (replay_file(asked, *paths, &rows) < 0)
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
	return status;
}

int nt_replay_command(const struct nt_replay_rule *rule, int argc, char *argv[])
{
	the_rule = rule;
	return nt_command_run(&nt_command_replay, argc, argv);
}

static void init(void *argument)
{
	struct asked *asked = argument;

	asked->replay.rule = the_rule;
	asked->replay.seed = 1;
	nt_policy_default(&asked->replay.policy);
	asked->replay.policy.mode = NT_MODE_BANDIT;
}

static int run(void *argument, char *argv[])
{
	struct asked *asked = argument;
	const int status = check(asked);

	if (status != 0)
		return status;
	if (!argv[0])
		return nt_command_misuse("no trace (want jobs, files, or '-')");
	return replay_all(asked, argv);
}

static const struct nt_option options[] = {
	{ "aa", 0,
	  "Run N trials in which all choices draw from the samples of NCCL's choice, and count how "
	  "often another one is chosen",
	  NT_U32(struct asked, aa, "N", 1, MOST_TRIALS) },
	{ "power", 0, "As --aa, with one choice PCT percent faster: count how often it is found",
	  NT_TAKE(take_power, "PCT") },
	{ "trials", 0, "Trials of --power (default: 1000)",
	  NT_U32(struct asked, trials, "N", 1, MOST_TRIALS) },
	{ "picks", 0,
	  "NCCL's choice and the choices that it masks, which are not tried. One line per case: "
	  "collective,topology,bytes,algorithm,protocol[,masked...]",
	  NT_TEXT(struct asked, picks, "FILE") },
	{ "policy", 0, "Settings, as srun --nccl-tune takes them", NT_TAKE(take_policy, "POLICY") },
	{ "seed", 0, "Seed of the trials; the same seed gives the same answer",
	  NT_U64(struct asked, replay.seed, "S", 0, UINT64_MAX) },
	{ "json", 'j', "Print an array of objects", NT_FLAG(struct asked, json) },
	{ 0 },
};

const struct nt_command nt_command_replay = {
	.name = "replay",
	.summary = "run the decision engine on measured times, and count its errors",
	.options = options,
	.usage = "{JOB[.STEP] | FILE}...\n--aa N TRACE...\n--power PCT TRACE...",
	.doc = "Run the decision engine of jobs on traces, and print for each case NCCL's choice, "
	       "the best other one, the one chosen and the calls spent. A trace is a text file "
	       "with one line per choice: "
	       "collective,topology,mode,algorithm,protocol,bytes,samples... in microseconds. "
	       "AUTO,AUTO is NCCL's choice. Samples are used in order, repeatedly if necessary. "
	       "- is standard input.\n\n"
	       "For the record of a process, a job's long form, or a JOB that has one, repeat its "
	       "decisions.",
	.request_bytes = sizeof(struct asked),
	.init = init,
	.run = run,
	.arguments = NT_ANY_NUMBER,
};
