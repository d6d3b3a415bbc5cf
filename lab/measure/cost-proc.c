/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* cost-proc.c - what /proc tells nt-cost of its own process */
#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include "lab/measure/cost.h"
#include "contract/names.h"

#define THREAD_NAME "nccl-tune"

static enum nt_cost_class class_of(const char *path)
{
	if (strstr(path, "libnccl-tune"))
		return NT_COST_PLUGIN;
	if (strstr(path, "/" NT_SHM_FILE "."))
		return NT_COST_SHM;
	/* Anonymous maps have no name; "/dev/zero" is what this program shares with itself. */
	if (path[0] == '\0' || strcmp(path, "[heap]") == 0)
		return NT_COST_HEAP;
	return NT_COST_OTHER;
}

/* The first line of a map: "from-to rights offset device inode   path". */
static bool read_head(const char *line, unsigned long *from, unsigned long *to, char path[256])
{
	int at = 0;

	path[0] = '\0';
	if (sscanf(line, "%lx-%lx %*s %*s %*s %*s %n", from, to, &at) < 2 || at == 0)
		return false;
	snprintf(path, 256, "%s", line + at);
	path[strcspn(path, "\n")] = '\0';
	return true;
}

void nt_cost_memory_now(struct nt_cost_memory *out)
{
	FILE *file = fopen("/proc/self/smaps", "re");
	enum nt_cost_class class = NT_COST_OTHER;
	char line[512], path[256];
	unsigned long from, to;
	long kib;

	memset(out, 0, sizeof(*out));
	if (!file)
		return;
	while (fgets(line, sizeof(line), file)) {
		if (sscanf(line, "Rss: %ld", &kib) == 1)
			out->rss_kib[class] += kib;
		else if (sscanf(line, "Pss: %ld", &kib) == 1)
			out->pss_kib[class] += kib;
		else if (sscanf(line, "Private_Dirty: %ld", &kib) == 1)
			out->private_kib[class] += kib;
		else if (read_head(line, &from, &to, path))
			class = class_of(path);
	}
	fclose(file);
}

void nt_cost_populate_shm(void)
{
	FILE *file = fopen("/proc/self/maps", "re");
	char line[512], path[256];
	unsigned long from, to;

	while (file && fgets(line, sizeof(line), file)) {
		if (!read_head(line, &from, &to, path) || class_of(path) != NT_COST_SHM)
			continue;
		if (madvise((void *)from, to - from, MADV_POPULATE_WRITE) != 0)
			perror("nt-cost: populate");
		break;
	}
	if (file)
		fclose(file);
}

/* One word of a small file of a thread; 0 where there is none. */
static uint64_t number_of(const char *thread, const char *name, const char *label)
{
	char path[300], line[256];
	uint64_t value = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/self/task/%s/%s", thread, name);
	file = fopen(path, "re");
	while (file && fgets(line, sizeof(line), file)) {
		if (strncmp(line, label, strlen(label)) == 0) {
			value = strtoull(line + strlen(label), NULL, 10);
			break;
		}
	}
	if (file)
		fclose(file);
	return value;
}

static bool is_ours(const char *thread)
{
	char path[300], name[64] = "";
	FILE *file;

	snprintf(path, sizeof(path), "/proc/self/task/%s/comm", thread);
	file = fopen(path, "re");
	if (file) {
		if (!fgets(name, sizeof(name), file))
			name[0] = '\0';
		fclose(file);
	}
	return strcmp(name, THREAD_NAME "\n") == 0;
}

uint32_t nt_cost_threads(void)
{
	DIR *tasks = opendir("/proc/self/task");
	struct dirent *task;
	uint32_t count = 0;

	while (tasks && (task = readdir(tasks)) != NULL)
		count += task->d_name[0] != '.';
	if (tasks)
		closedir(tasks);
	return count;
}

struct nt_cost_thread nt_cost_thread_now(void)
{
	struct nt_cost_thread sum = { 0 };
	DIR *tasks = opendir("/proc/self/task");
	struct dirent *task;

	while (tasks && (task = readdir(tasks)) != NULL) {
		if (task->d_name[0] == '.' || !is_ours(task->d_name))
			continue;
		sum.cpu_ns += number_of(task->d_name, "schedstat", "");
		sum.wakes += number_of(task->d_name, "status", "voluntary_ctxt_switches:");
	}
	if (tasks)
		closedir(tasks);
	return sum;
}
