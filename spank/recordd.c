/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* nt-recordd: brings the record of one step into accounting. Started by the SPANK plugin on the
 * step's first node, as root; lives as long as slurmstepd, and a few seconds more where it must.
 * What the user's processes wrote is read by a child with the user's rights (collect.h), and
 * another one writes what the step showed into the user's memory (remember.h); this process only
 * checks the bytes that it hands on. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <syslog.h>
#include <time.h>
#include <unistd.h>
#include <slurm/slurm.h>
#include "record/child.h"
#include "record/printable.h"
#include "record/spool.h"
#include "record/step.h"
#include "spank/account.h"
#include "spank/cache.h"
#include "spank/cgroup.h"
#include "spank/collect.h"
#include "spank/errand.h"
#include "spank/fingerprint.h"
#include "spank/learn.h"
#include "spank/remember.h"
#include "spank/rights.h"
#include "spank/step.h"

#define TICK_MS 500 /* between looks at the directory */
#define COLLECT_MS 1000 /* between readings of it */
#define COLLECT_LIMIT_MS 3000
#define AGAIN_MS 10000 /* between writes of an early record */
#define EARLY_LIMIT_MS 12000 /* more than a write takes when slurmctld is away */
#define LIFE_MS 15000 /* after the step's end */
#define RELEASE_MS (NT_HOLD_STEP_MS - 150)
/* how long the record waits for what the user's memory says of the step */
#define MEMORY_WAIT_MS 500
#define MEMORY_LIFE_MS 10000 /* after the step's end: it is ended then */
#define VERIFY_MS 1000 /* after a write: another step's must not have taken it away */
/* a directory changed less long ago may change again at the same time stamp */
#define FRESH_MS 100

struct watch {
	struct nt_errand errand;
	char step[NT_STEP_NAME_MAX];
	char record[NT_STEP_RECORD_MAX + 1]; /* as it was collected last */
	char written[NT_STEP_RECORD_MAX + 1]; /* as it was delivered last */
	struct timespec seen; /* the directory's time stamp when it was read last */
	bool decided; /* record holds a decision */
	bool final, released, spooled, foreign;
	int dir_fd;
	int64_t collected_ms, tried_ms, verify_ms, ended_ms;
	struct nt_child_running memory; /* who writes into the user's memory */
};

/* A line for slurmd's log, or for the system's when slurmstepd is gone. */
static void say(char kind, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void say(char kind, const char *format, ...)
{
	char text[NT_ERRAND_MESSAGE_MAX];
	va_list args;

	text[0] = kind;
	va_start(args, format);
	vsnprintf(text + 1, sizeof(text) - 1, format, args);
	va_end(args);
	if (send(NT_ERRAND_FD, text, strlen(text), MSG_DONTWAIT | MSG_NOSIGNAL) < 0)
		syslog(kind == NT_ERRAND_ERROR ? LOG_ERR : LOG_INFO, "%s", text + 1);
}

static void release(struct watch *watch)
{
	const char word = NT_ERRAND_DONE;

	if (watch->final && !watch->released)
		(void)send(NT_ERRAND_FD, &word, 1, MSG_DONTWAIT | MSG_NOSIGNAL);
	watch->released = watch->final;
}

/* ---- reading, as the user */

/* The record of the step as it is now; the first byte says whether it holds a decision. */
static size_t format_record(const struct watch *watch, struct nt_sum *sum,
			    const struct nt_ticket *ticket, const struct nt_remembered *remembered,
			    char text[NT_STEP_RECORD_MAX + 2])
{
	const struct nt_errand *errand = &watch->errand;
	const bool bounded = errand->record_bytes && errand->record_bytes < NT_STEP_RECORD_MAX;
	const size_t room = bounded ? errand->record_bytes : NT_STEP_RECORD_MAX;
	struct nt_where where;
	const struct nt_sum_head head = {
		.mode = errand->mode,
		.flags = errand->flags,
		.tasks = errand->tasks,
		.nodes = errand->nodes,
		.final = watch->final,
		.ticket = ticket,
		.where = ticket && nt_learn_where(sum, errand, ticket, &where) ? &where : NULL,
		.measured = remembered ? remembered->measured : 0,
		.remark = remembered ? remembered->remark : NULL,
	};

	text[0] = nt_sum_decided(sum) ? '1' : '0';
	return 1 + nt_sum_format(sum, &head, text + 1, room + 1);
}

/* In a child: the user's rights, and what the user's processes left. file_bytes: nt_rights_drop().
 * NULL for *ticket where there is none. */
static int become_reader(const struct watch *watch, size_t file_bytes, struct nt_sum *sum,
			 struct nt_ticket *room, const struct nt_ticket **ticket)
{
	const struct nt_errand *errand = &watch->errand;
	struct nt_error err;

	close(NT_ERRAND_FD);
	close(watch->dir_fd);
	if (nt_rights_drop(errand->uid, errand->gid, file_bytes, &err) < 0)
		return -1;
	nt_sum_init(sum);
	/* A directory that is gone holds nothing. */
	(void)nt_collect_directory(sum, errand->dir, errand->job, errand->step, &err);
	*ticket = nt_ticket_parse(room, errand->ticket, &err) == 0 ? room : NULL;
	return 0;
}

static int run_collect(void *argument, int out_fd)
{
	const struct watch *watch = argument;
	char text[NT_STEP_RECORD_MAX + 2];
	const struct nt_ticket *ticket;
	struct nt_ticket room;
	struct nt_sum sum;
	size_t bytes;

	if (become_reader(watch, 0, &sum, &room, &ticket) < 0)
		return 1;
	bytes = format_record(watch, &sum, ticket, NULL, text);
	nt_sum_fini(&sum);
	return write(out_fd, text, bytes) < 0;
}

static void note_time(struct watch *watch)
{
	struct timespec now;
	struct stat status;
	int64_t age_ms;

	if (watch->dir_fd < 0 || fstat(watch->dir_fd, &status) < 0)
		return;
	clock_gettime(CLOCK_REALTIME, &now);
	age_ms = (int64_t)(now.tv_sec - status.st_mtim.tv_sec) * 1000 +
		 (now.tv_nsec - status.st_mtim.tv_nsec) / 1000000;
	watch->seen = status.st_mtim;
	if (age_ms < FRESH_MS)
		watch->seen.tv_sec = 0;
}

static bool has_changed(const struct watch *watch)
{
	struct stat status;

	return watch->dir_fd >= 0 && fstat(watch->dir_fd, &status) == 0 &&
	       (status.st_mtim.tv_sec != watch->seen.tv_sec ||
		status.st_mtim.tv_nsec != watch->seen.tv_nsec);
}

/* out is what run_collect() and run_remember() write first. false: it is no record. */
static bool take_record(struct watch *watch, const char *out, size_t bytes, struct nt_error *err)
{
	if (bytes < 2 || nt_step_check(out + 1, bytes - 1, err) < 0)
		return false;
	watch->decided = out[0] == '1';
	memcpy(watch->record, out + 1, bytes - 1);
	watch->record[bytes - 1] = '\0';
	return true;
}

static void collect(struct watch *watch)
{
	const struct nt_child_bounds bounds = {
		.deadline_ms = nt_clock_ms() + COLLECT_LIMIT_MS,
		.max_bytes = NT_STEP_RECORD_MAX + 1,
		.stop_fd = watch->final ? 0 : NT_ERRAND_FD,
	};
	struct nt_child child;
	struct nt_error err = { "no rights of the user's" };
	int rc;

	note_time(watch);
	rc = nt_child_call(&child, run_collect, watch, &bounds, &err);
	watch->collected_ms = nt_clock_ms();
	if ((rc < 0 || !take_record(watch, child.out, child.out_bytes, &err)) && watch->final &&
	    (rc < 0 || child.out_bytes != 1)) {
		say(NT_ERRAND_ERROR,
		    "job %" PRIu32 " step %s: the records of its ranks could not be read: %s",
		    watch->errand.job, watch->step, err.text);
	}
	nt_child_fini(&child);
}

/* ---- the user's memory, as the user */

/* Writes the record with what the memory says of the step; behind a line's end what went wrong. */
static int run_remember(void *argument, int out_fd)
{
	const struct watch *watch = argument;
	char text[NT_STEP_RECORD_MAX + 2 + sizeof(((struct nt_remembered *)0)->remark)];
	const struct nt_ticket *ticket;
	struct nt_remembered remembered;
	struct nt_ticket room;
	struct nt_sum sum;
	size_t bytes;

	if (become_reader(watch, NT_REMEMBER_FILE_MAX, &sum, &room, &ticket) < 0)
		return 1;
	if (!ticket || !ticket->memory[0])
		return 0;
	nt_remember(&sum, &watch->errand, ticket, &remembered);
	bytes = format_record(watch, &sum, ticket, &remembered, text);
	nt_sum_fini(&sum);
	if (remembered.failed)
		bytes += (size_t)snprintf(text + bytes, sizeof(text) - bytes, "\n%s",
					  remembered.remark);
	return write(out_fd, text, bytes) < 0;
}

static void start_memory(struct watch *watch)
{
	struct nt_error err;

	if (watch->errand.memory_mib == NT_ERRAND_NO_MEMORY)
		return;
	if (strcmp(watch->errand.ticket, "-") != 0 &&
	    nt_child_start(&watch->memory, run_remember, watch, &err) < 0)
		say(NT_ERRAND_ERROR, "job %" PRIu32 " step %s: nothing will be remembered: %s",
		    watch->errand.job, watch->step, err.text);
}

static void end_memory(struct watch *watch, int64_t deadline_ms)
{
	const struct nt_child_bounds bounds = {
		.deadline_ms = deadline_ms,
		.max_bytes = NT_STEP_RECORD_MAX + 2 + NT_ERRAND_MESSAGE_MAX,
	};
	struct nt_child child;
	struct nt_error err = { "" };
	const char *complaint = NULL;
	char *end;

	if (nt_child_end(&child, &watch->memory, &bounds, &err) < 0)
		complaint = err.text;
	else if (child.status != 0)
		complaint = "its process failed";
	end = child.out ? memchr(child.out, '\n', child.out_bytes) : NULL;
	if (end)
		complaint = nt_printable(end + 1);
	if (child.out && child.out_bytes > 0)
		(void)take_record(watch, child.out,
				  end ? (size_t)(end - child.out) : child.out_bytes, &err);
	if (complaint)
		say(NT_ERRAND_ERROR, "job %" PRIu32 " step %s: the user's memory: %s",
		    watch->errand.job, watch->step, complaint);
	nt_child_fini(&child);
}

/* Waits for it until then, and no longer. */
static void await_memory(struct watch *watch, int64_t until_ms)
{
	if (watch->memory.pid != 0 && nt_child_wait(&watch->memory, until_ms))
		end_memory(watch, nt_clock_ms() + COLLECT_LIMIT_MS);
}

/* The step's end: what is to be found by the job's next srun is in place, or the time is up. */
static void let_go(struct watch *watch)
{
	await_memory(watch, watch->ended_ms + RELEASE_MS);
	release(watch);
}

/* ---- writing, as root */

static struct nt_spool_entry entry_of(const struct watch *watch)
{
	return (struct nt_spool_entry){ watch->errand.cluster, watch->errand.job, watch->step,
					watch->record };
}

/* A file beside the steps' directories, the same for all steps of the machine; users cannot open
 * it. */
static int open_lock(const struct watch *watch)
{
	const char *slash = strrchr(watch->errand.dir, '/');
	char path[NT_PATH_MAX + 8];

	if (!slash)
		return -1;
	snprintf(path, sizeof(path), "%.*s/lock", (int)(slash - watch->errand.dir),
		 watch->errand.dir);
	return open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
}

static int run_account(void *argument, int out_fd)
{
	struct watch *watch = argument;
	char text[1 + sizeof(((struct nt_error *)0)->text)];
	struct nt_error err = { "" };
	int lock_fd;

	close(NT_ERRAND_FD);
	lock_fd = open_lock(watch);
	slurm_init(NULL);
	text[0] = (char)nt_account_write(watch->errand.job, watch->step, watch->record, lock_fd,
					 &err);
	snprintf(text + 1, sizeof(text) - 1, "%s", err.text);
	return write(out_fd, text, strlen(text)) < 0;
}

static void spool(struct watch *watch, const char *why)
{
	struct nt_spool_entry entry = entry_of(watch);
	struct nt_error err;

	watch->spooled = nt_spool_write(watch->errand.spool, &entry, &err) == 0;
	if (watch->spooled)
		say(NT_ERRAND_INFO, "job %" PRIu32 " step %s: the record waits in %.80s: %.160s",
		    entry.job, entry.step, watch->errand.spool, why);
	else
		say(NT_ERRAND_ERROR, "job %" PRIu32 " step %s: the record is lost: %.100s; %.100s",
		    entry.job, entry.step, why, err.text);
}

/* The step has waited long enough: make sure of the record, then go on trying without it. */
static void stop_holding(void *argument)
{
	spool(argument, "slurmctld has not answered yet");
	release(argument);
}

static enum nt_account write_account(struct watch *watch, struct nt_error *err)
{
	const struct nt_child_bounds bounds = {
		.deadline_ms = watch->final ? watch->ended_ms + LIFE_MS
					    : nt_clock_ms() + EARLY_LIMIT_MS,
		.max_bytes = sizeof(err->text),
		.stop_fd = watch->final ? 0 : NT_ERRAND_FD,
		.remind_ms = watch->final && !watch->released ? watch->ended_ms + RELEASE_MS : 0,
		.remind = stop_holding,
		.argument = watch,
	};
	enum nt_account result = NT_ACCOUNT_FAILED;
	struct nt_child child;

	if (nt_child_call(&child, run_account, watch, &bounds, err) == 0) {
		if (child.out_bytes > 0) {
			result = (enum nt_account)child.out[0];
			snprintf(err->text, sizeof(err->text), "%s", child.out + 1);
		} else {
			nt_error_set(err, "libslurm ended the process");
		}
	}
	nt_child_fini(&child);
	return result;
}

static enum nt_account write_file(struct watch *watch, struct nt_error *err)
{
	struct nt_spool_entry entry = entry_of(watch);

	return nt_spool_write(watch->errand.file, &entry, err) == 0 ? NT_ACCOUNT_WRITTEN
								    : NT_ACCOUNT_FAILED;
}

/* Returns whether the record is where it belongs. */
static bool deliver(struct watch *watch, struct nt_error *err)
{
	bool to_file = watch->errand.file[0] == '/';
	enum nt_account result = to_file ? write_file(watch, err) : write_account(watch, err);

	watch->tried_ms = nt_clock_ms();
	watch->foreign = result == NT_ACCOUNT_FOREIGN;
	if (result != NT_ACCOUNT_WRITTEN)
		return false;
	memcpy(watch->written, watch->record, sizeof(watch->written));
	watch->verify_ms = to_file ? 0 : watch->tried_ms + VERIFY_MS;
	return true;
}

/* While the step runs: nothing is said of failures, the end is another chance. */
static void tick(struct watch *watch)
{
	int64_t now_ms = nt_clock_ms();
	struct nt_error err;
	bool news;

	if (now_ms - watch->collected_ms >= COLLECT_MS && has_changed(watch))
		collect(watch);
	news = watch->decided && strcmp(watch->record, watch->written) != 0 &&
	       (watch->tried_ms == 0 || now_ms - watch->tried_ms >= AGAIN_MS);
	if (news && !watch->foreign) {
		(void)deliver(watch, &err);
	} else if (watch->verify_ms > 0 && now_ms >= watch->verify_ms && watch->written[0] &&
		   strcmp(watch->record, watch->written) == 0) {
		(void)deliver(watch, &err);
		watch->verify_ms = 0;
	}
}

/* Until slurmstepd says that the step's tasks have ended, or is gone. */
static void watch_step(struct watch *watch)
{
	struct pollfd polls = { .fd = NT_ERRAND_FD, .events = POLLIN };
	char word = '\0';

	for (;;) {
		int ready = poll(&polls, 1, TICK_MS);
		ssize_t n = ready > 0 ? recv(NT_ERRAND_FD, &word, 1, MSG_DONTWAIT) : 0;

		if (ready > 0 && (n == 1 || n == 0 || (errno != EAGAIN && errno != EINTR)))
			return;
		if (ready == 0)
			tick(watch);
	}
}

static void sleep_until(int64_t until_ms)
{
	int64_t left_ms;

	while ((left_ms = until_ms - nt_clock_ms()) > 0)
		(void)poll(NULL, 0, (int)left_ms);
}

/* Into accounting, or into the spool for as long as that cannot be. */
static bool hand_on(struct watch *watch)
{
	struct nt_error err;

	if (deliver(watch, &err))
		return true;
	if (!watch->spooled)
		spool(watch, err.text);
	return false;
}

/* The record is where it belongs, unless another step's writer or the memory has changed it. */
static bool hand_on_again(struct watch *watch)
{
	if (watch->verify_ms > 0) {
		await_memory(watch, watch->verify_ms);
		sleep_until(watch->verify_ms);
		if (!hand_on(watch))
			return false;
	}
	if (watch->memory.pid != 0)
		end_memory(watch, watch->ended_ms + MEMORY_LIFE_MS);
	return strcmp(watch->record, watch->written) == 0 || hand_on(watch);
}

static void finish(struct watch *watch)
{
	struct nt_spool_entry entry = entry_of(watch);
	struct nt_error err;
	bool delivered;

	watch->final = true;
	watch->ended_ms = nt_clock_ms();
	watch->verify_ms = 0;
	start_memory(watch);
	collect(watch);
	await_memory(watch, watch->ended_ms + MEMORY_WAIT_MS);
	delivered = watch->record[0] && hand_on(watch);
	let_go(watch);
	if (delivered)
		delivered = hand_on_again(watch);
	if (watch->memory.pid != 0)
		end_memory(watch, watch->ended_ms + MEMORY_LIFE_MS);
	if (delivered && watch->spooled && nt_spool_remove(watch->errand.spool, &entry, &err) == 0)
		say(NT_ERRAND_INFO, "job %" PRIu32 " step %s: the record was delivered after all",
		    entry.job, entry.step);
}

/* ---- the process */

static void close_others(void)
{
	DIR *directory = opendir("/proc/self/fd");
	const struct dirent *entry;

	if (!directory)
		return;
	while ((entry = readdir(directory)) != NULL) {
		int fd = (int)strtol(entry->d_name, NULL, 10);

		if (fd > NT_ERRAND_FD && fd != dirfd(directory))
			close(fd);
	}
	closedir(directory);
}

/* slurmstepd is spared by the kernel when memory is short; we need not be. */
static void be_expendable(void)
{
	int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);

	if (fd < 0)
		return;
	(void)!write(fd, "0", 1);
	close(fd);
}

static int record(int argc, char *argv[])
{
	static struct watch watch;
	struct nt_error err;

	if (nt_errand_parse(&watch.errand, argc, argv, &err) < 0) {
		fprintf(stderr, "nt-recordd: %s\n", err.text);
		return 2;
	}
	signal(SIGHUP, SIG_IGN);
	signal(SIGINT, SIG_IGN);
	signal(SIGTERM, SIG_IGN); /* slurmstepd gets it as well; its end is what counts */
	openlog("nccl-tune", LOG_PID, LOG_DAEMON);
	nt_cgroup_leave();
	be_expendable();
	nt_step_name(watch.errand.step, watch.step);
	/* O_PATH: only the time stamp is looked at, whatever the user puts there. */
	watch.dir_fd = open(watch.errand.dir, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	watch_step(&watch);
	finish(&watch);
	return 0;
}

/* fingerprint RUNDIR: computed anew and kept; the number also goes to whoever waits for it. */
static int fingerprint(const char *rundir)
{
	char text[200];
	struct nt_error err;
	uint64_t value;
	int rundir_fd;

	alarm(LIFE_MS / 1000);
	nt_cgroup_leave();
	be_expendable();
	if (nt_fingerprint_compute(&value, text, sizeof(text), &err) < 0)
		return 1;
	dprintf(NT_ERRAND_FD, "%016" PRIx64 "\n", value);
	rundir_fd = nt_rundir_open(rundir, &err);
	if (rundir_fd < 0 || nt_cache_write(rundir_fd, value, text, &err) < 0)
		return 1;
	return 0;
}

int main(int argc, char *argv[])
{
	signal(SIGPIPE, SIG_IGN);
	if (argc < 3 || fcntl(NT_ERRAND_FD, F_GETFD) < 0) {
		fprintf(stderr,
			"nt-recordd is started by spank_nccl_tune.so, see spank_nccl_tune(8)\n");
		return 2;
	}
	close_others();
	if (strcmp(argv[1], "fingerprint") == 0)
		return fingerprint(argv[2]);
	if (strcmp(argv[1], "record") == 0)
		return record(argc - 2, argv + 2);
	return 2;
}
