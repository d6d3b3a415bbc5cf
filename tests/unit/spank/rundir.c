/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* The run directory, which only the daemon may write. */
#include "spank/rundir.h"

#include <sys/stat.h>
#include <unistd.h>
#include "tests/lib/unit.h"
#include "tests/unit/scratch.h"

#define OTHER_UID 12345u

static void unsafe_run_directories_are_refused(void **state)
{
	char rundir[64], other[64];
	struct nt_error err;
	int fd;

	snprintf(rundir, sizeof(rundir), "%s/run", top);
	fd = nt_rundir_open(rundir, &err);
	assert_true(fd >= 0);
	close(fd);
	assert_int_equal(chmod(rundir, 0777), 0);
	assert_int_equal(nt_rundir_open(rundir, &err), -1);
	assert_non_null(strstr(err.text, "may be written by others (mode 0777)"));
	assert_int_equal(chmod(rundir, 0755), 0);
	snprintf(other, sizeof(other), "%s/link", top);
	assert_int_equal(symlink(rundir, other), 0);
	assert_int_equal(nt_rundir_open(other, &err), -1);
	snprintf(other, sizeof(other), "%s/none/run", top);
	assert_int_equal(nt_rundir_open(other, &err), -1);
	if (geteuid() == 0) {
		assert_int_equal(chown(rundir, OTHER_UID, OTHER_UID), 0);
		assert_int_equal(nt_rundir_open(rundir, &err), -1);
		assert_non_null(strstr(err.text, "belongs to user 12345"));
	}
}

UNIT_TESTS_EACH(make_top, remove_top, unsafe_run_directories_are_refused);
