/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* user-child.c - see user-child.h */
#include "spank/recordd/user-child.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "spank/cgroup.h"
#include "spank/rights.h"

void nt_recordd_put_in(const struct nt_recordd *recordd, enum nt_recordd_work kind)
{
	if (recordd->inside)
		nt_cgroup_join(recordd->arguments.groups, recordd->work[kind].child.pid);
}

/* A process of ours must not be found in the step's groups when Slurm removes them. */
static void take_out(int pid)
{
	struct nt_cgroups groups;
	char proc[32];

	if (pid <= 0)
		return;
	snprintf(proc, sizeof(proc), "/proc/%d", pid);
	if (nt_cgroup_find(proc, "/proc/self/mountinfo", &groups, NULL) < 0 ||
	    nt_cgroup_leave(&groups, pid) < 0)
		kill(pid, SIGKILL);
}

void nt_recordd_take_out(struct nt_recordd *recordd)
{
	static const enum nt_recordd_work users[] = { NT_WORK_READER, NT_WORK_MEMORY,
						      NT_WORK_LONGFORM };

	for (size_t i = 0; recordd->inside && i < sizeof(users) / sizeof(users[0]); i++) {
		take_out(recordd->work[users[i]].child.pid);
		take_out(recordd->work[users[i]].child.stuck_pid);
	}
	recordd->inside = false;
}

void nt_recordd_oom_score(const char *score)
{
	int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);

	if (fd < 0)
		return;
	(void)!write(fd, score, strlen(score));
	close(fd);
}

int nt_recordd_become_user(const struct nt_recordd *recordd, int out_fd, size_t file_bytes)
{
	nt_child_close_others(out_fd);
	nt_recordd_oom_score("1000");
	return nt_rights_drop(recordd->arguments.uid, recordd->arguments.gid, file_bytes, NULL);
}
