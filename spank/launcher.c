/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* nt-launch: chooses a launch profile for srun, as the user, see spank/launch.h */
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>
#include "engine/compare.h"
#include "launch/directory.h"
#include "launch/file.h"
#include "launch/pick.h"
#include "record/printable.h"
#include "spank/launch.h"

extern char **environ;

static int complain(const char *text)
{
	struct nt_shown shown;

	fprintf(stderr, "%s\n", nt_shown(&shown, text));
	return EXIT_FAILURE;
}

/* ---- the question */

struct given {
	struct nt_pick_ask ask;
	const char *profiles, *site_memory;
};

static int64_t number_of(const char *value)
{
	char *end;
	int64_t number;

	errno = 0;
	number = strtoll(value, &end, 10);
	return errno != 0 || end == value || *end != '\0' ? INT64_MIN : number;
}

static int take_number(const char *value, uint32_t *out)
{
	int64_t number = number_of(value);

	*out = (uint32_t)number;
	return number >= 0 && number <= UINT32_MAX ? 0 : -1;
}

static bool is_key(const char *word, size_t length, const char *key)
{
	return strlen(key) == length && memcmp(word, key, length) == 0;
}

static int take_word(struct given *given, const char *word)
{
	size_t length = strcspn(word, "=");
	const char *value = word + length + 1;
	uint32_t flag = 0;
	int rc = 0;

	if (word[length] != '=')
		return -1;
	if (is_key(word, length, "launch"))
		given->ask.launch = value;
	else if (is_key(word, length, "hosts"))
		given->ask.hosts = value;
	else if (is_key(word, length, "nodes"))
		rc = take_number(value, &given->ask.nodes);
	else if (is_key(word, length, "tasks"))
		rc = take_number(value, &given->ask.tasks);
	else if (is_key(word, length, "job"))
		rc = take_number(value, &given->ask.job);
	else if (is_key(word, length, "array_task"))
		given->ask.array_task = number_of(value);
	else if (is_key(word, length, "calibration"))
		rc = take_number(value, &flag);
	else if (is_key(word, length, "allowed"))
		given->ask.allowed = value;
	else if (is_key(word, length, "profiles"))
		given->profiles = value;
	else if (is_key(word, length, "site_memory"))
		given->site_memory = value;
	else
		rc = -1;
	given->ask.calibration |= flag != 0;
	return rc;
}

static int take_words(struct given *given, int argc, char *argv[])
{
	memset(given, 0, sizeof(*given));
	given->ask.array_task = -1;
	given->ask.now_s = (int64_t)time(NULL);
	given->ask.test = nt_compare_p;
	for (int i = 0; i < argc; i++)
		if (take_word(given, argv[i]) < 0)
			return -1;
	return given->ask.launch != NULL && given->profiles != NULL && given->site_memory != NULL
		       ? 0
		       : -1;
}

static int copy_path(char *out, const char *path)
{
	int length = snprintf(out, NT_PATH_MAX, "%s", path);

	return length >= 0 && length < NT_PATH_MAX ? 0 : -1;
}

/* What the user has set by himself, where NCCL would find it in the tasks. */
static void find_own(struct nt_own *own, struct nt_error *trouble)
{
	char file[NT_PATH_MAX];

	nt_own_init(own);
	nt_own_environment(own, environ, getenv(NT_ENV_LAUNCH));
	nt_own_user_file(file, sizeof(file));
	if (file[0] != '\0')
		(void)nt_own_file(own, file, 0, trouble);
}

/* ---- the answer */

static int answer(const struct nt_pick *pick)
{
	static char text[NT_WARM_TEXT_MAX];
	struct nt_ticket ticket;
	struct nt_warm warm;
	struct nt_error err;

	nt_pick_ticket(pick, &ticket);
	if (nt_ticket_print(&ticket, text, NT_TICKET_MAX, &err) < 0)
		return complain(err.text);
	printf("ticket=%s\n", text);
	if (nt_pick_warm(pick, &warm) && nt_warm_print(&warm, text, sizeof(text), &err) == 0)
		printf("warm=%s\n", text);
	printf("text=%s\n", nt_pick_text(pick, text, NT_LAUNCH_LINE));
	if (pick->trouble.text[0] != '\0')
		printf("trouble=%.*s\n", (int)strcspn(pick->trouble.text, "\n"),
		       pick->trouble.text);
	printf("may_calibrate=%d\n", nt_pick_may_calibrate(pick));
	return fflush(stdout) == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

static int note_it(const struct nt_pick *pick)
{
	struct nt_error err;

	return nt_pick_note_calibration(pick, &err) == 0 ? EXIT_SUCCESS : complain(err.text);
}

static int with_pick(int argc, char *argv[], int (*what)(const struct nt_pick *pick))
{
	static struct nt_pick pick;
	struct nt_pick_paths paths = { .site_flags = NT_LAUNCH_ROOT_ONLY };
	struct nt_error err, trouble = { .text = "" };
	struct given given;
	struct nt_own own;
	int rc;

	if (take_words(&given, argc, argv) < 0 || copy_path(paths.profiles, given.profiles) < 0 ||
	    copy_path(paths.site_memory, given.site_memory) < 0)
		return complain("nt-launch is for spank_nccl_tune.so to start");
	(void)copy_path(paths.site_profiles, NT_SITE_PROFILES);
	(void)nt_memory_directory(paths.memory, &trouble);
	find_own(&own, &trouble);
	given.ask.own = &own;
	if (nt_pick_open(&pick, &paths, &given.ask, &err) < 0)
		return complain(pick.trouble.text[0] != '\0' ? pick.trouble.text : err.text);
	if (pick.trouble.text[0] == '\0')
		pick.trouble = trouble;
	rc = what(&pick);
	nt_pick_fini(&pick);
	return rc;
}

/* ---- a program that ends with srun */

/* Its own sruns run beside the step that waits for them, and none of that step's shape. */
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
	/* An srun that made its job itself has the older name only. */
	if (hosts != NULL)
		setenv("SLURM_JOB_NODELIST", hosts, 0);
}

static int become(int argc, char *argv[])
{
	if (argc < 2)
		return complain("nt-launch run PID PROGRAM...");
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (number_of(argv[0]) != getppid())
		return EXIT_FAILURE; /* it was gone before this took effect */
	make_room();
	execv(argv[1], argv + 1);
	fprintf(stderr, "%s: %s\n", nt_printable(argv[1]), strerror(errno));
	return 127;
}

int main(int argc, char *argv[])
{
	if (argc >= 2 && strcmp(argv[1], "choose") == 0)
		return with_pick(argc - 2, argv + 2, answer);
	if (argc >= 2 && strcmp(argv[1], "note") == 0)
		return with_pick(argc - 2, argv + 2, note_it);
	if (argc >= 2 && strcmp(argv[1], "run") == 0)
		return become(argc - 2, argv + 2);
	return complain("nt-launch is for spank_nccl_tune.so to start");
}
