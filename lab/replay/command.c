/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "lab/replay/command.h"

#include <getopt.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include "lab/replay/job-word.h"
#include "lib/file.h"
#include "lib/number.h"
#include "lib/printable.h"

#define TRIALS 1000 /* where --power is given alone */
#define MOST_TRIALS 1000000
#define TRACE_BYTES ((size_t)64 << 20)

enum { OK, FAILED, MISUSE };

struct asked {
	struct nt_replay replay;
	unsigned aa, trials; /* 0: not given */
	bool json, policy;
	bool any; /* a file was read */
	const char *picks; /* a path; NULL: none */
};

static const char usage[] =
	"usage: nt-replay [--policy POLICY] [--picks FILE] [--json] {JOB[.STEP] | FILE}...\n"
	"       nt-replay [OPTION]... {--aa N | --power PCT [--trials N]} [--seed S] TRACE...\n"
	"Run the decision engine on traces, and print for each case NCCL's choice, the best other\n"
	"one, the one chosen and the calls spent; or repeat the decisions in a process's record, a\n"
	"job's long form or a JOB that has one. A trace has one line per choice:\n"
	"collective,topology,mode,algorithm,protocol,bytes,samples... in microseconds; AUTO,AUTO is\n"
	"NCCL's choice. - is standard input.\n"
	"  --aa N         trials in which all choices draw from the samples of NCCL's choice: how often\n"
	"                 another one is chosen\n"
	"  --power PCT    the same with one choice PCT percent faster: how often it is found\n"
	"  --trials N     of --power (1000)\n"
	"  --picks FILE   NCCL's choice and those that it masks, which are not tried:\n"
	"                 collective,topology,bytes,algorithm,protocol[,masked...]\n"
	"  --policy TEXT  as srun --nccl-tune takes it\n"
	"  --seed S       of the trials\n"
	"  --json         an array of objects\n";

static void complain(const char *format, ...) __attribute__((format(printf, 1, 2)));

static void complain(const char *format, ...)
{
	char text[1024];
	va_list args;

	fflush(stdout);
	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	fprintf(stderr, "nt-replay: %s\n", nt_printable(text));
}

static int take_power(struct asked *asked, const char *text)
{
	char *end;
	const double percent = strtod(text, &end);

	if (end == text || *end || !(percent > 0 && percent < 100)) {
		complain("bad --power '%.40s' (want percent, above 0 and below 100)", text);
		return -1;
	}
	asked->replay.kind = NT_REPLAY_POWER;
	asked->replay.gain = percent / 100;
	return 0;
}

static int take_policy(struct asked *asked, const char *text)
{
	struct nt_error err;

	if (nt_policy_parse_option(&asked->replay.policy, text, &err) < 0) {
		complain("%s", err.text);
		return -1;
	}
	asked->replay.policy.mode = NT_MODE_BANDIT;
	asked->policy = true;
	return 0;
}

static int take_number(const char *name, const char *text, uint64_t least, uint64_t most,
		       uint64_t *out)
{
	if (nt_number_parse(text, least, most, out) == 0)
		return 0;
	complain("--%s '%.40s' is not a number from %llu to %llu", name, text,
		 (unsigned long long)least, (unsigned long long)most);
	return -1;
}

static int check(struct asked *asked)
{
	const bool power = asked->replay.kind == NT_REPLAY_POWER;

	if (asked->aa && (power || asked->trials)) {
		complain("--aa cannot be combined with --power and --trials");
		return -1;
	}
	if (asked->trials && !power) {
		complain("--trials needs --power");
		return -1;
	}
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
	const struct nt_rank_visitor visitor = { replay_rank, &in, &damaged };
	const size_t before = rows->count;
	struct nt_error err;
	size_t parts;
	int rc = check_kind(asked, true, &err);

	if (rc == 0)
		rc = nt_job_word_visit(word, &visitor, &parts, &err);
	if (rc == 0 && rows->count == before)
		rc = nt_error_set(&err, "%.150s: no decision to replay", word);
	if (rc < 0)
		complain("%s", err.text);
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
		complain("%s", err.text);
		return -1;
	}
	if (bytes == 0)
		rc = nt_error_set(&err, "%.100s: empty", name);
	else if (check_kind(asked, is_record(text), &err) < 0 ||
		 replay_text(asked, name, text, bytes, rows, &left_out, &err) < 0)
		rc = -1;
	if (rc < 0)
		complain("%s%s%s", is_record(text) ? name : "", is_record(text) ? ": " : "",
			 err.text);
	if (left_out > 0)
		complain("%s: %u %s", name, left_out,
			 is_record(text) ? "decided on another node: see the record of the "
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
	int status = OK;
	struct nt_error err;
	int rc;

	if (asked->picks && nt_picks_load(&picks, asked->picks, &err) < 0) {
		complain("%s", err.text);
		return FAILED;
	}
	asked->replay.picks = asked->picks ? &picks : NULL;
	nt_replay_init(&asked->replay);
	for (; *paths; paths++) {
		if (replay_file(asked, *paths, &rows) < 0)
			status = FAILED;
	}
	if (asked->json)
		rc = nt_replay_json(stdout, &asked->replay, &rows);
	else
		rc = rows.count ? nt_replay_print(stdout, &asked->replay, &rows, &err) : 0;
	if (rc < 0)
		complain("%s", err.text);
	if (!all_same(&rows))
		complain("a decision differs");
	if (rc < 0 || !all_same(&rows))
		status = FAILED;
	nt_replay_rows_fini(&rows);
	nt_trace_fini(&picks);
	return status;
}

static int take_option(struct asked *asked, int letter, const char *text)
{
	uint64_t number = 0;
	int rc = 0;

	switch (letter) {
	case 'a':
		rc = take_number("aa", text, 1, MOST_TRIALS, &number);
		asked->aa = (unsigned)number;
		break;
	case 't':
		rc = take_number("trials", text, 1, MOST_TRIALS, &number);
		asked->trials = (unsigned)number;
		break;
	case 's': rc = take_number("seed", text, 0, UINT64_MAX, &asked->replay.seed); break;
	case 'w': rc = take_power(asked, text); break;
	case 'p': rc = take_policy(asked, text); break;
	case 'i': asked->picks = text; break;
	case 'j': asked->json = true; break;
	default: rc = -1;
	}
	return rc;
}

static int parse(struct asked *asked, int argc, char *argv[])
{
	static const struct option options[] = {
		{ "aa", required_argument, NULL, 'a' },
		{ "power", required_argument, NULL, 'w' },
		{ "trials", required_argument, NULL, 't' },
		{ "picks", required_argument, NULL, 'i' },
		{ "policy", required_argument, NULL, 'p' },
		{ "seed", required_argument, NULL, 's' },
		{ "json", no_argument, NULL, 'j' },
		{ NULL, 0, NULL, 0 },
	};
	int letter;

	while ((letter = getopt_long(argc, argv, "j", options, NULL)) != -1) {
		if (take_option(asked, letter, optarg) < 0)
			return -1;
	}
	return check(asked);
}

int nt_replay_command(int argc, char *argv[])
{
	struct asked asked = { .replay = { .seed = 1 } };

	nt_policy_default(&asked.replay.policy);
	asked.replay.policy.mode = NT_MODE_BANDIT;
	if (parse(&asked, argc, argv) < 0 || !argv[optind]) {
		fputs(usage, stderr);
		return MISUSE;
	}
	return replay_all(&asked, argv + optind);
}
