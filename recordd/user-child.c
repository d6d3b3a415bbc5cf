/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "recordd/user-child.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "spank/step/cgroup.h"
#include "spank/step/rights.h"

static bool is_users(enum nt_recordd_work kind)
{
	return kind == NT_WORK_READER || kind == NT_WORK_MEMORY || kind == NT_WORK_LONGFORM;
}

/* The child joins no cgroup by itself: it might do so after it was taken out. */
int nt_recordd_begin(struct nt_recordd *recordd, enum nt_recordd_work kind, int64_t deadline_ms,
		     struct nt_error *err)
{
	struct nt_work *work = &recordd->work[kind];

	work->begun = true;
	work->last = recordd->final;
	if (nt_work_start(work, deadline_ms, err) < 0)
		return -1;
	if (is_users(kind) && recordd->inside && !work->outside)
		nt_cgroup_join(recordd->arguments.cgroups, work->child.pid);
	return 0;
}

bool nt_recordd_retry(struct nt_recordd *recordd, enum nt_recordd_work kind,
		      const struct nt_work_result *result)
{
	struct nt_work *work = &recordd->work[kind];

	if (!recordd->final || work->outside || recordd->arguments.cgroups[0] != '/' ||
	    result->why || result->status != 128 + SIGKILL)
		return false;
	work->outside = true;
	work->last = false;
	return true;
}

static void take_out(int pid)
{
	struct nt_cgroups cgroups;
	char proc[32];

	if (pid <= 0)
		return;
	snprintf(proc, sizeof(proc), "/proc/%d", pid);
	if (nt_cgroup_find(proc, "/proc/self/mountinfo", &cgroups, NULL) < 0 ||
	    nt_cgroup_leave(&cgroups, pid) < 0)
		kill(pid, SIGKILL);
}

void nt_recordd_take_out(struct nt_recordd *recordd)
{
	for (int kind = 0; recordd->inside && kind < NT_WORK_KINDS; kind++) {
		if (!is_users((enum nt_recordd_work)kind))
			continue;
		take_out(recordd->work[kind].child.pid);
		take_out(recordd->work[kind].child.stuck_pid);
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
	nt_child_close_others(out_fd, recordd->shm_fd);
	nt_recordd_oom_score("1000");
	return nt_rights_drop(recordd->arguments.uid, recordd->arguments.gid, file_bytes, NULL);
}
