/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* The directory of a step: creation, limits and removal. */
#include "spank/step/step-dir.h"

#include <errno.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include "tests/lib/unit.h"
#include "spank/step/safe-open.h"
#include "spank/step/stepfs.h"
#include "spank/step/cleanup.h"
#include "tests/unit/spank/room.h"

static bool mounts; /* may be created */

static const struct nt_step_site *plain(void)
{
	static struct nt_step_site site;

	site = (struct nt_step_site){ .rundir = rundir };
	return &site;
}

static const struct nt_step_site *own(void)
{
	static struct nt_step_site site;

	site = (struct nt_step_site){ rundir, 4 << 20, 64 };
	return &site;
}

static void a_plain_directory(void **state)
{
	char path[NT_PATH_MAX + 32];
	struct nt_step_dir dir;
	struct nt_error err;
	struct stat status;

	assert_int_equal(nt_step_make(&dir, plain(), "n1", 12, NT_STEP_BATCH, &err), 0);
	snprintf(path, sizeof(path), "%s/n1.12.batch/fs/step", rundir);
	assert_string_equal(dir.path, path);
	assert_int_equal(stat(path, &status), 0);
	assert_int_equal(status.st_mode & 07777, 0700);
	snprintf(path, sizeof(path), "%s/n1.12.batch", rundir);
	assert_int_equal(stat(path, &status), 0);
	assert_int_equal(status.st_mode & 07777, 0711);
	assert_false(dir.mounted);
	assert_int_equal(nt_step_give(&dir, getuid(), getgid(), &err), 0);
	assert_int_equal(shell("cd run/*/fs/step && ln -s / link && mkdir empty && echo >file"), 0);
	assert_int_equal(nt_step_remove(&dir, &err), 0);
	assert_false(there("run/n1.12.batch"));
	assert_true(there("run"));
}

static void what_lies_deep_is_put_aside(void **state)
{
	struct nt_step_dir dir, again;
	struct nt_error err;

	assert_int_equal(nt_step_make(&dir, plain(), "n1", 12, 0, &err), 0);
	assert_int_equal(shell("mkdir -p run/n1.12.0/fs/step/keep/it"), 0);
	assert_int_equal(nt_step_remove(&dir, &err), -1);
	assert_non_null(strstr(err.text, "1 entries remain"));
	assert_true(there("run/.left.n1.12.0/fs/step/keep/it"));
	assert_false(there("run/n1.12.0"));
	/* The same again: under another name. */
	assert_int_equal(nt_step_make(&dir, plain(), "n1", 12, 0, &err), 0);
	assert_int_equal(shell("mkdir -p run/n1.12.0/fs/step/keep/it"), 0);
	assert_int_equal(nt_step_remove(&dir, &err), -1);
	assert_true(there("run/.left.n1.12.0.1/fs/step/keep/it"));
	/* One that was not ended blocks nothing. */
	assert_int_equal(nt_step_make(&dir, plain(), "n1", 13, 0, &err), 0);
	assert_int_equal(shell("echo >run/n1.13.0/fs/step/first"), 0);
	assert_int_equal(nt_step_make(&again, plain(), "n1", 13, 0, &err), 0);
	assert_false(there("run/n1.13.0/fs/step/first"));
	/* ... and does not touch what took its place. */
	assert_int_equal(nt_step_remove(&dir, &err), 0);
	assert_true(there("run/n1.13.0/fs/step"));
	assert_int_equal(nt_step_remove(&again, &err), 0);
	assert_false(there("run/n1.13.0"));
}

static void a_file_system_of_its_own(void **state)
{
	const unsigned long want = ST_NOSUID | ST_NODEV | ST_NOEXEC;
	struct nt_step_dir dir;
	struct statvfs status;
	struct nt_error err;

	if (!mounts)
		skip();
	assert_int_equal(nt_step_make(&dir, own(), "n1", 12, 0, &err), 0);
	assert_true(dir.mounted);
	assert_int_equal(nt_step_give(&dir, ROOM_UID, ROOM_UID, &err), 0);
	assert_int_equal(fstatvfs(dir.fd, &status), 0);
	assert_int_equal(status.f_flag & want, want);
	assert_int_equal(status.f_blocks * status.f_frsize, 4 << 20);
	assert_int_equal(status.f_files, 64);
	assert_int_not_equal(shell("head -c 5M /dev/zero >run/n1.12.0/fs/step/fill 2>/dev/null"),
			     0);
	assert_int_equal(shell("n=0; while mkdir run/n1.12.0/fs/step/$n 2>/dev/null; do "
			       "n=$((n + 1)); done; test $n -lt 64"),
			 0);
	/* Root's directories, where the user cannot mount anything. */
	assert_int_not_equal(shell("setpriv --reuid %u --clear-groups test -w run/n1.12.0/fs -o "
				   "-r run/n1.12.0/fs -o -w run/n1.12.0 -o -r run/n1.12.0",
				   ROOM_UID),
			     0);
	assert_int_equal(shell("mkdir -p run/n1.12.0/fs/step/0/1 && "
			       "mount -t tmpfs over run/n1.12.0/fs/step/0/1"
			       "|| mount -t tmpfs over run/n1.12.0/fs/step/0"),
			 0);
	assert_int_equal(shell("mount -t tmpfs over run/n1.12.0/fs/step"), 0);
	assert_int_equal(nt_step_remove(&dir, &err), 0);
	assert_false(there("run/n1.12.0"));
	assert_int_not_equal(shell("grep '%s' /proc/mounts", rundir), 0);
}

/* Another user may open the first two directories, O_PATH, and read neither. */
static void a_descriptor_of_it_holds_no_memory(void **state)
{
	char path[NT_PATH_MAX];
	struct nt_step_dir dir;
	struct statvfs status;
	struct nt_error err;
	int held, fd;

	if (!mounts)
		skip();
	assert_int_equal(nt_step_make(&dir, own(), "n1", 12, 0, &err), 0);
	assert_int_equal(nt_step_give(&dir, getuid(), getgid(), &err), 0);
	snprintf(path, sizeof(path), "%s/n1.12.0/fs", rundir);
	held = open(path, O_PATH | O_CLOEXEC);
	assert_true(held >= 0);
	assert_int_equal(shell("cd run/n1.12.0/fs/step && head -c 1M /dev/zero >fill && mkdir empty"
			       " keep && head -c 1M /dev/zero >keep/fill && ln -s / root"),
			 0);
	assert_int_equal(nt_step_clear(&dir), 1); /* keep */
	assert_int_equal(fstatvfs(held, &status), 0);
	assert_int_equal((status.f_blocks - status.f_bfree) * status.f_frsize, 1 << 20);
	fd = dup(dir.fd);
	assert_int_equal(nt_step_remove(&dir, &err), 0);
	assert_false(there("run/n1.12.0"));
	nt_cleanup_users(fd);
	assert_int_equal(fstatvfs(held, &status), 0);
	assert_int_equal(status.f_blocks - status.f_bfree, 0);
	close(fd);
	close(held);
}

/* A namespace that the job got before the step began, as job_container/tmpfs makes it. */
static int older_namespace(void)
{
	char path[64];
	int ready[2], fd;
	char byte;
	pid_t pid;

	assert_int_equal(pipe(ready), 0);
	pid = fork();
	if (pid == 0) {
		byte = room_alone();
		_exit(write(ready[1], &byte, 1) == 1 && pause());
	}
	assert_int_equal(read(ready[0], &byte, 1), 1);
	assert_int_equal(byte, 1);
	snprintf(path, sizeof(path), "/proc/%d/ns/mnt", (int)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	assert_true(fd >= 0);
	assert_int_equal(kill(pid, SIGKILL), 0);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	close(ready[0]);
	close(ready[1]);
	return fd;
}

static void it_is_seen_in_the_jobs_namespace(void **state)
{
	struct nt_step_dir dir;
	struct nt_error err;
	int namespace, status;
	pid_t pid;

	if (!mounts)
		skip();
	namespace = older_namespace();
	assert_int_equal(nt_step_make(&dir, own(), "n1", 12, 0, &err), 0);
	assert_int_equal(nt_step_show(&dir, &err), 0);
	for (int task = 0; task < 2; task++) {
		pid = fork();
		if (pid == 0) {
			if (setns(namespace, CLONE_NEWNS) < 0 ||
			    there("run/n1.12.0/fs/step") != task)
				_exit(1);
			_exit(nt_step_show(&dir, &err) < 0 ||
			      shell("touch run/n1.12.0/fs/step/rank.%d", task) != 0);
		}
		assert_int_equal(waitpid(pid, &status, 0), pid);
		assert_int_equal(status, 0);
	}
	assert_true(there("run/n1.12.0/fs/step/rank.0") && there("run/n1.12.0/fs/step/rank.1"));
	assert_int_equal(nt_step_remove(&dir, &err), 0);
	assert_false(there("run/n1.12.0"));
	pid = fork();
	if (pid == 0)
		_exit(setns(namespace, CLONE_NEWNS) < 0 ||
		      shell("! grep '%s' /proc/mounts", rundir) != 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	close(namespace);
}

static void no_file_system_can_be_had(void **state)
{
	struct nt_step_site site = { rundir, 4 << 20, 64 };
	struct nt_step_dir dir;
	struct nt_error err;

	if (!mounts)
		skip();
	site.files = -1; /* which the kernel refuses, as it refuses those who may not mount */
	assert_int_equal(nt_step_make(&dir, &site, "n1", 12, 0, &err), -1);
	assert_non_null(strstr(err.text, "cannot mount the step's file system on "));
	assert_false(there("run/n1.12.0"));
}

static void unsafe_run_directories_are_refused(void **state)
{
	struct nt_step_site site = { .rundir = rundir };
	char other[96];
	struct nt_step_dir dir;
	struct nt_error err;

	assert_int_equal(mkdir(rundir, 0755), 0);
	assert_int_equal(chmod(rundir, 0777), 0);
	assert_int_equal(nt_step_make(&dir, &site, "n1", 12, 0, &err), -1);
	assert_non_null(strstr(err.text, "may be written by others (mode 0777)"));
	assert_int_equal(chmod(rundir, 0755), 0);
	assert_int_equal(nt_step_make(&dir, &site, "../n1", 12, 0, &err), -1);
	assert_int_equal(nt_step_make(&dir, &site, "a,b", 12, 0, &err), -1);
	assert_int_equal(nt_step_make(&dir, &site, "", 12, 0, &err), -1);
	site.rundir = other;
	snprintf(other, sizeof(other), "%s/link", top);
	assert_int_equal(symlink(rundir, other), 0);
	assert_int_equal(nt_step_make(&dir, &site, "n1", 12, 0, &err), -1);
	snprintf(other, sizeof(other), "%s/none/run", top);
	assert_int_equal(nt_step_make(&dir, &site, "n1", 12, 0, &err), -1);
	site.rundir = rundir;
	if (geteuid() == 0) {
		assert_int_equal(chown(rundir, ROOM_UID, ROOM_UID), 0);
		assert_int_equal(nt_step_make(&dir, &site, "n1", 12, 0, &err), -1);
		assert_non_null(strstr(err.text, "belongs to user 12345"));
	}
}

/* Links and mounts are not opened, with and without the newest system call. */
static void nothing_is_entered(int (*open_beneath)(int, const char *, int))
{
	int dir_fd = open(top, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int fd;

	assert_true(dir_fd >= 0);
	assert_int_equal(shell("mkdir -p inside over; echo text >file; ln -sf file link; "
			       "ln -sfn inside dirlink"),
			 0);
	fd = open_beneath(dir_fd, "inside", O_RDONLY | O_DIRECTORY);
	assert_true(fd >= 0);
	assert_int_equal(fcntl(fd, F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
	close(fd);
	fd = open_beneath(dir_fd, "file", O_RDONLY);
	assert_true(fd >= 0);
	close(fd);
	assert_int_equal(open_beneath(dir_fd, "link", O_RDONLY), -1);
	assert_int_equal(errno, ELOOP);
	assert_int_equal(open_beneath(dir_fd, "dirlink", O_RDONLY | O_DIRECTORY), -1);
	assert_int_equal(open_beneath(dir_fd, "inside/..", O_RDONLY), -1);
	assert_int_equal(errno, EINVAL);
	assert_int_equal(open_beneath(dir_fd, "..", O_RDONLY), -1);
	assert_int_equal(open_beneath(dir_fd, "none", O_RDONLY), -1);
	assert_int_equal(errno, ENOENT);
	if (mounts) {
		assert_int_equal(shell("mount -t tmpfs over over && mount --bind inside/../file "
				       "file"),
				 0);
		assert_int_equal(open_beneath(dir_fd, "over", O_RDONLY | O_DIRECTORY), -1);
		assert_int_equal(errno, EXDEV);
		assert_int_equal(open_beneath(dir_fd, "over", O_PATH), -1);
		assert_int_equal(errno, EXDEV);
		assert_int_equal(open_beneath(dir_fd, "file", O_RDONLY), -1);
		assert_int_equal(errno, EXDEV);
	}
	close(dir_fd);
}

static void beneath(void **state)
{
	char path[128];
	int fd;

	nothing_is_entered(nt_safe_open);
	snprintf(path, sizeof(path), "%s/inside", top);
	fd = nt_safe_open_path(path, O_RDONLY | O_DIRECTORY);
	assert_true(fd >= 0);
	close(fd);
	snprintf(path, sizeof(path), "%s/over", top);
	if (mounts)
		assert_int_equal(nt_safe_open_path(path, O_PATH | O_DIRECTORY), -1);
	assert_int_equal(nt_safe_open_path("relative", O_RDONLY), -1);
}

static void beneath_without_openat2(void **state)
{
	nothing_is_entered(nt_safe_open_old);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_plain_directory, room_make, room_remove),
		cmocka_unit_test_setup_teardown(what_lies_deep_is_put_aside, room_make,
						room_remove),
		cmocka_unit_test_setup_teardown(a_file_system_of_its_own, room_make, room_remove),
		cmocka_unit_test_setup_teardown(a_descriptor_of_it_holds_no_memory, room_make,
						room_remove),
		cmocka_unit_test_setup_teardown(it_is_seen_in_the_jobs_namespace, room_make,
						room_remove),
		cmocka_unit_test_setup_teardown(no_file_system_can_be_had, room_make, room_remove),
		cmocka_unit_test_setup_teardown(unsafe_run_directories_are_refused, room_make,
						room_remove),
		cmocka_unit_test_setup_teardown(beneath, room_make, room_remove),
		cmocka_unit_test_setup_teardown(beneath_without_openat2, room_make, room_remove),
	};

	mounts = room_alone();
	return cmocka_run_group_tests_name("step", tests, NULL, NULL);
}
