/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* nt-launch: srun starts it as the user, to choose a launch profile (spank/submit/ask-launch.h). */
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "launch/claim.h"
#include "launch/due.h"
#include "launch/memory-dir.h"
#include "lib/file.h"
#include "launch/select-input.h"
#include "lib/list.h"
#include "lib/number.h"
#include "lib/printable.h"
#include "spank/hosts.h"
#include "spank/submit/ask-launch.h"

/* From the claim to the step's start, and from the program's end to its release. */
#define CLAIM_GRACE_S 60
#define HOSTS_MAX 65536

extern char **environ;

static int complain(const char *text)
{
	struct nt_shown shown;

	fprintf(stderr, "%s\n", nt_shown(&shown, text));
	return EXIT_FAILURE;
}

/* ---- the question */

struct given {
	struct nt_selection_request ask;
	const char *hosts; /* as Slurm lists them; NULL or "": unknown */
	const char *profiles, *site_memory;
	uint32_t typed, gpus, left, limit; /* of a calibration (launch/due.h) */
	const char *address;
};

static int take_number(const char *value, uint32_t *out)
{
	uint64_t number = 0;
	int rc = nt_number_parse(value, 0, UINT32_MAX, &number);

	*out = (uint32_t)number;
	return rc;
}

static const struct {
	const char *key;
	size_t offset;
	bool number;
} keys[] = {
	{ "launch", offsetof(struct given, ask.launch), false },
	{ "hosts", offsetof(struct given, hosts), false },
	{ "program", offsetof(struct given, ask.program), false },
	{ "profiles", offsetof(struct given, profiles), false },
	{ "site_memory", offsetof(struct given, site_memory), false },
	{ "nodes", offsetof(struct given, ask.nodes), true },
	{ "tasks", offsetof(struct given, ask.tasks), true },
	{ "job", offsetof(struct given, ask.job), true },
	{ "node_gpus", offsetof(struct given, ask.node_gpus), true },
	{ "typed", offsetof(struct given, typed), true },
	{ "gpus", offsetof(struct given, gpus), true },
	{ "left", offsetof(struct given, left), true },
	{ "limit", offsetof(struct given, limit), true },
	{ "address", offsetof(struct given, address), false },
};

static int take_word(struct given *given, const char *word)
{
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		const char *value = nt_value_of(word, keys[i].key);
		void *member = (char *)given + keys[i].offset;

		if (!value)
			continue;
		if (keys[i].number)
			return take_number(value, member);
		*(const char **)member = value;
		return 0;
	}
	return -1;
}

static int take_words(struct given *given, int argc, char *argv[])
{
	memset(given, 0, sizeof(*given));
	given->left = UINT32_MAX; /* no limit */
	given->ask.now_s = (int64_t)time(NULL);
	for (int i = 0; i < argc; i++)
		if (take_word(given, argv[i]) < 0)
			return -1;
	return given->ask.launch != NULL && given->profiles != NULL && given->site_memory != NULL
		       ? 0
		       : -1;
}

/* NCCL's variables that the user has set, where NCCL in the tasks would find them. */
static void find_own(struct nt_user_env *own, struct nt_error *trouble)
{
	char file[NT_PATH_MAX];

	nt_user_env_init(own);
	nt_user_env_environment(own, environ, getenv(NT_ENV_LAUNCH));
	nt_user_env_user_file(file, sizeof(file));
	if (file[0] != '\0')
		(void)nt_user_env_file(own, file, 0, trouble);
}

/* ---- the answer */

static int answer(const struct nt_selection *selection, const struct given *given)
{
	static char text[NT_WARM_TEXT_MAX];
	struct nt_ticket ticket;
	struct nt_warm warm;
	struct nt_error err;

	nt_selection_ticket(selection, &ticket);
	ticket.calibrate_s = given->limit;
	if (nt_ticket_print(&ticket, text, NT_TICKET_MAX, &err) < 0)
		return complain(err.text);
	printf("ticket=%s\n", text);
	if (nt_selection_warm(selection, &warm) &&
	    nt_warm_print(&warm, text, sizeof(text), &err) == 0)
		printf("warm=%s\n", text);
	printf("text=%s\n", nt_selection_text(selection, text, NT_LAUNCH_LINE));
	if (selection->trouble.text[0] != '\0')
		printf("trouble=%.*s\n", (int)strcspn(selection->trouble.text, "\n"),
		       selection->trouble.text);
	(void)nt_due_calibration(
		selection, &(struct nt_due_ask){ given->typed != 0, true, -1, given->limit }, text);
	printf("not_due=%s\n", text);
	return fflush(stdout) == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

/* Why this job cannot calibrate now. */
static void print_holder(const struct nt_selection *selection, const struct nt_claim *holder)
{
	const int64_t left_s = holder->until_s - selection->ask.now_s;

	if (holder->job == selection->ask.job)
		puts("why=this job has calibrated");
	else if (holder->failed)
		printf("why=job %" PRIu32 " failed to calibrate such nodes; the next try is in "
		       "%" PRId64 " min\n",
		       holder->job, (left_s + 59) / 60);
	else
		printf("why=job %" PRIu32 " is calibrating such nodes, for at most %" PRId64
		       " s more\n",
		       holder->job, left_s);
}

/* 1: claimed; 0: not, and that is printed. */
static int claim(const struct nt_selection *selection, const struct given *given,
		 struct nt_error *err)
{
	const struct nt_claim mine = { selection->ask.job,
				       selection->ask.now_s + given->limit + CLAIM_GRACE_S, false };
	struct nt_claim holder;
	int rc;

	if (selection->paths.memory[0] == '\0') {
		puts("why=there is no memory to store it in");
		return 0;
	}
	rc = nt_claim_take(selection->paths.memory, &selection->launch.where, &mine,
			   selection->ask.now_s, &holder, err);
	if (rc == 0)
		print_holder(selection, &holder);
	return rc;
}

static int calibrate(const struct nt_selection *selection, const struct given *given)
{
	const struct nt_due_ask ask = {
		.typed = given->typed != 0,
		.gpus = given->gpus != 0,
		.left_s = given->left == UINT32_MAX ? -1 : (int64_t)given->left,
		.limit_s = given->limit,
	};
	static struct nt_cal_request request;
	static char text[NT_CAL_REQUEST_MAX];
	char why[NT_DUE_WHY];
	struct nt_error err;
	int rc;

	if (!nt_due_calibration(selection, &ask, why)) {
		printf("why=%s\n", why);
		return EXIT_SUCCESS;
	}
	nt_due_request(selection, &request);
	request.seconds = given->limit;
	snprintf(request.address, sizeof(request.address), "%s",
		 given->address ? given->address : "");
	if (nt_random_digits(request.token, NT_CAL_TOKEN, &err) < 0 ||
	    nt_cal_request_print(&request, text, sizeof(text), &err) < 0)
		return complain(err.text);
	rc = claim(selection, given, &err);
	if (rc < 0)
		return complain(err.text);
	if (rc > 0)
		printf("request=%s\n", text);
	return fflush(stdout) == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

static int with_pick(int argc, char *argv[],
		     int (*what)(const struct nt_selection *selection, const struct given *given))
{
	static struct nt_selection selection;
	struct nt_selection_paths paths = { .site_profiles = NT_SITE_PROFILES,
					    .site_flags = NT_FILE_ROOT_ONLY };
	struct nt_error err, trouble = { .text = "" };
	char memory[NT_PATH_MAX];
	struct given given;
	struct nt_user_env own;
	char **hosts = NULL;
	int rc;

	if (take_words(&given, argc, argv) < 0)
		return complain("nt-launch is started by spank_nccl_tune.so only");
	(void)nt_memory_directory(memory, &trouble);
	paths.memory = memory;
	paths.profiles = given.profiles;
	paths.site_memory = given.site_memory;
	find_own(&own, &trouble);
	if (given.hosts && given.hosts[0])
		hosts = nt_hosts_names(given.hosts, HOSTS_MAX, &trouble);
	given.ask.hosts = hosts;
	given.ask.user_env = &own;
	if (nt_selection_open(&selection, &paths, &given.ask, &err) < 0)
		return complain(selection.trouble.text[0] != '\0' ? selection.trouble.text
								  : err.text);
	if (selection.trouble.text[0] == '\0')
		selection.trouble = trouble;
	rc = what(&selection, &given);
	nt_selection_fini(&selection);
	nt_hosts_free(hosts);
	return rc;
}

int main(int argc, char *argv[])
{
	if (argc >= 2 && strcmp(argv[1], "choose") == 0)
		return with_pick(argc - 2, argv + 2, answer);
	if (argc >= 2 && strcmp(argv[1], "calibrate") == 0)
		return with_pick(argc - 2, argv + 2, calibrate);
	return complain("nt-launch is started by spank_nccl_tune.so only");
}
