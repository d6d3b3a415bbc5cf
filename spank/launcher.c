/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* nt-launch: srun starts it as the user, to choose a launch profile and to read the user's file of
 * settings (spank/ask-launch.h). */
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>
#include "profiles/claim.h"
#include "profiles/memory-dir.h"
#include "lib/file.h"
#include "profiles/select-input.h"
#include "lib/list.h"
#include "lib/number.h"
#include "lib/printable.h"
#include "site/conf.h"
#include "spank/ask-launch.h"

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
	const char *profiles, *site_memory;
	uint32_t seconds, well; /* of a claim, of its end */
	uint32_t calibration;
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
	{ "hosts", offsetof(struct given, ask.hosts), false },
	{ "program", offsetof(struct given, ask.program), false },
	{ "allowed", offsetof(struct given, ask.allowed), false },
	{ "profiles", offsetof(struct given, profiles), false },
	{ "site_memory", offsetof(struct given, site_memory), false },
	{ "nodes", offsetof(struct given, ask.nodes), true },
	{ "tasks", offsetof(struct given, ask.tasks), true },
	{ "job", offsetof(struct given, ask.job), true },
	{ "seconds", offsetof(struct given, seconds), true },
	{ "well", offsetof(struct given, well), true },
	{ "calibration", offsetof(struct given, calibration), true },
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
	given->ask.now_s = (int64_t)time(NULL);
	for (int i = 0; i < argc; i++)
		if (take_word(given, argv[i]) < 0)
			return -1;
	given->ask.calibration = given->calibration != 0;
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

	(void)given;
	nt_selection_ticket(selection, &ticket);
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
	printf("may_calibrate=%d\n", nt_selection_may_calibrate(selection));
	return fflush(stdout) == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

/* Why this job cannot calibrate now. */
static void print_holder(const struct nt_selection *selection, const struct nt_claim *holder)
{
	const int64_t left_s = holder->until_s - selection->ask.now_s;

	if (holder->job == selection->ask.job && (holder->failed || left_s <= 0))
		puts("this job has calibrated already");
	else if (holder->job == selection->ask.job)
		puts("another step of this job is calibrating");
	else if (holder->failed)
		printf("job %" PRIu32 " failed to calibrate such nodes; the next try is in "
		       "%" PRId64 " min\n",
		       holder->job, (left_s + 59) / 60);
	else
		printf("job %" PRIu32 " is calibrating such nodes, for at most %" PRId64
		       " s more\n",
		       holder->job, left_s);
}

static int claim(const struct nt_selection *selection, const struct given *given)
{
	const struct nt_claim mine = { selection->ask.job, selection->ask.now_s + given->seconds,
				       false };
	struct nt_claim holder;
	struct nt_error err;
	int rc;

	if (selection->paths.memory[0] == '\0')
		return complain("there is no memory to store it in");
	rc = nt_claim_take(selection->paths.memory, &selection->launch.where, &mine,
			   selection->ask.now_s, &holder, &err);
	if (rc < 0)
		return complain(err.text);
	if (rc == 0)
		print_holder(selection, &holder);
	return EXIT_SUCCESS;
}

static int release(const struct nt_selection *selection, const struct given *given)
{
	struct nt_error err;
	int rc = nt_claim_end(selection->paths.memory, selection->ask.job, given->well != 0,
			      selection->ask.now_s, &err);

	return rc == 0 ? EXIT_SUCCESS : complain(err.text);
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
	int rc;

	if (take_words(&given, argc, argv) < 0)
		return complain("nt-launch is started by spank_nccl_tune.so only");
	(void)nt_memory_directory(memory, &trouble);
	paths.memory = memory;
	paths.profiles = given.profiles;
	paths.site_memory = given.site_memory;
	find_own(&own, &trouble);
	given.ask.user_env = &own;
	if (nt_selection_open(&selection, &paths, &given.ask, &err) < 0)
		return complain(selection.trouble.text[0] != '\0' ? selection.trouble.text
								  : err.text);
	if (selection.trouble.text[0] == '\0')
		selection.trouble = trouble;
	rc = what(&selection, &given);
	nt_selection_fini(&selection);
	return rc;
}

/* ---- the user's file */

static int user_file(void)
{
	char text[NT_POLICY_MAX];
	struct nt_error err;

	if (nt_conf_user_text(text, &err) < 0)
		return complain(err.text);
	printf("%s\n", text);
	return fflush(stdout) == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

/* ---- a program that ends with srun */

/* Its sruns run at the same time as the step that waits for them, and do not inherit its shape. */
static void make_room(void)
{
	const char *hosts = getenv("SLURM_NODELIST");
	static const char *const of_the_step[] = {
		"SLURM_NTASKS",
		"SLURM_NPROCS",
		"SLURM_NTASKS_PER_NODE",
		"SLURM_TASKS_PER_NODE",
		"SLURM_STEP_ID",
		"SLURM_STEPID",
		"SLURM_STEP_NODELIST",
		"SLURM_STEP_NUM_NODES",
		"SLURM_STEP_NUM_TASKS",
		"SLURM_DISTRIBUTION",
		"SLURM_STEP_TASKS_PER_NODE",
		NT_ENV_TICKET,
		NT_ENV_SLURM_WARM,
		NT_ENV_SRUN,
	};

	for (size_t i = 0; i < sizeof(of_the_step) / sizeof(of_the_step[0]); i++)
		unsetenv(of_the_step[i]);
	setenv("SLURM_OVERLAP", "1", 1);
	/* An srun that created its job has only the older name. */
	if (hosts != NULL)
		setenv("SLURM_JOB_NODELIST", hosts, 0);
}

static int become(int argc, char *argv[])
{
	uint32_t parent;

	if (argc < 2)
		return complain("nt-launch run PID PROGRAM...");
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (take_number(argv[0], &parent) < 0 || parent != (uint32_t)getppid())
		return EXIT_FAILURE; /* it ended before prctl() */
	make_room();
	signal(SIGTTOU, SIG_IGN); /* with "stty tostop" writing would stop it */
	execv(argv[1], argv + 1);
	fprintf(stderr, "%s: %s\n", nt_printable(argv[1]), strerror(errno));
	return 127;
}

int main(int argc, char *argv[])
{
	if (argc >= 2 && strcmp(argv[1], "choose") == 0)
		return with_pick(argc - 2, argv + 2, answer);
	if (argc >= 2 && strcmp(argv[1], "claim") == 0)
		return with_pick(argc - 2, argv + 2, claim);
	if (argc >= 2 && strcmp(argv[1], "release") == 0)
		return with_pick(argc - 2, argv + 2, release);
	if (argc == 2 && strcmp(argv[1], "user-file") == 0)
		return user_file();
	if (argc >= 2 && strcmp(argv[1], "run") == 0)
		return become(argc - 2, argv + 2);
	return complain("nt-launch is started by spank_nccl_tune.so only");
}
