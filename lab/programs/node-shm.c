/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "lab/programs/node-shm.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>
#include "contract/policy.h"
#include "pmix-sync/shm.h"
#include "recordd/collect.h"

struct visitor {
	void (*visit)(void *argument, const char *text, size_t bytes);
	void *argument;
};

const struct nt_shm *nt_node_shm_open(const char *path)
{
	struct nt_node_step place = { .job = 1 };
	struct nt_shm_map map;
	struct nt_reason why;

	snprintf(place.shm, sizeof(place.shm), "%s", path);
	if (nt_shm_open(&map, &place, &why) == 0)
		(void)nt_shm_map(&map, &why);
	return map.shm;
}

static void show(void *argument, struct nt_collected *item)
{
	const struct visitor *visitor = argument;

	if (item->kind == NT_COLLECTED_RECORD && item->text)
		visitor->visit(visitor->argument, item->text, item->bytes);
}

void nt_node_shm_records(const char *path,
			 void (*visit)(void *argument, const char *text, size_t bytes),
			 void *argument)
{
	struct visitor visitor = { visit, argument };
	const int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return;
	(void)nt_collect_each(fd, show, &visitor, NULL);
	close(fd);
}
