/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* host.c - what root's side reads of the node: cgroups, names in a spool
 *
 * Input: a byte that says which; then two files' texts, or what becomes names, with a byte 1
 * between them.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "record/spool.h"
#include "spank/step/cgroup.h"
#include "tests/fuzz/fuzz.h"

/* ---- a directory for the files of one input */

static char top[32];
static int top_fd;

static void open_top(void)
{
	snprintf(top, sizeof(top), "/tmp/nt-fuzz.XXXXXX");
	FUZZ_CHECK(mkdtemp(top) != NULL);
	top_fd = open(top, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	FUZZ_CHECK(top_fd >= 0);
}

static void close_top(void)
{
	(void)unlinkat(top_fd, "cgroup", 0);
	(void)unlinkat(top_fd, "mounts", 0);
	close(top_fd);
	FUZZ_CHECK(rmdir(top) == 0); /* nothing else is left */
}

static void put_file(const char *name, const char *text)
{
	int fd = openat(top_fd, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	FUZZ_CHECK(fd >= 0);
	FUZZ_CHECK(write(fd, text, strlen(text)) == (ssize_t)strlen(text));
	close(fd);
}

/* ---- cgroups */

static void check_cgroups(const struct nt_cgroups *cgroups)
{
	FUZZ_CHECK(cgroups->count <= NT_CGROUP_MAX);
	for (unsigned i = 0; i < cgroups->count; i++) {
		const struct nt_cgroup *cgroup = &cgroups->cgroup[i];

		FUZZ_CHECK(memchr(cgroup->now, '\0', sizeof(cgroup->now)) != NULL);
		FUZZ_CHECK(memchr(cgroup->outside, '\0', sizeof(cgroup->outside)) != NULL);
		FUZZ_CHECK(memchr(cgroup->root, '\0', sizeof(cgroup->root)) != NULL);
		/* The job's cgroup is below where it is mounted, the way out is never the job's. */
		FUZZ_CHECK(strncmp(cgroup->now, cgroup->root, strlen(cgroup->root)) == 0);
		FUZZ_CHECK(strcmp(cgroup->now, cgroup->outside) != 0);
	}
}

static void find_cgroups(const char *lines, const char *mountinfo)
{
	static struct nt_cgroups cgroups;
	const struct nt_cgroups none = { .count = 0 };
	char mounts[sizeof(top) + 16], text[NT_CGROUP_TEXT];
	struct nt_error err = { "" };

	put_file("cgroup", lines);
	put_file("mounts", mountinfo);
	snprintf(mounts, sizeof(mounts), "%s/mounts", top);
	if (nt_cgroup_find(top, mounts, &cgroups, &err) < 0)
		FUZZ_CHECK(err.text[0] != '\0');
	check_cgroups(&cgroups);
	nt_cgroup_tasks(&cgroups, &none, text);
	FUZZ_CHECK(strlen(text) < sizeof(text) && text[0] != '\0');
	nt_cgroup_tasks(&cgroups, &cgroups, text); /* all shared */
	FUZZ_CHECK(strcmp(text, "-") == 0);
}

/* ---- names in a spool */

/* A name as it may lie there: it is taken as it is, and ours are read back. */
static void list_name(const char *name)
{
	struct nt_spool_list list;
	struct nt_error err;
	int fd;

	if (!name[0] || strchr(name, '/') || strlen(name) > 250)
		return;
	fd = openat(top_fd, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0)
		return;
	close(fd);
	FUZZ_CHECK(nt_spool_list(&list, top_fd, NULL, 0, &err) == 0);
	for (size_t i = 0; i < list.count; i++)
		FUZZ_CHECK(list.items[i].name[0] != NT_SPOOL_UNFINISHED);
	nt_spool_list_fini(&list);
	FUZZ_CHECK(unlinkat(top_fd, name, 0) == 0);
}

static void take_one(const struct nt_spool_entry *entry, const char *name)
{
	struct nt_spooled spooled;

	if (!strstr(name, ".json") || nt_spooled_read(&spooled, top_fd, name, NULL) < 0)
		return;
	FUZZ_CHECK(strcmp(spooled.cluster, entry->cluster) == 0);
	FUZZ_CHECK(strcmp(spooled.step, entry->step) == 0);
	FUZZ_CHECK(spooled.job == entry->job && spooled.uid == entry->uid);
	FUZZ_CHECK(nt_spooled_remove(&spooled, NULL) == 0);
}

static void put_record(const char *cluster, const char *step)
{
	struct nt_spool_entry entry = { .cluster = cluster,
					.job = 12,
					.uid = 1000,
					.step = step,
					.record = "{\"nccl_tune\":{\"v\":1,\"0\":{}}}" };
	struct nt_spool_list list;
	struct nt_error err;

	if (nt_spool_put(top_fd, &entry, false, &err) < 0)
		return;
	FUZZ_CHECK(nt_spool_has(top_fd, &entry));
	FUZZ_CHECK(nt_spool_list(&list, top_fd, NULL, 0, &err) == 0);
	for (size_t i = 0; i < list.count; i++)
		take_one(&entry, list.items[i].name);
	nt_spool_list_fini(&list);
	FUZZ_CHECK(nt_spool_list(&list, top_fd, NULL, 0, &err) == 0);
	for (size_t i = 0; i < list.count; i++) {
		if (strstr(list.items[i].name, ".json"))
			FUZZ_CHECK(unlinkat(top_fd, list.items[i].name, 0) == 0);
	}
	nt_spool_list_fini(&list);
}

/* ---- input */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz in = { data, size };
	const uint32_t which = fuzz_below(&in, 3);
	char *part[2] = { fuzz_part(&in, 1), fuzz_part(&in, 1) };
	const char *first = part[0] ? part[0] : "", *second = part[1] ? part[1] : "";

	open_top();
	switch (which) {
	case 0: find_cgroups(first, second); break;
	case 1: list_name(first); break;
	default: put_record(first, second);
	}
	close_top();
	free(part[0]);
	free(part[1]);
	return 0;
}

FUZZ_TEXT_TARGET("0::/system.slice/slurmstepd.scope/job_2/step_0/user/task_0\n",
		 "4:memory:/slurm/uid_1000/job_2/step_0/task_1\n", "1:name=systemd:/\n", "job_2",
		 "/step_batch", "/uid_1", "0::/", "5:cpu,cpuacct:", "\x01",
		 "36 25 0:31 / /sys/fs/cgroup rw shared:9 - cgroup2 cgroup2 rw\n",
		 "33 25 0:28 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n", " - ", "/",
		 "c1.12.0.u1000.json", ".u", ".json", ".tmp", "sent", "batch", "0", "u4294967295",
		 "cluster")
