/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tuner/dumps.h"

#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "lib/number.h"
#include "record/tray.h"

#define LEFT_MAX 64 /* communicators of a process */

static bool is_writer(const char *variable, int rank)
{
	const char *text = getenv(variable);
	uint64_t writer;

	return text && nt_number_parse(text, 0, INT_MAX, &writer) == 0 && (int)writer == rank;
}

/* Made by spank/topology-env.h, not by the user: in no directory */
static int open_ours(const char *path)
{
	return path && strncmp(path, "/proc/", 6) == 0 ? open(path, O_RDWR | O_CLOEXEC) : -1;
}

/* The next communicator's dump begins with an empty file. */
static void leave_one(int shm_fd, const struct nt_comm_identity *who, const char *variable,
		      enum nt_tray_kind kind)
{
	const int fd = open_ours(getenv(variable));
	char about[NT_TRAY_ABOUT], *text = fd >= 0 ? malloc(NT_TRAY_TEXT) : NULL;
	ssize_t bytes = text ? pread(fd, text, NT_TRAY_TEXT, 0) : 0;

	snprintf(about, sizeof(about), NT_TRAY_DUMP, who->id, (uint32_t)who->rank,
		 (uint32_t)who->ranks, (uint32_t)who->nodes);
	if (bytes > 0 && ftruncate(fd, 0) == 0)
		(void)nt_tray_leave(shm_fd, kind, about, (uint32_t)getpid(), text, (size_t)bytes);
	free(text);
	if (fd >= 0)
		close(fd);
}

void nt_dumps_leave(const struct nt_policy *policy, int shm_fd, const struct nt_comm_identity *who)
{
	static _Atomic unsigned left;
	bool graphs, system;

	if (policy->topology != NT_SWITCH_ON || who->id == 0 || who->rank < 0 || shm_fd < 0)
		return;
	graphs = is_writer(NT_ENV_GRAPH_RANK, who->rank);
	system = is_writer(NT_ENV_SYSTEM_RANK, who->rank);
	if ((!graphs && !system) || atomic_fetch_add(&left, 1) >= LEFT_MAX)
		return;
	if (graphs)
		leave_one(shm_fd, who, NT_ENV_GRAPH_FILE, NT_TRAY_GRAPHS);
	if (system)
		leave_one(shm_fd, who, NT_ENV_SYSTEM_FILE, NT_TRAY_DEVICES);
}
