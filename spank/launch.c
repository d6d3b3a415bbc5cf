/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* Asking nt-launch. */
#include "spank/launch.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "record/child.h"

#define ANSWER_MAX 16384
#define STOP_MS 5000 /* between asking a calibration to end and ending it */
#define WORDS_MAX 32

extern char **environ;

/* ---- a question and its answer */

struct question {
	char *word[14];
	unsigned count;
	bool failed;
};

static void add_word(struct question *question, const char *key, const char *value)
{
	char *word = NULL;

	if (asprintf(&word, "%s%s%s", key, key[0] ? "=" : "", value) < 0) {
		question->failed = true;
		return;
	}
	question->word[question->count++] = word;
	question->word[question->count] = NULL;
}

static void add_number(struct question *question, const char *key, int64_t value)
{
	char text[24];

	snprintf(text, sizeof(text), "%" PRId64, value);
	add_word(question, key, text);
}

static int ask_it(const char *program, const char *what, const struct nt_launch_ask *ask,
		  struct nt_child *child, struct nt_error *err)
{
	struct question question = { .count = 0 };
	int rc = -1;

	add_word(&question, "", program);
	add_word(&question, "", what);
	add_word(&question, "launch", ask->launch);
	add_word(&question, "hosts", ask->hosts);
	add_number(&question, "nodes", ask->nodes);
	add_number(&question, "tasks", ask->tasks);
	add_number(&question, "job", ask->job);
	add_number(&question, "array_task", ask->array_task);
	add_number(&question, "calibration", ask->calibration);
	add_word(&question, "profiles", ask->profiles);
	add_word(&question, "site_memory", ask->site_memory);
	if (ask->allowed)
		add_word(&question, "allowed", ask->allowed);
	memset(child, 0, sizeof(*child));
	if (question.failed)
		nt_error_set(err, "out of memory");
	else
		rc = nt_child_run(child, question.word, ANSWER_MAX, NT_LAUNCH_MS, err);
	for (unsigned i = 0; i < question.count; i++)
		free(question.word[i]);
	if (rc == 0 && child->status != 0)
		rc = nt_error_set(err, "%s",
				  child->complaint[0] ? child->complaint : "it has failed");
	return rc;
}

/* Where the value of a line goes; NULL: a line of another version. */
static char *room_for(struct nt_launch_answer *answer, const char *line, size_t key, size_t *room)
{
	const struct {
		const char *key;
		char *text;
		size_t room;
	} texts[] = {
		{ "ticket", answer->ticket, sizeof(answer->ticket) },
		{ "warm", answer->warm, sizeof(answer->warm) },
		{ "text", answer->text, sizeof(answer->text) },
		{ "trouble", answer->trouble, sizeof(answer->trouble) },
	};

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		if (strlen(texts[i].key) != key || memcmp(texts[i].key, line, key) != 0)
			continue;
		*room = texts[i].room;
		return texts[i].text;
	}
	return NULL;
}

static int take_line(struct nt_launch_answer *answer, const char *line)
{
	size_t key = strcspn(line, "="), room = 0;
	char *text = room_for(answer, line, key, &room);

	if (line[key] != '=')
		return -1;
	if (strcmp(line, "may_calibrate=1") == 0)
		answer->may_calibrate = true;
	if (text == NULL)
		return 0;
	if (strlen(line + key + 1) >= room)
		return -1;
	memcpy(text, line + key + 1, strlen(line + key + 1) + 1);
	return 0;
}

static int take_answer(struct nt_launch_answer *answer, char *out)
{
	for (char *line = out; line != NULL && line[0] != '\0';) {
		char *end = strchr(line, '\n');

		if (end == NULL)
			return -1;
		*end = '\0';
		if (take_line(answer, line) < 0)
			return -1;
		line = end + 1;
	}
	return answer->ticket[0] != '\0' ? 0 : -1;
}

int nt_launch_choose(const char *program, const struct nt_launch_ask *ask,
		     struct nt_launch_answer *answer, struct nt_error *err)
{
	struct nt_child child;
	int rc = ask_it(program, "choose", ask, &child, err);

	memset(answer, 0, sizeof(*answer));
	if (rc == 0 && (child.out == NULL || take_answer(answer, child.out) < 0)) {
		memset(answer, 0, sizeof(*answer));
		rc = nt_error_set(err, "%.100s gave no answer that makes sense", program);
	}
	nt_child_fini(&child);
	return rc;
}

int nt_launch_note(const char *program, const struct nt_launch_ask *ask, struct nt_error *err)
{
	struct nt_child child;
	int rc = ask_it(program, "note", ask, &child, err);

	nt_child_fini(&child);
	return rc;
}

/* ---- running something for a while */

static int start(pid_t *pid, char *const argv[])
{
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attributes;
	sigset_t none, all;
	int failure;

	sigemptyset(&none);
	sigfillset(&all);
	if (posix_spawn_file_actions_init(&actions) != 0)
		return ENOMEM;
	if (posix_spawnattr_init(&attributes) != 0) {
		posix_spawn_file_actions_destroy(&actions);
		return ENOMEM;
	}
	posix_spawnattr_setsigmask(&attributes, &none);
	posix_spawnattr_setsigdefault(&attributes, &all);
	posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
	failure = posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
	/* The job's own output stays what its tasks write. */
	if (failure == 0)
		failure = posix_spawn_file_actions_adddup2(&actions, 2, 1);
	if (failure == 0)
		failure = posix_spawn(pid, argv[0], &actions, &attributes, argv, environ);
	posix_spawnattr_destroy(&attributes);
	posix_spawn_file_actions_destroy(&actions);
	return failure;
}

/* true: it is over. */
static bool wait_until(pid_t pid, int64_t until_ms, int *status)
{
	const struct timespec pause = { .tv_nsec = 20000000 };

	for (;;) {
		pid_t waited = waitpid(pid, status, WNOHANG);

		if (waited == pid || (waited < 0 && errno == ECHILD))
			return true;
		if (nt_clock_ms() >= until_ms)
			return false;
		nanosleep(&pause, NULL);
	}
}

static int attend(pid_t pid, int64_t limit_s)
{
	int status = 0;

	if (wait_until(pid, nt_clock_ms() + 1000 * limit_s, &status))
		return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
	kill(pid, SIGTERM);
	if (!wait_until(pid, nt_clock_ms() + STOP_MS, &status)) {
		kill(pid, SIGKILL);
		(void)wait_until(pid, nt_clock_ms() + STOP_MS, &status);
	}
	return NT_LAUNCH_LATE;
}

int nt_launch_run(const char *program, char *const argv[], int64_t limit_s, struct nt_error *err)
{
	static char word[] = "run";
	char name[NT_PATH_MAX + sizeof(NT_LAUNCH_PROGRAM)], parent[24];
	char *all[WORDS_MAX] = { name, word, parent };
	unsigned count = 3;
	pid_t pid;
	int failure;

	snprintf(name, sizeof(name), "%s", program);
	snprintf(parent, sizeof(parent), "%ld", (long)getpid());
	for (unsigned i = 0; argv[i] != NULL; i++) {
		if (count == WORDS_MAX - 1)
			return nt_error_set(err, "too many words");
		all[count++] = argv[i];
	}
	failure = start(&pid, all);
	if (failure != 0)
		return nt_error_set(err, "cannot start %.150s: %s", program, strerror(failure));
	return attend(pid, limit_s);
}
