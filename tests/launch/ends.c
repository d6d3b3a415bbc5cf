/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* ends.c - an NCCL job whose ranks end in ways of their own, when the others need nothing of them any more
 *
 *   ends WAY WHO SECONDS LIBRARY [option of nt-fake-nccl]...
 *
 * All tasks run the job of nt-fake-nccl and say "played TASK". A second later the tasks of WHO ("2", "0,2", "all",
 * "none") end by WAY; the others sleep for SECONDS, say "survived TASK" and return 0. A task that gets SIGUSR1 says
 * "caught TASK" and exits with 0, as a training run that saves its state. Built by the tests: cc ends.c -ldl.
 */
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>
#include "load.h"

static volatile sig_atomic_t caught;

static void on_signal(int number)
{
	caught = number;
}

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

/* Ends early when the signal comes; sleep() would be taken up again. */
static void live(double seconds)
{
	for (int i = 0; i < (int)(seconds * 20) && !caught; i++)
		usleep(50000);
}

int main(int argc, char **argv)
{
	struct sigaction action = { .sa_handler = on_signal, .sa_flags = SA_RESTART };
	const char *task = getenv("SLURM_PROCID");
	nt_play_job play;
	int rc;

	if (argc < 5 || !task)
		return 2;
	sigaction(SIGUSR1, &action, NULL);
	play = nt_load_job(argv[4]);
	rc = play(argc - 4, argv + 4);
	if (rc != 0)
		return rc;
	fprintf(stderr, "played %s\n", task);
	live(1);
	if (is_among(argv[2], strtol(task, NULL, 10)))
		leave_by(argv[1]);
	live(strtod(argv[3], NULL));
	fprintf(stderr, "%s %s\n", caught ? "caught" : "survived", task);
	return 0;
}
