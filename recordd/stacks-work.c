/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* With on_stall=stacks: when the step stalls, have the stacks of this node's ranks that others wait
 * for read (stack-tool.h), and leave them in trays for the long form. Which ranks these are can be
 * seen from the parts of all nodes, which are written at the same time. */
#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>
#include "lib/clock.h"
#include "lib/dirstream.h"
#include "record/behind.h"
#include "record/longset.h"
#include "record/tray.h"
#include "recordd/stack-tool.h"
#include "recordd/step-record.h"
#include "recordd/user-child.h"
#include "spank/step/cgroup.h"
#include "spank/step/rights.h"

#define RANKS_MAX 4 /* of a node */
#define STALLS_MAX 3 /* of a step */
#define TRIES 5 /* in a stall: other nodes' parts may come later */
#define FIRST_MS 2000 /* until the first; twice as long each time */
#define LIFE_MS (RANKS_MAX * (NT_STACK_MS + 2 * ASK_MS) + 10000)
#define END_MS \
	(LIFE_MS - 10000) /* no tool is started after that: a killed one may leave a rank stopped */
#define ASK_MS 1000 /* the rank's helper thread looks five times a second */
#define NODES_MAX 64 /* of a step whose nodes read each other's parts */
#define PART_FLAGS (O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)

/* ---- in the child: who is it? */

static void add_calls(void *argument, struct nt_collected *item)
{
	if (item->kind == NT_COLLECTED_CALLS && item->text)
		(void)nt_sum_add_begun(argument, item->text, item->bytes, NULL);
}

struct part {
	const struct nt_recordd *recordd;
	struct nt_sum *sum;
	struct nt_long_head head;
};

static int add_line(void *argument, struct nt_text name, struct nt_text value, struct nt_error *err)
{
	const struct part *part = argument;
	const struct nt_arguments *arguments = &part->recordd->arguments;

	if (part->head.job != arguments->job || part->head.run != arguments->run ||
	    strcmp(part->head.step, part->recordd->step) != 0 ||
	    strcmp(part->head.node, arguments->node) == 0)
		return nt_error_set(err, "not of this step");
	if (nt_text_is(name, NT_LONG_CALLS))
		(void)nt_sum_add_begun(part->sum, value.at, value.bytes, NULL);
	return 0;
}

static void add_part(const struct nt_recordd *recordd, int fd, struct nt_sum *sum)
{
	struct part part = { .recordd = recordd, .sum = sum };
	struct stat status;

	if (fd >= 0 && fstat(fd, &status) == 0 && S_ISREG(status.st_mode) &&
	    status.st_uid == recordd->arguments.uid)
		(void)nt_long_read(fd, &part.head, add_line, &part, NULL, NULL);
	if (fd >= 0)
		close(fd);
}

static void add_other_nodes(const struct nt_recordd *recordd, struct nt_sum *sum)
{
	const struct nt_arguments *arguments = &recordd->arguments;
	char path[NT_PATH_MAX + NT_LONG_NAME_MAX];
	const size_t bytes = strlen(recordd->step);
	const struct dirent *entry;
	DIR *directory;

	if (arguments->nodes < 2 || arguments->nodes > NODES_MAX ||
	    nt_longform_directory(arguments, path, sizeof(path)) < 0)
		return;
	directory = nt_dirstream_take(open(path, PART_FLAGS | O_DIRECTORY));
	while (directory && (entry = readdir(directory)) != NULL) {
		if (strncmp(entry->d_name, recordd->step, bytes) == 0 &&
		    entry->d_name[bytes] == '.' && nt_long_part_is(entry->d_name))
			add_part(recordd, openat(dirfd(directory), entry->d_name, PART_FLAGS), sum);
	}
	if (directory)
		closedir(directory);
}

/* ---- its stacks */

/* The tray of a process's record; NULL: it has none, or it cannot be mapped. */
static struct nt_tray *map_tray(int fd, uint32_t pid)
{
	uint32_t owner[NT_TRAYS];
	struct nt_tray *tray;

	if (pread(fd, owner, sizeof(owner), NT_TRAYS_AT + offsetof(struct nt_trays, owner)) !=
	    (ssize_t)sizeof(owner))
		return NULL;
	for (uint32_t i = 0; i < NT_TRAYS; i++) {
		if (owner[i] != pid)
			continue;
		tray = mmap(NULL, sizeof(*tray), PROT_READ | PROT_WRITE, MAP_SHARED, fd,
			    (off_t)NT_TRAY_AT(i));
		if (tray == MAP_FAILED)
			return NULL;
		if (tray->kind == NT_TRAY_RANK && tray->calls.pid == pid)
			return tray;
		munmap(tray, sizeof(*tray));
	}
	return NULL;
}

/* Yama may want the rank itself to permit it. It is not asked without need: it can name one process
 * only, and may have named another. */
static bool ask(int fd, pid_t pid)
{
	const int64_t until_ms = nt_clock_ms() + ASK_MS;
	struct nt_tray *tray = nt_stack_permitted(pid) ? NULL : map_tray(fd, (uint32_t)pid);
	bool permitted = nt_stack_permitted(pid);

	if (tray)
		atomic_store(&tray->calls.tracer, (uint32_t)getpid());
	while (tray && !permitted && nt_clock_ms() < until_ms) {
		usleep(20000);
		permitted = nt_stack_permitted(pid);
	}
	if (tray)
		munmap(tray, sizeof(*tray));
	return permitted;
}

static void leave(int fd, const struct nt_stacks *stacks, const char *text)
{
	char *line = malloc(NT_RANK_RECORD_MAX);

	if (line)
		(void)nt_tray_leave(fd, NT_TRAY_STACKS, "", (uint32_t)getpid(), line,
				    nt_stacks_format(stacks, text, line, NT_RANK_RECORD_MAX));
	free(line);
}

static void read_rank(const struct nt_recordd *recordd, const struct nt_calls_rank *rank)
{
	struct nt_stacks stacks = { .line_array = NULL };
	const pid_t pid = (pid_t)rank->pid;
	struct nt_error err = { "" };
	struct stat memory;
	char *text = NULL;
	bool python;

	nt_fields_clear(&nt_stacks_fields, &stacks);
	stacks.rank = rank->rank;
	memcpy(stacks.id, rank->id, sizeof(stacks.id));
	stacks.task = rank->task;
	stacks.pid = rank->pid;
	stacks.at_s = time(NULL);
	if (fstat(recordd->shm_fd, &memory) < 0 || nt_stack_look(pid, &memory, &python, &err) < 0)
		snprintf(stacks.why, sizeof(stacks.why), "%.110s", err.text);
	else if (!ask(recordd->shm_fd, pid))
		snprintf(
			stacks.why, sizeof(stacks.why),
			"the node does not permit it (kernel.yama.ptrace_scope, or another module)");
	else
		nt_stack_read(&stacks, NT_STACK_TOOLS, python, &text);
	leave(recordd->shm_fd, &stacks, text ? text : "");
	free(text);
}

/* Returns how many were read, or could not be. */
static unsigned read_late(const struct nt_recordd *recordd, const struct nt_behind *behind,
			  const struct nt_calls_rank *ranks, int64_t done[RANKS_MAX],
			  unsigned count, int64_t until_ms)
{
	for (size_t i = behind->first; i < behind->first + behind->heard; i++) {
		const struct nt_calls_rank *rank = &ranks[i];
		bool before = rank->begun != behind->least || rank->end || rank->pid <= 1 ||
			      rank->pid > INT_MAX ||
			      strcmp(rank->node, recordd->arguments.node) != 0;

		for (unsigned k = 0; k < count; k++)
			before = before || done[k] == rank->pid;
		if (before || count == RANKS_MAX || nt_clock_ms() >= until_ms)
			continue;
		done[count++] = rank->pid;
		read_rank(recordd, rank);
	}
	return count;
}

static unsigned read_all(const struct nt_recordd *recordd)
{
	const int64_t until_ms = nt_clock_ms() + END_MS;
	int64_t done[RANKS_MAX];
	struct nt_behind *all;
	unsigned count = 0;
	struct nt_sum sum;
	size_t comms;

	nt_sum_init(&sum);
	nt_step_collect(recordd, add_calls, &sum);
	add_other_nodes(recordd, &sum);
	nt_sum_sort_calls(&sum);
	all = nt_behind_find(sum.calls, sum.calls_count, true, &comms);
	for (size_t i = 0; i < comms; i++) {
		if (all[i].root)
			count = read_late(recordd, &all[i], sum.calls, done, count, until_ms);
	}
	free(all);
	nt_sum_fini(&sum);
	return count;
}

/* It leads a group, so that no process of a tool outlives it, and joins the step's cgroups
 * itself, since a tool must not start before; at the step's end it is killed before the step is
 * released. If nt-recordd ends it goes on: a stopped rank has to be let go. */
static int run(void *argument, int out_fd)
{
	const struct nt_recordd *recordd = argument;
	const struct nt_arguments *arguments = &recordd->arguments;
	const char word = '1';

	if (setpgid(0, 0) < 0)
		return 1;
	if (recordd->inside)
		nt_cgroup_join(arguments->cgroups, getpid());
	nt_child_close_others(out_fd, recordd->shm_fd);
	nt_recordd_oom_score("1000");
	if (nt_rights_drop_for_tools(arguments->uid, arguments->gid, NULL) < 0 ||
	    prctl(PR_SET_PDEATHSIG, 0) < 0)
		return 1;
	alarm(LIFE_MS / 1000);
	if (read_all(recordd) > 0 && write(out_fd, &word, 1) < 0)
		return 1;
	return kill(0, SIGKILL);
}

/* ---- in nt-recordd */

static void ended(void *argument, const struct nt_work_result *result)
{
	struct nt_recordd *recordd = argument;

	if (result->bytes == 0)
		return;
	recordd->stacks.tries = TRIES;
	recordd->stacks.stalls++;
	recordd->longform.next_ms = 0; /* they are in memory, and wait for a part */
}

const struct nt_work_kind nt_stacks_kind = { .run = run, .ended = ended };

/* The child is not reaped yet, so its group is still its own. */
static void stop(struct nt_work *work, struct nt_stacks_work *own)
{
	if (!nt_work_runs(work))
		return;
	own->group = work->child.pid;
	(void)kill(-own->group, SIGKILL);
	nt_work_stop(work);
}

bool nt_stacks_are_gone(const struct nt_recordd *recordd)
{
	return recordd->stacks.group == 0 || kill(-recordd->stacks.group, 0) < 0;
}

void nt_stacks_look(struct nt_recordd *recordd, int64_t now_ms)
{
	struct nt_work *work = &recordd->work[NT_WORK_STACKS];
	struct nt_stacks_work *own = &recordd->stacks;
	struct nt_error err;

	if (!recordd->arguments.stacks || !nt_longform_wanted(&recordd->arguments))
		return;
	if (recordd->final) {
		stop(work, own);
		return;
	}
	if (!recordd->reading.still) {
		own->tries = 0;
		own->next_ms = now_ms + FIRST_MS;
	}
	if (nt_work_runs(work) || own->tries == TRIES || own->stalls == STALLS_MAX ||
	    now_ms < own->next_ms)
		return;
	own->tries++;
	own->next_ms = now_ms + ((int64_t)FIRST_MS << own->tries);
	(void)nt_recordd_begin(recordd, NT_WORK_STACKS, now_ms + LIFE_MS, &err);
}
