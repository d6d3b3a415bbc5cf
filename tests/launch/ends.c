/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* ends.c - an NCCL job whose ranks end in ways of their own, when the others need nothing of
 * them any more
 *
 *   ends WAY WHO SECONDS LIBRARY [option of nt-fake-nccl]...
 *
 * All tasks run the job of nt-fake-nccl and say "played TASK". Thirteen seconds later nothing
 * has been left to agree on for ten, and the plugin is no client of PMIx any more; on a busy
 * machine this is waited for. Then the tasks of WHO ("2", "0,2", "all" or "none") end by WAY;
 * the others sleep for SECONDS, say "survived TASK" and return 0. A task that gets SIGUSR1
 * meanwhile says "caught TASK" and returns 0, as a training run that saves its state. Its only
 * thread has blocked the signal; any other that lets it in would end the process. Built by the
 * tests: cc ends.c -ldl.
 */
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "load.h"

static bool is_among(const char *who, long task)
{
	char *end;

	if (strcmp(who, "all") == 0)
		return true;
	for (const char *at = who; *at; at = *end == ',' ? end + 1 : end) {
		long one = strtol(at, &end, 10);

		if (end == at)
			return false;
		if (one == task)
			return true;
	}
	return false;
}

static void leave_by(const char *way)
{
	if (strcmp(way, "exit") == 0)
		exit(0);
	if (strcmp(way, "exit3") == 0)
		exit(3);
	if (strcmp(way, "_exit") == 0)
		_exit(0);
	if (strcmp(way, "_exit3") == 0)
		_exit(3);
	if (strcmp(way, "quick_exit") == 0)
		quick_exit(0);
	if (strcmp(way, "abort") == 0)
		abort();
	if (strcmp(way, "segv") == 0)
		raise(SIGSEGV);
	raise(SIGKILL);
}

/* True: the signal came. It is fetched between two sleeps: a thread that waits for it is the one
 *       the kernel gives it to,
 * while in a sleep any other thread that has not blocked it gets it first. */
static bool wait_for_signal(const sigset_t *signals, long seconds)
{
	const struct timespec at_once = { 0 };

	for (long i = 0; i < seconds * 20; i++) {
		usleep(50000);
		if (sigtimedwait(signals, NULL, &at_once) == SIGUSR1)
			return true;
	}
	return false;
}

/* True: the signal came. */
static bool wait_for_calm(const sigset_t *signals)
{
	bool caught = wait_for_signal(signals, 13);

	for (int i = 0; i < 60 && nt_is_pmix_client() && !caught; i++)
		caught = wait_for_signal(signals, 1);
	return caught;
}

int main(int argc, char **argv)
{
	const char *task = getenv("SLURM_PROCID");
	sigset_t signals;
	bool caught;
	int rc;

	if (argc < 5 || !task)
		return 2;
	rc = nt_load_job(argv[4])(argc - 4, argv + 4);
	if (rc != 0)
		return rc;
	sigemptyset(&signals);
	sigaddset(&signals, SIGUSR1);
	sigprocmask(SIG_BLOCK, &signals, NULL);
	fprintf(stderr, "played %s\n", task);
	caught = wait_for_calm(&signals);
	if (!caught && is_among(argv[2], strtol(task, NULL, 10)))
		leave_by(argv[1]);
	caught = caught || wait_for_signal(&signals, strtol(argv[3], NULL, 10));
	fprintf(stderr, "%s %s\n", caught ? "caught" : "survived", task);
	return 0;
}
