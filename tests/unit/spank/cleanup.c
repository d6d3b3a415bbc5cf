/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* Leftovers of steps are removed, whatever they are; those that cannot be are reported once. */
#include "spank/step/cleanup.h"

#include <sys/file.h>
#include <sys/resource.h>
#include "tests/lib/unit.h"
#include "lib/append.h"
#include "lib/clock.h"
#include "spank/step/rmtree.h"
#include "spank/step/step-dir.h"
#include "tests/unit/spank/room.h"

#define LONG_MS 600000 /* longer than any of this takes */

static bool mounts; /* may be created */
static char said[4096];

static void say(const char *text)
{
	nt_append(said, sizeof(said), "%s\n", text);
}

static void cleanup(bool again)
{
	struct nt_error err = { "" };

	said[0] = '\0';
	assert_int_equal(nt_cleanup(rundir, again, say, &err), 0);
}

static int open_at(const char *name)
{
	char path[128];
	int fd;

	snprintf(path, sizeof(path), "%s/%s", top, name);
	fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_true(fd >= 0);
	return fd;
}

/* ---- trees */

/* Deeper than a path may be long, and than there are descriptors; and wide. */
static void make_deep(int top_fd)
{
	char name[32];
	int fd = dup(top_fd);

	for (int i = 0; i < 3000; i++) {
		int next;

		assert_int_equal(mkdirat(fd, "d", 0700), 0);
		next = openat(fd, "d", O_RDONLY | O_DIRECTORY);
		assert_true(next >= 0);
		close(fd);
		fd = next;
	}
	for (int i = 0; i < 500; i++) {
		snprintf(name, sizeof(name), "%d", i);
		assert_int_equal(mkdirat(fd, name, 0), 0);
	}
	close(fd);
}

static void any_tree_goes(void **state)
{
	const struct rlimit few = { 16, 16 };
	struct rlimit before;
	int fd;

	assert_int_equal(shell("mkdir -p keep/it .nt.0/.nt.1/x .nt.2 shut/in && chmod 0 shut/in && "
			       "chmod 0 shut && echo >.nt.3 && ln -s / root && mkfifo pipe"),
			 0);
	fd = open_at(".");
	make_deep(fd);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
	assert_int_equal(
		setrlimit(RLIMIT_NOFILE, &(struct rlimit){ few.rlim_cur, before.rlim_max }), 0);
	assert_int_equal(nt_rmtree_tree(fd, nt_clock_ms() + LONG_MS), 0);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
	assert_int_equal(shell("test -z \"$(ls -A)\""), 0);
	close(fd);
}

static void time_is_up(void **state)
{
	int fd;

	assert_int_equal(shell("mkdir -p keep/it file"), 0);
	fd = open_at(".");
	assert_true(nt_rmtree_tree(fd, nt_clock_ms() - 1) > 0);
	assert_true(nt_rmtree_flat(fd, nt_clock_ms() - 1) > 0);
	assert_true(there("keep/it"));
	assert_int_equal(nt_rmtree_flat(fd, nt_clock_ms() + LONG_MS), 1);
	assert_false(there("file"));
	close(fd);
}

static void no_mount_is_entered(void **state)
{
	int fd;

	if (!mounts)
		skip();
	assert_int_equal(shell("mkdir -p tree/a/b tree/keep/over tree/over theirs/sub && "
			       "echo >theirs/file && mount --bind theirs tree/keep/over && "
			       "mount --bind theirs tree/over"),
			 0);
	fd = open_at("tree");
	assert_true(nt_rmtree_tree(fd, nt_clock_ms() + LONG_MS) > 0);
	close(fd);
	assert_false(there("tree/a"));
	assert_true(there("tree/over/file") && there("tree/over/sub"));
}

/* ---- the run directory */

static void what_a_killed_stepd_left(void **state)
{
	int fd;

	assert_int_equal(shell("mkdir -p run/n1.1.0/fs/step/keep/it run/n1.2.0/fs/step "
			       "run/n1.3.0/fs/step run/n1.4.0/keep/it run/.left.n1.5.0/fs/step/a/b "
			       "&& echo >run/n1.5.0 && echo >run/lock && "
			       "touch -d '10 minutes ago' run/n1.*"),
			 0);
	if (geteuid() == 0)
		assert_int_equal(shell("chown -R %u run/n1.1.0/fs/step run/n1.4.0 "
				       "run/.left.n1.5.0/fs/step",
				       ROOM_UID),
				 0);
	assert_int_equal(shell("touch run/n1.3.0"), 0);
	fd = open_at(".");
	assert_int_equal(flock(openat(fd, "run/n1.2.0", O_RDONLY | O_DIRECTORY), LOCK_EX), 0);
	cleanup(false);
	assert_string_equal(said, "");
	assert_false(there("run/n1.1.0"));
	assert_true(there("run/n1.2.0/fs/step")); /* in use */
	assert_true(there("run/n1.3.0/fs/step")); /* just made */
	assert_false(there("run/n1.4.0")); /* of an earlier release */
	assert_false(there("run/.left.n1.5.0"));
	assert_true(there("run/lock") && there("run/n1.5.0"));
	close(fd);
}

static void mounts_go_first(void **state)
{
	if (!mounts)
		skip();
	assert_int_equal(
		shell("mkdir -p run/n1.1.0/fs theirs run/n1.2.0 run/.left.n1.3.0/fs/step/k "
		      "&& echo >theirs/file && touch -d '10 minutes ago' run/n1.* && "
		      "mount -t tmpfs own run/n1.1.0/fs && mkdir -p run/n1.1.0/fs/step/a "
		      "&& mount --bind theirs run/n1.1.0/fs/step/a && "
		      "mount --bind theirs run/n1.1.0/fs/step && "
		      "mount --bind theirs run/n1.2.0 && mount --bind theirs run/n1.2.0 && "
		      "mount --bind theirs run/.left.n1.3.0/fs/step"),
		0);
	cleanup(false);
	assert_string_equal(said, "");
	assert_int_equal(shell("ls -A run >&2; test \"$(ls -A run)\" = cleanup"), 0);
	assert_int_not_equal(shell("grep '%s' /proc/mounts", rundir), 0);
	assert_true(there("theirs/file"));
}

static void what_stays_is_told_once(void **state)
{
	if (!mounts)
		skip();
	assert_int_equal(shell("mkdir -p run/n1.1.0/fs/step/mine/root/x && "
			       "chown -R %u run/n1.1.0/fs/step && chown 0 "
			       "run/n1.1.0/fs/step/mine/root run/n1.1.0/fs/step/mine/root/x && "
			       "touch -d '10 minutes ago' run/n1.1.0",
			       ROOM_UID),
			 0);
	cleanup(false);
	assert_non_null(strstr(said, "cannot remove a step's leftovers; they are now in "));
	assert_non_null(strstr(said, "/run/.stuck.n1.1.0: Directory not empty"));
	assert_true(there("run/.stuck.n1.1.0"));
	cleanup(false);
	assert_string_equal(said, "");
	cleanup(true);
	assert_string_equal(said, "");
	assert_true(there("run/.stuck.n1.1.0"));
	assert_int_equal(shell("chown -R %u run/.stuck.n1.1.0/fs/step", ROOM_UID), 0);
	cleanup(false);
	assert_true(there("run/.stuck.n1.1.0"));
	cleanup(true);
	assert_false(there("run/.stuck.n1.1.0"));
}

static void when_it_is_due(void **state)
{
	struct stat status;
	int fd;

	assert_int_equal(shell("mkdir run && echo >run/file"), 0);
	fd = open(rundir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fstat(fd, &status) == 0 && status.st_nlink == 2) /* directories are counted here */
		assert_false(nt_cleanup_is_due(fd));
	assert_int_equal(shell("mkdir run/n1.1.0"), 0);
	assert_true(nt_cleanup_is_due(fd));
	cleanup(false);
	assert_false(nt_cleanup_is_due(fd));
	assert_int_equal(shell("touch -d '10 minutes ago' run/cleanup"), 0);
	assert_true(nt_cleanup_is_due(fd));
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(any_tree_goes, room_make, room_remove),
		cmocka_unit_test_setup_teardown(time_is_up, room_make, room_remove),
		cmocka_unit_test_setup_teardown(no_mount_is_entered, room_make, room_remove),
		cmocka_unit_test_setup_teardown(what_a_killed_stepd_left, room_make, room_remove),
		cmocka_unit_test_setup_teardown(mounts_go_first, room_make, room_remove),
		cmocka_unit_test_setup_teardown(what_stays_is_told_once, room_make, room_remove),
		cmocka_unit_test_setup_teardown(when_it_is_due, room_make, room_remove),
	};

	closefrom(STDERR_FILENO + 1); /* the caller may have many; few are allowed here */
	mounts = room_alone();
	return cmocka_run_group_tests_name("cleanup", tests, NULL, NULL);
}
