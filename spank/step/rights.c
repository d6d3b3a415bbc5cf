/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "spank/step/rights.h"

#include <grp.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#define MEMORY_BYTES (512ul * 1024 * 1024)
#define CPU_S 5
#define TOOLS_CPU_S 60

static int limit(int resource, rlim_t value)
{
	const struct rlimit both = { value, value };

	return setrlimit(resource, &both);
}

static int become(uint32_t uid, uint32_t gid, struct nt_error *err)
{
	if (geteuid() == 0 && (setgroups(0, NULL) < 0 || setresgid(gid, gid, gid) < 0 ||
			       setresuid(uid, uid, uid) < 0))
		return nt_error_set(err, "cannot become user %u: %m", uid);
	if (getuid() != uid || geteuid() != uid || (uid != 0 && setuid(0) == 0))
		return nt_error_set(err, "did not become user %u", uid);
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 || prctl(PR_SET_DUMPABLE, 0) < 0 ||
	    prctl(PR_SET_PDEATHSIG, SIGKILL) < 0)
		return nt_error_set(err, "prctl: %m");
	return 0;
}

int nt_rights_drop_for_tools(uint32_t uid, uint32_t gid, struct nt_error *err)
{
	if (become(uid, gid, err) < 0)
		return -1;
	if (limit(RLIMIT_CPU, TOOLS_CPU_S) < 0 || limit(RLIMIT_CORE, 0) < 0 ||
	    limit(RLIMIT_FSIZE, 0) < 0)
		return nt_error_set(err, "setrlimit: %m");
	return 0;
}

int nt_rights_drop(uint32_t uid, uint32_t gid, size_t file_bytes, struct nt_error *err)
{
	if (become(uid, gid, err) < 0)
		return -1;
#ifndef __SANITIZE_ADDRESS__ /* which needs the whole address space */
	if (limit(RLIMIT_AS, MEMORY_BYTES) < 0)
		return nt_error_set(err, "setrlimit: %m");
#endif
	signal(SIGXFSZ, SIG_IGN); /* so that a write past the limit fails */
	if (limit(RLIMIT_CPU, CPU_S) < 0 || limit(RLIMIT_CORE, 0) < 0 ||
	    limit(RLIMIT_FSIZE, file_bytes) < 0 || limit(RLIMIT_NOFILE, 16) < 0)
		return nt_error_set(err, "setrlimit: %m");
	return 0;
}
