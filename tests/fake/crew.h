/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* crew.h - the processes of a simulated job: this one's place, and the ones it starts
 *
 * A job is tasks x processes of a task x ranks of a process; ranks are numbered in that order. A
 * task comes from srun, from --fork, or is alone. Idle tasks have no ranks.
 *
 * Threads:  before any other thread is started; the handlers run anywhere.
 * Errors:   an exit code of enum nt_exit, and a message on stderr.
 */
#ifndef NT_FAKE_CREW_H
#define NT_FAKE_CREW_H

#include "tests/fake/fake.h"

struct nt_crew {
	const struct nt_options *options;
	unsigned tasks; /* of the step or of --fork, with idle ones */
	unsigned busy; /* tasks that have ranks */
	unsigned task; /* this one */
	unsigned process; /* of the task */
	bool idle; /* this task has no ranks */
	bool launcher; /* only starts the processes of its task */
	char node[64]; /* Slurm's name; empty: emulated */
};

int nt_crew_complain(int code, const char *what);

/* Fills crew and the job's number of ranks. */
int nt_crew_find(struct nt_crew *crew, struct nt_job *job);

/* The first rank of this process. */
unsigned nt_crew_rank(const struct nt_crew *crew);

/* Runs an idle task. */
int nt_crew_idle(const struct nt_crew *crew);

/* Forks every process of every task; each runs play. Returns what a launcher would report. */
int nt_crew_fork(struct nt_crew *crew, int (*play)(struct nt_crew *crew, struct nt_job *job),
		 struct nt_job *job);

/* A launcher of one task: starts this program again for each process, as torchrun does. */
int nt_crew_launch(const struct nt_crew *crew, const struct nt_job *job, char **argv);

void nt_crew_signals(void (*handler)(int));

#endif
