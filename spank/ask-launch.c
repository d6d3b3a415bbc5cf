/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* Run nt-launch and read its answers. */
#include "spank/ask-launch.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "lib/argv.h"
#include "lib/child.h"
#include "lib/clock.h"
#include "lib/list.h"

#define ANSWER_MAX 16384
#define STOP_MS 5000 /* between SIGTERM to a calibration and SIGKILL */
#define REAP_MS 500 /* for SIGKILL */

/* ---- a question and its answer */

/* key and number: an argument of this request; NULL: none. */
static int ask_it(const char *program, const char *what, const struct nt_launch_ask *ask,
		  const char *key, int64_t number, struct nt_child *child, struct nt_error *err)
{
	struct nt_argv words = { .count = 0 };
	int rc = -1;

	nt_argv_add(&words, "%s", program);
	nt_argv_add(&words, "%s", what);
	nt_argv_add(&words, "launch=%s", ask->launch);
	nt_argv_add(&words, "hosts=%s", ask->hosts);
	nt_argv_add(&words, "nodes=%" PRIu32, ask->nodes);
	nt_argv_add(&words, "tasks=%" PRIu32, ask->tasks);
	nt_argv_add(&words, "job=%" PRIu32, ask->job);
	nt_argv_add(&words, "calibration=%d", ask->calibration);
	if (key)
		nt_argv_add(&words, "%s=%" PRId64, key, number);
	if (ask->program[0])
		nt_argv_add(&words, "program=%s", ask->program);
	nt_argv_add(&words, "profiles=%s", ask->profiles);
	nt_argv_add(&words, "site_memory=%s", ask->site_memory);
	if (ask->allowed)
		nt_argv_add(&words, "allowed=%s", ask->allowed);
	memset(child, 0, sizeof(*child));
	if (words.failed)
		nt_error_set(err, "out of memory");
	else
		rc = nt_child_run(child, words.word, ANSWER_MAX, NT_LAUNCH_MS, err);
	nt_argv_fini(&words);
	if (rc == 0 && child->status != 0)
		rc = nt_error_set(err, "%s",
				  child->complaint[0] ? child->complaint : "it has failed");
	return rc;
}

static int take_pairs(char text[NT_POLICY_MAX], const struct nt_child *child, struct nt_error *err)
{
	const char *out = child->out ? child->out : "";
	const size_t bytes = strcspn(out, "\n");

	if (child->status != 0)
		return nt_error_set(err, "%s",
				    child->complaint[0] ? child->complaint
							: "your nccl-tune.conf cannot be read");
	if (out[bytes] != '\n' || bytes >= NT_POLICY_MAX)
		return nt_error_set(err, "your nccl-tune.conf: " NT_LAUNCH_PROGRAM
					 " gave an invalid answer");
	memcpy(text, out, bytes);
	text[bytes] = '\0';
	return 0;
}

int nt_launch_user_file(const char *program, char text[NT_POLICY_MAX], bool *late,
			struct nt_error *err)
{
	char what[] = "user-file";
	char *const argv[] = { (char *)(uintptr_t)program, what, NULL };
	const int64_t deadline_ms = nt_clock_ms() + NT_LAUNCH_FILE_MS;
	struct nt_child child;
	struct nt_error why;
	int rc = nt_child_run(&child, argv, 2 * NT_POLICY_MAX, NT_LAUNCH_FILE_MS, &why);

	text[0] = '\0';
	*late = rc < 0 && nt_clock_ms() >= deadline_ms;
	if (*late)
		nt_error_set(err, "your nccl-tune.conf could not be read within %d s",
			     NT_LAUNCH_FILE_MS / 1000);
	else if (rc < 0)
		nt_error_set(err, "%.150s: %s", program, why.text);
	else
		rc = take_pairs(text, &child, err);
	nt_child_fini(&child);
	return rc;
}

/* Unknown keys, of another version, are ignored. */
static int take_line(struct nt_launch_answer *answer, const char *line)
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
		const char *value = nt_value_of(line, texts[i].key);

		if (value && strlen(value) >= texts[i].room)
			return -1;
		if (value)
			memcpy(texts[i].text, value, strlen(value) + 1);
	}
	if (strcmp(line, "may_calibrate=1") == 0)
		answer->may_calibrate = true;
	return strchr(line, '=') ? 0 : -1;
}

static int take_answer(struct nt_launch_answer *answer, char *out)
{
	const size_t bytes = strlen(out);
	char *line;

	if (bytes == 0 || out[bytes - 1] != '\n')
		return -1;
	out[bytes - 1] = '\0';
	while ((line = strsep(&out, "\n")) != NULL) {
		if (take_line(answer, line) < 0)
			return -1;
	}
	return answer->ticket[0] != '\0' ? 0 : -1;
}

int nt_launch_select(const char *program, const struct nt_launch_ask *ask,
		     struct nt_launch_answer *answer, struct nt_error *err)
{
	struct nt_child child;
	int rc = ask_it(program, "choose", ask, NULL, 0, &child, err);

	memset(answer, 0, sizeof(*answer));
	if (rc == 0 && (child.out == NULL || take_answer(answer, child.out) < 0)) {
		memset(answer, 0, sizeof(*answer));
		rc = nt_error_set(err, "%.100s gave an invalid answer", program);
	}
	nt_child_fini(&child);
	return rc;
}

int nt_launch_claim(const char *program, const struct nt_launch_ask *ask, int64_t seconds,
		    char why[NT_LAUNCH_LINE], struct nt_error *err)
{
	struct nt_child child;
	int rc = ask_it(program, "claim", ask, "seconds", seconds, &child, err);

	if (rc == 0) {
		snprintf(why, NT_LAUNCH_LINE, "%.*s", child.out ? (int)strcspn(child.out, "\n") : 0,
			 child.out);
		rc = why[0] == '\0';
	}
	nt_child_fini(&child);
	return rc;
}

int nt_launch_release(const char *program, const struct nt_launch_ask *ask, bool well,
		      struct nt_error *err)
{
	struct nt_child child;
	int rc = ask_it(program, "release", ask, "well", well, &child, err);

	nt_child_fini(&child);
	return rc;
}

/* ---- running something for a while */

static const int ending_signals[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT };
enum { ENDING_SIGNALS = 4 };
static volatile sig_atomic_t signals_came, signal_number; /* SIGINT replaces no other */

static void note_signal(int number)
{
	if (signal_number == 0 || number != SIGINT)
		signal_number = number;
	signals_came++;
}

struct caught {
	struct sigaction actions[ENDING_SIGNALS];
	sigset_t mask;
};

/* srun blocks these signals in all threads, and one thread waits for them and would end the step. A
 * signal to the process goes to the main thread if that has not blocked it (Linux,
 * kernel/signal.c, complete_signal()), so unblock it here. */
static void catch_signals(struct caught *caught)
{
	struct sigaction action = { .sa_handler = note_signal };
	sigset_t set;

	sigemptyset(&set);
	signals_came = signal_number = 0;
	for (unsigned i = 0; i < ENDING_SIGNALS; i++) {
		sigaction(ending_signals[i], &action, &caught->actions[i]);
		sigaddset(&set, ending_signals[i]);
	}
	pthread_sigmask(SIG_UNBLOCK, &set, &caught->mask);
}

static void release_signals(const struct caught *caught)
{
	pthread_sigmask(SIG_SETMASK, &caught->mask, NULL);
	for (unsigned i = 0; i < ENDING_SIGNALS; i++)
		sigaction(ending_signals[i], &caught->actions[i], NULL);
}

enum ending { ENDED, INTERRUPTED, LATE };

/* INTERRUPTED: more signals came than *heard, which is updated. */
static enum ending wait_until(pid_t pid, int64_t until_ms, int *status, sig_atomic_t *heard)
{
	static const struct timespec pause = { .tv_nsec = 20000000 };

	for (;;) {
		pid_t waited = waitpid(pid, status, WNOHANG);

		if (waited == pid || (waited < 0 && errno == ECHILD))
			return ENDED;
		if (nt_clock_ms() >= until_ms)
			return LATE;
		if (signals_came != *heard) {
			*heard = signals_came;
			return INTERRUPTED;
		}
		nanosleep(&pause, NULL);
	}
}

/* Its exit status, or NT_LAUNCH_*. */
static int attend(pid_t pid, int64_t limit_s)
{
	int status = 0;
	sig_atomic_t heard = 0;
	enum ending ending = wait_until(pid, nt_clock_ms() + 1000 * limit_s, &status, &heard);

	if (ending == ENDED)
		return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
	kill(pid, SIGTERM);
	if (wait_until(pid, nt_clock_ms() + STOP_MS, &status, &heard) != ENDED) {
		kill(-pid, SIGKILL);
		(void)wait_until(pid, nt_clock_ms() + REAP_MS, &status, &heard);
	}
	return ending == LATE ? NT_LAUNCH_LATE : NT_LAUNCH_STOPPED;
}

/* srun has not launched its step yet, so it could not pass the signal on: it gets the signal every
 * second from now on, until it ends. */
static void hand_back(int number)
{
	struct sigevent event = { .sigev_notify = SIGEV_SIGNAL, .sigev_signo = number };
	const struct itimerspec times = { .it_interval = { .tv_sec = 1 },
					  .it_value = { .tv_sec = 1 } };
	timer_t timer;

	if (number != 0 && number != SIGINT && timer_create(CLOCK_MONOTONIC, &event, &timer) == 0)
		(void)timer_settime(timer, 0, &times, NULL);
}

int nt_launch_run(const char *program, char *const argv[], int64_t limit_s, struct nt_error *err)
{
	struct nt_argv words = { .count = 0 };
	int failure, status = -1;
	struct caught caught;
	pid_t pid;

	nt_argv_add(&words, "%s", program);
	nt_argv_add(&words, "run");
	nt_argv_add(&words, "%ld", (long)getpid());
	for (unsigned i = 0; argv[i] != NULL; i++)
		nt_argv_add(&words, "%s", argv[i]);
	if (words.failed) {
		nt_argv_fini(&words);
		return nt_error_set(err, "too many words");
	}
	/* Before it starts, so that no signal is missed. */
	catch_signals(&caught);
	/* stdout is for the step's tasks. Ctrl-C does not reach a group of its own. */
	failure = nt_child_spawn(&pid, words.word, STDERR_FILENO, STDERR_FILENO, true);
	if (failure == 0)
		status = attend(pid, limit_s);
	else
		nt_error_set(err, "cannot start %.150s: %s", program, strerror(failure));
	hand_back(signal_number);
	release_signals(&caught);
	nt_argv_fini(&words);
	return status;
}
