/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* Leaving a job's cgroups and entering those of its tasks, in made-up trees of both
 * versions. */
#include "spank/step/cgroup.h"

#include <stdbool.h>
#include <sys/stat.h>
#include <unistd.h>
#include "tests/lib/unit.h"
#include "tests/unit/scratch.h"

static char mounts[128];

static int make(void **state)
{
	int rc = make_top(state);

	snprintf(mounts, sizeof(mounts), "%s/mountinfo", top);
	return rc;
}

static const char *read_text(const char *name)
{
	static char text[256];
	char path[256];
	FILE *file;
	size_t n;

	snprintf(path, sizeof(path), "%s/%s", top, name);
	file = fopen(path, "r");
	if (!file)
		return NULL;
	n = fread(text, 1, sizeof(text) - 1, file);
	text[n] = '\0';
	fclose(file);
	return text;
}

/* A cgroup, with the file that processes are written to. */
static void make_group(const char *name)
{
	char command[256];

	snprintf(command, sizeof(command), "mkdir -p %s/%s && : >%s/%s/cgroup.procs", top, name,
		 top, name);
	assert_int_equal(system(command), 0);
}

/* The cgroup found for a line; all hierarchies are mounted below /g, version 2 at /g2. */
static void find_line(const char *line, struct nt_cgroups *cgroups)
{
	struct nt_error err;

	write_text("cgroup", line);
	write_text("mountinfo",
		   "24 1 0:22 / /g/cpu,cpuacct rw,nosuid - cgroup cgroup rw,cpu,cpuacct\n"
		   "25 1 0:23 / /g/memory rw shared:3 master:1 - cgroup cgroup rw,memory\n"
		   "26 1 0:24 / /g/systemd rw - cgroup cgroup rw,xattr,name=systemd\n"
		   "27 1 0:25 /inner /g/cpuset rw - cgroup cgroup rw,cpuset\n"
		   "28 1 0:26 /other /elsewhere rw - cgroup2 cgroup2 rw\n"
		   "29 1 0:26 / /g2 rw - cgroup2 cgroup2 rw,nsdelegate\n");
	assert_int_equal(nt_cgroup_find(top, mounts, cgroups, &err), 0);
}

static void finds_the_way_out(void **state)
{
	static const struct {
		const char *line, *outside, *root;
	} cases[] = {
		{ "0::/system.slice/slurmstepd.scope/job_2/step_0/slurm\n",
		  "/g2/system.slice/slurmstepd.scope/system", "/g2" },
		{ "0::/system.slice/n1_slurmstepd.scope/job_2/step_batch/user/task_0\n",
		  "/g2/system.slice/n1_slurmstepd.scope/system", "/g2" },
		{ "0::/other/job_2/step_0/slurm\n", "/elsewhere/system", "/elsewhere" },
		{ "4:memory:/slurm/uid_1/job_2/step_0\n", "/g/memory/slurm", "/g/memory" },
		{ "4:memory:/slurm/uid_1/job_2\n", "/g/memory/slurm", "/g/memory" },
		{ "3:cpu,cpuacct:/slurm_n1/uid_1/job_2/step_0/task_0\n", "/g/cpu,cpuacct/slurm_n1",
		  "/g/cpu,cpuacct" },
		{ "5:cpuset:/inner/slurm/uid_1/job_2/step_0\n", "/g/cpuset/slurm", "/g/cpuset" },
		/* not mounted, or not that part of it */
		{ "6:freezer:/slurm/uid_1/job_2/step_0\n", NULL, NULL },
		{ "5:cpuset:/innermost/uid_1/job_2/step_0\n", NULL, NULL },
		/* not a job's */
		{ "0::/user.slice/user-1.slice\n", NULL, NULL },
		{ "0::/system.slice/slurmstepd.scope/system\n", NULL, NULL },
		{ "0::/a/job_x/step_0\n", NULL, NULL },
		{ "0::/a/job_/step_0\n", NULL, NULL },
		{ "4:memory:/slurm/uid_1/step_0\n", NULL, NULL },
		{ "4:memory:/job_2/step_0\n", NULL, NULL },
		{ "0::/\n", NULL, NULL },
		{ "9:name=systemd:/\n", NULL, NULL },
		{ "garbage\n", NULL, NULL },
	};
	struct nt_cgroups cgroups;

	for (size_t i = 0; i < LENGTH(cases); i++) {
		find_line(cases[i].line, &cgroups);
		assert_int_equal(cgroups.count, cases[i].outside ? 1 : 0);
		if (!cases[i].outside)
			continue;
		assert_string_equal(cgroups.cgroup[0].outside, cases[i].outside);
		assert_string_equal(cgroups.cgroup[0].root, cases[i].root);
	}
}

static void a_path_too_long_is_no_group(void **state)
{
	char line[2 * NT_CGROUP_PATH];
	struct nt_cgroups cgroups;

	snprintf(line, sizeof(line), "0::/%0*d/job_2/step_0/slurm\n", NT_CGROUP_PATH, 0);
	find_line(line, &cgroups);
	assert_int_equal(cgroups.count, 0);
}

static void version_one_is_left_in_every_hierarchy(void **state)
{
	struct nt_cgroups cgroups;
	struct nt_error err;
	char text[512];

	make_group("freezer");
	make_group("freezer/slurm");
	make_group("memory");
	snprintf(text, sizeof(text),
		 "1 1 0:1 / %s/freezer rw - cgroup cgroup rw,freezer\n"
		 "2 1 0:2 / %s/memory rw - cgroup cgroup rw,memory\n",
		 top, top);
	write_text("mountinfo", text);
	write_text("cgroup", "2:freezer:/slurm/uid_1/job_2\n1:memory:/slurm/uid_1/job_2/step_3\n");
	assert_int_equal(nt_cgroup_find(top, mounts, &cgroups, &err), 0);
	assert_int_equal(cgroups.count, 2);
	assert_int_equal(nt_cgroup_leave(&cgroups, 0), 0);
	assert_string_equal(read_text("freezer/slurm/cgroup.procs"), "0");
	/* Slurm has no cgroup of its own there: the hierarchy's. */
	assert_string_equal(read_text("memory/cgroup.procs"), "0");
	assert_int_equal(nt_cgroup_leave(&cgroups, 4711), 0);
	assert_string_equal(read_text("freezer/slurm/cgroup.procs"), "4711");
}

static void version_two_is_left_for_slurms_own_group(void **state)
{
	struct nt_cgroups cgroups;
	struct nt_error err;
	char text[512];

	make_group("u/scope/system");
	snprintf(text, sizeof(text), "1 1 0:1 / %s/u rw - cgroup2 none rw\n", top);
	write_text("mountinfo", text);
	write_text("cgroup", "1:name=systemd:/\n0::/scope/job_2/step_0/slurm\n");
	assert_int_equal(nt_cgroup_find(top, mounts, &cgroups, &err), 0);
	assert_int_equal(cgroups.count, 1);
	assert_int_equal(nt_cgroup_leave(&cgroups, 0), 0);
	assert_string_equal(read_text("u/scope/system/cgroup.procs"), "0");
}

static void what_cannot_be_left_is_told(void **state)
{
	struct nt_cgroups cgroups;

	find_line("0::/nowhere/job_2/step_0/slurm\n", &cgroups);
	assert_int_equal(cgroups.count, 1);
	assert_int_equal(nt_cgroup_leave(&cgroups, 0), -1);
}

static void cgroups_of(const char *line, struct nt_cgroups *cgroups)
{
	find_line(line, cgroups);
}

static void tasks_cgroups_are_joined_where_slurm_ends_what_is_there(void **state)
{
	static const struct {
		const char *task, *stepd, *text;
	} cases[] = {
		{ "0::/s/job_2/step_0/user/task_0\n", "0::/s/job_2/step_0/slurm\n",
		  "/g2/s/job_2/step_0/user/task_0" },
		/* the one is slurmstepd's own as well; the job is charged in both */
		{ "1:cpu,cpuacct:/slurm/uid_1/job_2/step_0\n4:memory:/slurm/uid_1/job_2/step_0\n",
		  "1:cpu,cpuacct:/slurm/uid_1/job_2\n4:memory:/slurm/uid_1/job_2/step_0\n",
		  "/g/cpu,cpuacct/slurm/uid_1/job_2/step_0:/g/memory/slurm/uid_1/job_2/step_0" },
		/* Slurm would not end a process there */
		{ "4:memory:/slurm/uid_1/job_2/step_0\n", "4:memory:/slurm/uid_1/job_2/step_0\n",
		  "-" },
		{ "0::/s/job_2/step_0/slurm\n", "0::/s/job_2/step_0/slurm\n", "-" },
		{ "0::/\n", "0::/\n", "-" },
	};
	struct nt_cgroups task, stepd;
	char text[NT_CGROUP_TEXT];

	for (size_t i = 0; i < LENGTH(cases); i++) {
		cgroups_of(cases[i].task, &task);
		cgroups_of(cases[i].stepd, &stepd);
		nt_cgroup_tasks(&task, &stepd, text);
		assert_string_equal(text, cases[i].text);
	}
}

static void joins_what_is_there(void **state)
{
	char text[256];

	make_group("a");
	make_group("b");
	snprintf(text, sizeof(text), "%s/a:%s/gone:%s/b", top, top, top);
	nt_cgroup_join(text, 17);
	assert_string_equal(read_text("a/cgroup.procs"), "17");
	assert_string_equal(read_text("b/cgroup.procs"), "17");
	assert_null(read_text("gone/cgroup.procs"));
	nt_cgroup_join("-", 17);
}

UNIT_TESTS_ALL(make, remove_top, finds_the_way_out, a_path_too_long_is_no_group,
	       version_one_is_left_in_every_hierarchy, version_two_is_left_for_slurms_own_group,
	       what_cannot_be_left_is_told, tasks_cgroups_are_joined_where_slurm_ends_what_is_there,
	       joins_what_is_there);
