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
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <syslog.h>
#include <time.h>
#include <unistd.h>
#include "record/child.h"
#include "record/printable.h"
#include "record/step.h"
#include "spank/beneath.h"
#include "spank/cache.h"
#include "spank/cgroup.h"
#include "spank/collect.h"
#include "spank/deliver.h"
#include "spank/errand.h"
#include "spank/fingerprint.h"
#include "spank/learn.h"
#include "spank/longform.h"
#include "spank/longsay.h"
#include "spank/remember.h"
#include "spank/rights.h"
#include "spank/rundir.h"
#include "spank/step.h"
#include "spank/sumtext.h"
#include "spank/tidy.h"

#define TICK_MS 500 /* between looks at the directory */
#define COLLECT_MS 1000 /* between readings of it, at least ... */
#define COLLECT_SHARE 100 /* ... and so many times what the last one took of a processor ... */
#define COLLECT_REST_MS 60000 /* ... up to this */
#define COLLECT_LIMIT_MS 3000
/* Between writes of an early record: at first so long, then twice as long each time, up to this.
 * While something is explored a record changes all the time. */
#define AGAIN_MS 10000
#define AGAIN_MAX_MS 60000
#define QUEUED_MS 3000 /* ... that has to wait for its turn */
#define LIFE_MS 15000 /* after the step's end */
#define RELEASE_MS (NT_HOLD_STEP_MS - 150)
/* how long the record waits for what the user's memory says of the step */
#define MEMORY_WAIT_MS 500
/* how long it waits to name where the record in full is being written */
#define LONG_WAIT_MS 200
#define LONG_LIFE_MS 14000 /* after the step's end, for the last part of its long form */
#define MEMORY_LIFE_MS 10000 /* after the step's end: it is ended then */
/* a directory changed less long ago may change again at the same time stamp */
#define FRESH_MS 100

struct watch {
	struct nt_errand errand;
	char step[NT_STEP_NAME_MAX];
	char record[NT_STEP_RECORD_MAX + 1]; /* as it was collected last */
	struct timespec seen; /* the directory's time stamp when it was read last */
	bool decided; /* record holds a decision */
	bool final, released;
	int dir_fd;
	/* The step's groups are there until it is released: who works for the user works there. */
	bool inside;
	uint64_t signature; /* of the records as they were read last */
	int reader_pid; /* who reads them now; 0: nobody */
	int64_t collect_ms; /* when they may be read next */
	int64_t again_ms; /* between two early writes, by now; 0: none was repeated yet */
	int64_t started_ms, ended_ms;
	struct nt_delivery delivery;
	struct nt_child_running memory; /* who writes into the user's memory */
	struct nt_longform longform;
	char told[NT_STEP_RECORD_MAX + 1]; /* record, and where its long form is */
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
	nt_printable(text + 1);
	if (send(NT_ERRAND_FD, text, strlen(text), MSG_DONTWAIT | MSG_NOSIGNAL) < 0)
		syslog(kind == NT_ERRAND_ERROR ? LOG_ERR : LOG_INFO, "%s", text + 1);
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

static void release(struct watch *watch)
{
	const char word = NT_ERRAND_DONE;

	if (watch->inside) {
		take_out(watch->reader_pid);
		take_out(watch->memory.pid);
		take_out(watch->longform.child.pid);
		watch->inside = false;
	}
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
	const size_t most = bounded ? errand->record_bytes : NT_STEP_RECORD_MAX;
	const size_t kept = nt_longform_room(errand);
	const size_t room = kept < most / 4 ? most - kept : most;
	struct nt_where where;
	const struct nt_sum_head head = {
		.mode = errand->mode,
		.flags = errand->flags,
		.tasks = errand->tasks,
		.nodes = errand->nodes,
		.final = watch->final,
		.run = errand->run,
		.ticket = ticket,
		.where = ticket && nt_learn_where(sum, errand, ticket, &where) ? &where : NULL,
		.measured = remembered ? remembered->measured : 0,
		.remark = remembered ? remembered->remark : NULL,
	};

	text[0] = nt_sum_decided(sum) ? '1' : '0';
	return 1 + nt_sum_format(sum, &head, text + 1, room + 1);
}

static void set_oom_score(const char *score)
{
	int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);

	if (fd < 0)
		return;
	(void)!write(fd, score, strlen(score));
	close(fd);
}

/* Here, not in the child: it cannot come in after it was taken out. */
static void put_in(const struct watch *watch, int pid)
{
	if (watch->inside)
		nt_cgroup_join(watch->errand.groups, pid);
}

/* In a child. file_bytes: nt_rights_drop(). */
static int become_user(const struct watch *watch, size_t file_bytes)
{
	struct nt_error err;

	close(NT_ERRAND_FD);
	close(watch->dir_fd);
	set_oom_score("1000"); /* before any of the user's own processes */
	return nt_rights_drop(watch->errand.uid, watch->errand.gid, file_bytes, &err);
}

/* What the user's processes left. NULL for *ticket where there is none. */
static void read_directory(const struct watch *watch, struct nt_sum *sum, struct nt_ticket *room,
			   const struct nt_ticket **ticket)
{
	const struct nt_errand *errand = &watch->errand;
	struct nt_error err;

	nt_sum_init(sum);
	/* A directory that is gone holds nothing. */
	(void)nt_collect_directory(sum, errand->dir, errand->job, errand->step, &err);
	*ticket = nt_ticket_parse(room, errand->ticket, &err) == 0 ? room : NULL;
}

/* Writes the signature and, where that is another than last time, the record. */
static int run_collect(void *argument, int out_fd)
{
	const struct watch *watch = argument;
	struct {
		uint64_t signature;
		char text[NT_STEP_RECORD_MAX + 2];
	} out;
	const struct nt_ticket *ticket;
	struct nt_ticket room;
	struct nt_sum sum;
	size_t bytes = sizeof(out.signature);

	if (become_user(watch, 0) < 0)
		return 1;
	out.signature = nt_collect_signature(watch->errand.dir);
	if (watch->final || out.signature != watch->signature) {
		read_directory(watch, &sum, &room, &ticket);
		bytes += format_record(watch, &sum, ticket, NULL, out.text);
		nt_sum_fini(&sum);
	}
	return write(out_fd, &out, bytes) < 0;
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

static int64_t children_ms(void)
{
	struct rusage usage;

	getrusage(RUSAGE_CHILDREN, &usage);
	return (int64_t)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1000 +
	       (usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1000;
}

/* The step has waited long enough for who reads. */
static void stop_waiting(void *argument)
{
	release(argument);
}

/* In the step's groups, if they are still there and that is wanted. */
static int call_reader(struct watch *watch, bool within, struct nt_child *child,
		       struct nt_error *err)
{
	const struct nt_child_bounds bounds = {
		.deadline_ms = nt_clock_ms() + COLLECT_LIMIT_MS,
		.max_bytes = sizeof(watch->signature) + NT_STEP_RECORD_MAX + 1,
		.stop_fd = watch->final ? 0 : NT_ERRAND_FD,
		.remind_ms = watch->final && !watch->released ? watch->ended_ms + RELEASE_MS : 0,
		.remind = stop_waiting,
		.argument = watch,
	};
	struct nt_child_running running;
	int rc;

	memset(child, 0, sizeof(*child));
	if (nt_child_start(&running, run_collect, watch, err) < 0)
		return -1;
	watch->reader_pid = running.pid;
	if (within)
		put_in(watch, running.pid);
	rc = nt_child_end(child, &running, &bounds, err);
	watch->reader_pid = 0;
	return rc;
}

/* Where there is no memory in the step's group, or Slurm has ended all that is there. */
static bool was_killed(const struct watch *watch, const struct nt_child *child)
{
	return watch->final && watch->errand.groups[0] == '/' && child->status == 128 + SIGKILL;
}

/* Who changes many records often has them read less often. */
static void rest(struct watch *watch, int64_t used_ms)
{
	int64_t rest_ms = used_ms * COLLECT_SHARE;

	if (rest_ms < COLLECT_MS)
		rest_ms = COLLECT_MS;
	if (rest_ms > COLLECT_REST_MS)
		rest_ms = COLLECT_REST_MS;
	watch->collect_ms = nt_clock_ms() + rest_ms;
}

static void collect(struct watch *watch)
{
	const size_t skip = sizeof(watch->signature);
	struct nt_error err = { "no rights of the user's" };
	int64_t used_ms = children_ms();
	struct nt_child child;
	bool taken;
	int rc;

	note_time(watch);
	rc = call_reader(watch, true, &child, &err);
	if (rc == 0 && was_killed(watch, &child)) {
		nt_child_fini(&child);
		rc = call_reader(watch, false, &child, &err);
	}
	taken = rc == 0 && child.out_bytes > skip &&
		take_record(watch, child.out + skip, child.out_bytes - skip, &err);
	if (rc == 0 && child.out_bytes >= skip)
		memcpy(&watch->signature, child.out, skip);
	if (!taken && watch->final && (rc < 0 || child.out_bytes != skip + 1))
		say(NT_ERRAND_ERROR,
		    "job %" PRIu32 " step %s: the records of its ranks could not be read: %s",
		    watch->errand.job, watch->step, err.text);
	nt_child_fini(&child);
	rest(watch, children_ms() - used_ms);
}

/* ---- the step's record in full, as the user */

static int run_long(void *argument, int out_fd)
{
	const struct watch *watch = argument;
	const struct nt_errand *errand = &watch->errand;
	char text[NT_STEP_RECORD_MAX + 2] = "";
	const struct nt_ticket *ticket;
	struct nt_ticket room;
	struct nt_ranks ranks;
	struct nt_error err;
	struct nt_sum sum;

	if (become_user(watch, nt_longform_bytes(errand)) < 0)
		return 1;
	nt_ranks_read(&ranks, errand->dir);
	nt_longform_say(out_fd, NT_LONGSAY_READ);
	nt_sum_init(&sum);
	for (size_t i = 0; i < ranks.count; i++)
		nt_collect_add(&sum, &ranks.file[i], errand->job, errand->step);
	ticket = nt_ticket_parse(&room, errand->ticket, &err) == 0 ? &room : NULL;
	(void)format_record(watch, &sum, ticket, NULL, text);
	nt_sum_fini(&sum);
	return nt_longform_write(errand, watch->final, &ranks, text + 1, out_fd);
}

static void start_long(struct watch *watch, bool within)
{
	if (!nt_longform_wanted(&watch->longform))
		return;
	nt_longform_start(&watch->longform, watch->signature, run_long, watch);
	if (within)
		put_in(watch, watch->longform.child.pid);
}

/* While the step runs: with the first decision, and where there is none after a while, too. */
static void tick_long(struct watch *watch)
{
	nt_longform_look(&watch->longform);
	if ((watch->decided || nt_clock_ms() >= watch->started_ms + NT_LONGFORM_EVERY_MS) &&
	    nt_longform_due(&watch->longform, watch->signature))
		start_long(watch, true);
}

/* The step may go once it has read what lies there. As readers (was_killed), it may have to do so
 * outside. */
static void await_long(struct watch *watch)
{
	struct nt_longform *longform = &watch->longform;
	const int64_t until_ms = watch->ended_ms + RELEASE_MS;

	nt_longform_await(longform, NT_LONGFORM_READ, until_ms);
	if (longform->child.pid == 0 && longform->killed && watch->errand.groups[0] == '/') {
		start_long(watch, false);
		nt_longform_await(longform, NT_LONGFORM_READ, until_ms);
	}
}

static void end_long(struct watch *watch)
{
	struct nt_longform *longform = &watch->longform;

	nt_longform_end(longform, watch->ended_ms + LONG_LIFE_MS);
	if (longform->why[0])
		say(NT_ERRAND_INFO, "job %" PRIu32 " step %s: its record in full: %s",
		    watch->errand.job, watch->step, longform->why);
}

/* The record as it is delivered. */
static const char *told(struct watch *watch)
{
	struct nt_error err;

	memcpy(watch->told, watch->record, sizeof(watch->told));
	nt_longform_tell(&watch->longform, watch->told, sizeof(watch->told));
	if (watch->told[0] && nt_step_check(watch->told, strlen(watch->told), &err) < 0)
		memcpy(watch->told, watch->record, sizeof(watch->told));
	return watch->told;
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

	if (become_user(watch, NT_REMEMBER_FILE_MAX) < 0)
		return 1;
	read_directory(watch, &sum, &room, &ticket);
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

	if (watch->errand.memory_mib == NT_ERRAND_NO_MEMORY ||
	    strcmp(watch->errand.ticket, "-") == 0)
		return;
	if (nt_child_start(&watch->memory, run_remember, watch, &err) == 0)
		put_in(watch, watch->memory.pid);
	else
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
		complaint = end + 1;
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
	await_long(watch);
	release(watch);
}

/* ---- the course of things */

/* While the step runs: nothing is said of failures, the end is another chance. */
static void tick(struct watch *watch)
{
	struct nt_delivery *delivery = &watch->delivery;
	int64_t now_ms = nt_clock_ms();
	int64_t again_ms = watch->again_ms > 0 ? watch->again_ms : AGAIN_MS;
	int64_t pause_ms = delivery->result == NT_ACCOUNT_QUEUED ? QUEUED_MS : again_ms;

	if (now_ms >= watch->collect_ms && has_changed(watch))
		collect(watch);
	tick_long(watch);
	if (watch->errand.first && nt_deliver_early_done(delivery) && watch->decided &&
	    strcmp(told(watch), delivery->written) != 0 && delivery->result != NT_ACCOUNT_FOREIGN &&
	    (delivery->tried_ms == 0 || now_ms - delivery->tried_ms >= pause_ms)) {
		if (delivery->tried_ms != 0 && pause_ms == again_ms)
			watch->again_ms = 2 * again_ms < AGAIN_MAX_MS ? 2 * again_ms : AGAIN_MAX_MS;
		nt_deliver_early(delivery, watch->told);
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

		if (ready > 0 && (n == 1 || n == 0 || (errno != EAGAIN && errno != EINTR))) {
			watch->inside = watch->inside && n == 1; /* else it is not waited for */
			return;
		}
		if (ready == 0)
			tick(watch);
	}
}

/* The record, or what others of the job have left; the step may go while this still looks whether
 * it is there. */
static void hand_on(struct watch *watch)
{
	struct nt_delivery *delivery = &watch->delivery;
	bool news = strcmp(told(watch), delivery->written) != 0;

	if (news || watch->errand.step == NT_STEP_BATCH)
		nt_deliver_begin(delivery, news ? watch->told : "");
	nt_deliver_wait(delivery, watch->ended_ms + RELEASE_MS);
	let_go(watch);
	nt_deliver_end(delivery, watch->ended_ms + LIFE_MS);
}

/* Of another node than the first: its part of the long form. */
static void finish_part(struct watch *watch)
{
	let_go(watch);
	end_long(watch);
}

static void finish(struct watch *watch)
{
	bool again;

	watch->final = true;
	watch->ended_ms = nt_clock_ms();
	start_long(watch, true);
	if (!watch->errand.first) {
		finish_part(watch);
		return;
	}
	start_memory(watch);
	collect(watch);
	await_memory(watch, watch->ended_ms + MEMORY_WAIT_MS);
	nt_longform_await(&watch->longform, NT_LONGFORM_PLACED, watch->ended_ms + LONG_WAIT_MS);
	hand_on(watch);
	again = watch->memory.pid != 0 || watch->longform.child.pid != 0;
	if (watch->memory.pid != 0)
		end_memory(watch, watch->ended_ms + MEMORY_LIFE_MS);
	end_long(watch);
	if (again)
		hand_on(watch);
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

static int record(int argc, char *argv[])
{
	static struct watch watch;
	struct nt_error err;

	if (nt_errand_parse(&watch.errand, argc, argv, &err) < 0) {
		fprintf(stderr, "nt-recordd: %s\n", nt_printable(err.text));
		return 2;
	}
	signal(SIGHUP, SIG_IGN);
	signal(SIGINT, SIG_IGN);
	signal(SIGTERM, SIG_IGN); /* slurmstepd gets it as well; its end is what counts */
	openlog("nccl-tune", LOG_PID, LOG_DAEMON);
	set_oom_score("0"); /* slurmstepd is spared when memory is short; we need not be */
	nt_step_name(watch.errand.step, watch.errand.component, watch.step);
	watch.started_ms = nt_clock_ms();
	watch.longform.errand = &watch.errand;
	watch.delivery.errand = &watch.errand;
	if (nt_sinks_parse(&watch.delivery.sinks, watch.errand.record, &err) < 0)
		return 2;
	watch.delivery.say = say;
	memcpy(watch.delivery.step, watch.step, sizeof(watch.step));
	/* O_PATH: only the time stamp is looked at, never that of what the user mounts there. */
	watch.dir_fd = nt_beneath_open_path(watch.errand.dir, O_PATH | O_DIRECTORY);
	watch.inside = watch.errand.groups[0] == '/';
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
	set_oom_score("0");
	if (nt_fingerprint_compute(&value, text, sizeof(text), &err) < 0)
		return 1;
	dprintf(NT_ERRAND_FD, "%016" PRIx64 "\n", value);
	rundir_fd = nt_rundir_open(rundir, &err);
	if (rundir_fd < 0 || nt_cache_write(rundir_fd, value, text, &err) < 0)
		return 1;
	return 0;
}

static void say_untidy(const char *text)
{
	syslog(LOG_ERR, "%s", text);
}

/* tidy RUNDIR, tidy-again RUNDIR */
static int tidy(const char *rundir, bool again)
{
	struct nt_error err;

	/* A person who starts this by hand sees what is said. */
	openlog("nccl-tune", LOG_PID | LOG_PERROR, LOG_DAEMON);
	alarm(2 * NT_TIDY_ALL_MS / 1000);
	set_oom_score("0");
	if (nt_tidy(rundir, again, say_untidy, &err) == 0)
		return 0;
	syslog(LOG_ERR, "%s", err.text);
	return 1;
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
	if (strcmp(argv[1], "tidy") == 0 || strcmp(argv[1], "tidy-again") == 0)
		return tidy(argv[2], argv[1][4] != '\0');
	if (strcmp(argv[1], "record") == 0)
		return record(argc - 2, argv + 2);
	return 2;
}
