/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "recordd/work.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>
#include "lib/clock.h"

#define WORKS_MAX 8 /* in one wait */

bool nt_work_runs(const struct nt_work *work)
{
	return work->child.pid != 0;
}

int nt_work_start(struct nt_work *work, int64_t deadline_ms, struct nt_error *err)
{
	work->deadline_ms = deadline_ms;
	work->silent = false;
	work->bytes = 0;
	return nt_child_start(&work->child, work->kind->run, work->argument, err);
}

void nt_work_hurry(struct nt_work *work, int64_t deadline_ms)
{
	if (deadline_ms < work->deadline_ms)
		work->deadline_ms = deadline_ms;
}

static int64_t children_ms(void)
{
	struct rusage usage;

	getrusage(RUSAGE_CHILDREN, &usage);
	return (int64_t)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1000 +
	       (usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1000;
}

/* why: the child is killed at once; NULL: it has closed its output, and has a moment to end. */
static void end(struct nt_work *work, const char *why)
{
	const struct nt_child_bounds bounds = {
		.deadline_ms = nt_clock_ms() + (why ? 0 : NT_WORK_STOP_MS),
	};
	struct nt_work_result result = { .why = why };
	int64_t used_ms = children_ms();
	struct nt_error err = { "" };
	struct nt_child child;

	if (nt_child_end(&child, &work->child, &bounds, &err) == 0 || why)
		result.status = child.status;
	else if (work->bytes == 0)
		result.why = err.text;
	result.used_ms = children_ms() - used_ms;
	work->out[work->bytes] = '\0';
	result.out = work->out;
	result.bytes = work->bytes;
	nt_child_fini(&child);
	work->kind->ended(work->argument, &result);
}

void nt_work_stop(struct nt_work *work)
{
	if (nt_work_runs(work))
		end(work, "timed out");
}

static void take_bytes(struct nt_work *work)
{
	size_t used = 0;

	while (work->kind->byte && used < work->bytes &&
	       work->kind->byte(work->argument, work->out[used]))
		used++;
	work->bytes -= used;
	memmove(work->out, work->out + used, work->bytes);
}

static void take_output(struct nt_work *work)
{
	ssize_t got = read(work->child.fds[0], work->out + work->bytes,
			   NT_WORK_OUT_MAX - work->bytes);

	if (got < 0 && (errno == EINTR || errno == EAGAIN))
		return;
	if (got <= 0) {
		end(work, NULL);
		return;
	}
	work->bytes += (size_t)got;
	take_bytes(work);
	if (work->bytes == NT_WORK_OUT_MAX)
		end(work, "it wrote too much");
}

/* What libraries print is not used, but must not fill the pipe. */
static void drop_complaints(struct nt_work *work)
{
	char spare[512];
	ssize_t got = read(work->child.fds[1], spare, sizeof(spare));

	work->silent = got == 0 || (got < 0 && errno != EINTR && errno != EAGAIN);
}

static void attend(struct nt_work *work, const struct pollfd polls[2])
{
	if (polls[1].revents)
		drop_complaints(work);
	if (polls[0].revents)
		take_output(work);
	if (nt_work_runs(work) && nt_clock_ms() >= work->deadline_ms)
		nt_work_stop(work);
}

static int wait_ms(const struct nt_work *works, size_t count, int64_t until_ms)
{
	int64_t left_ms;

	for (size_t i = 0; i < count; i++) {
		if (nt_work_runs(&works[i]) && works[i].deadline_ms < until_ms)
			until_ms = works[i].deadline_ms;
	}
	left_ms = until_ms - nt_clock_ms();
	return left_ms > 0 ? (int)left_ms : 0;
}

bool nt_work_wait(struct nt_work *works, size_t count, int fd, int64_t until_ms)
{
	struct pollfd polls[2 * WORKS_MAX + 1];

	for (size_t i = 0; i < count; i++) {
		const struct nt_work *work = &works[i];
		const bool runs = nt_work_runs(work);

		polls[2 * i] = (struct pollfd){ runs ? work->child.fds[0] : -1, POLLIN, 0 };
		polls[2 * i + 1] = (struct pollfd){ runs && !work->silent ? work->child.fds[1] : -1,
						    POLLIN, 0 };
	}
	polls[2 * count] = (struct pollfd){ fd, POLLIN, 0 };
	if (poll(polls, 2 * count + 1, wait_ms(works, count, until_ms)) < 0)
		return false;
	for (size_t i = 0; i < count; i++) {
		if (nt_work_runs(&works[i]))
			attend(&works[i], &polls[2 * i]);
	}
	return polls[2 * count].revents != 0;
}
