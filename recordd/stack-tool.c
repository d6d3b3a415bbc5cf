/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "recordd/stack-tool.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <sys/uio.h>
#include <unistd.h>
#include "lib/child.h"
#include "lib/clock.h"

#define NOT_SEEN "its process cannot be looked at from the node"
#define STOPPED_MS 200 /* until the end of a killed gdb has its effect */

static const struct tool {
	const char *name;
	bool python; /* it reads Python alone */
	const char *word[12]; /* behind the name; "" is the process */
} tools[] = {
	{ "py-spy", true, { "dump", "--nonblocking", "--pid", "" } },
	/* Nothing of the program's is loaded or told but names of functions. */
	{ "gdb",
	  false,
	  { "-nx", "-batch", "-iex", "set auto-load off", "-iex", "set print frame-arguments none",
	    "-p", "", "-ex", "thread apply all -ascending bt 32" } },
};

#define TOOLS (sizeof(tools) / sizeof(tools[0]))

static bool is_roots(const char *path, mode_t kind)
{
	struct stat status;

	return stat(path, &status) == 0 && (status.st_mode & S_IFMT) == kind &&
	       status.st_uid == 0 && !(status.st_mode & (S_IWGRP | S_IWOTH));
}

int nt_stack_find(const char *directories, const char *name, char out[NT_PATH_MAX])
{
	while (*directories) {
		const int bytes = (int)strcspn(directories, ":");

		snprintf(out, NT_PATH_MAX, "%.*s", bytes, directories);
		if (is_roots(out, S_IFDIR)) {
			snprintf(out, NT_PATH_MAX, "%.*s/%s", bytes, directories, name);
			if (is_roots(out, S_IFREG) && access(out, X_OK) == 0)
				return 0;
		}
		directories += bytes + (directories[bytes] == ':');
	}
	return -1;
}

/* As ps shows it; '\0': there is none. */
static char state_of(pid_t pid)
{
	char path[32], text[512] = "";
	const char *end;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return '\0';
	if (read(fd, text, sizeof(text) - 1) < 0)
		text[0] = '\0';
	close(fd);
	end = strrchr(text, ')');
	return end && end[1] == ' ' ? end[2] : '\0';
}

/* Looks at the names and files of what is mapped. */
static bool read_maps(FILE *maps, const struct stat *memory, bool *python)
{
	unsigned long inode;
	unsigned high, low;
	bool ours = false;
	char line[4608];

	while (fgets(line, sizeof(line), maps)) {
		*python = *python || strstr(line, "/libpython") || strstr(line, "/python");
		ours = ours || (sscanf(line, "%*s %*s %*s %x:%x %lu", &high, &low, &inode) == 3 &&
				makedev(high, low) == memory->st_dev && inode == memory->st_ino);
	}
	return ours;
}

int nt_stack_look(pid_t pid, const struct stat *memory, bool *python, struct nt_error *err)
{
	const char state = state_of(pid);
	char path[32];
	FILE *maps;
	bool ours;

	*python = false;
	if (state == '\0' || state == 'Z')
		return nt_error_set(err, NOT_SEEN);
	snprintf(path, sizeof(path), "/proc/%d/maps", (int)pid);
	maps = fopen(path, "re");
	if (!maps)
		return nt_error_set(err, NOT_SEEN ": %m");
	ours = read_maps(maps, memory, python);
	fclose(maps);
	if (!ours)
		return nt_error_set(err, NOT_SEEN ", or is in another PID namespace");
	if (state == 'T' || state == 't')
		return nt_error_set(err, "its process is stopped, by %s",
				    state == 'T' ? "a signal" : "a debugger");
	return 0;
}

bool nt_stack_permitted(pid_t pid)
{
	char byte;
	const struct iovec here = { &byte, 1 }, there = { NULL, 1 };

	/* Rights are checked before the address. */
	return process_vm_readv(pid, &here, 1, &there, 1, 0) >= 0 ||
	       (errno != EPERM && errno != ESRCH);
}

struct start {
	const char *program;
	const char *word[16];
};

static int execute(void *argument, int out_fd)
{
	static char *const environment[] = { "PATH=/usr/bin:/bin", "HOME=/", "LC_ALL=C",
					     "TERM=dumb", NULL };
	const struct start *start = argument;
	const int nothing = open("/dev/null", O_RDONLY);

	if (nothing < 0 || dup2(nothing, 0) < 0 || dup2(out_fd, 1) < 0 || chdir("/") < 0)
		return 126;
	nt_child_close_others(-1, -1);
	execve(start->program, (char *const *)start->word, environment);
	return 126;
}

/* A killed gdb leaves the process with the signal by which it had stopped it. */
static void wake(pid_t pid)
{
	const int64_t until_ms = nt_clock_ms() + STOPPED_MS;

	do {
		if (state_of(pid) == 'T')
			kill(pid, SIGCONT);
		usleep(10000);
	} while (nt_clock_ms() < until_ms);
}

static int run(struct nt_child *child, const struct tool *tool, const char *program,
	       const char *pid, int64_t until_ms, struct nt_error *err)
{
	const struct nt_child_bounds bounds = { .deadline_ms = until_ms,
						.max_bytes = NT_STACKS_BYTES };
	struct start start = { .program = program, .word = { tool->name } };

	for (size_t i = 0; tool->word[i]; i++)
		start.word[i + 1] = tool->word[i][0] ? tool->word[i] : pid;
	return nt_child_call(child, execute, &start, &bounds, err);
}

/* The first line that names a thread, and what follows: not how the program was started. */
static const char *threads_of(const struct nt_child *child)
{
	const char *at = child->out;

	while (at && strncmp(at, "Thread ", 7) != 0) {
		at = strchr(at, '\n');
		at = at ? at + 1 : NULL;
	}
	return at;
}

static void read_by(struct nt_stacks *stacks, const struct tool *tool, const char *program,
		    int64_t until_ms, char **text)
{
	struct nt_error err = { "" };
	struct nt_child child;
	const char *threads;
	char pid[24];
	int rc;

	snprintf(pid, sizeof(pid), "%" PRId64, stacks->pid);
	snprintf(stacks->tool, sizeof(stacks->tool), "%s", tool->name);
	rc = run(&child, tool, program, pid, until_ms, &err);
	if (rc < 0)
		wake((pid_t)stacks->pid);
	threads = threads_of(&child);
	*text = threads ? strndup(threads, NT_STACKS_BYTES) : NULL;
	stacks->why[0] = '\0';
	if (rc < 0)
		snprintf(stacks->why, sizeof(stacks->why), "cut: %.100s", err.text);
	else if (!*text)
		snprintf(stacks->why, sizeof(stacks->why), "%.100s",
			 child.complaint[0] ? child.complaint : "it printed no thread");
	nt_child_fini(&child);
}

void nt_stack_read(struct nt_stacks *stacks, const char *directories, bool python, char **text)
{
	const int64_t until_ms = nt_clock_ms() + NT_STACK_MS;
	char program[NT_PATH_MAX];

	*text = NULL;
	snprintf(stacks->why, sizeof(stacks->why), "no %sgdb of root's in %.80s",
		 python ? "py-spy or " : "", directories);
	for (size_t i = 0; i < TOOLS && !*text && nt_clock_ms() < until_ms; i++) {
		if ((python || !tools[i].python) &&
		    nt_stack_find(directories, tools[i].name, program) == 0)
			read_by(stacks, &tools[i], program, until_ms, text);
	}
}
