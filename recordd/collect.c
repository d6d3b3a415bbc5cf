/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* What processes of a user have left in the node's memory. */
#include "recordd/collect.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include "contract/names.h"
#include "lib/clock.h"
#include "lib/printable.h"
#include "record/calls-record.h"
#include "record/rank.h"

#define TRIES 3 /* to copy a text that changes meanwhile */

struct reader {
	nt_collect_visit *visit;
	void *argument;
	int fd;
	size_t bytes; /* of texts, copied so far */
	struct nt_tray tray; /* a copy */
	char calls[NT_RANK_RECORD_MAX];
};

static int copy(int fd, void *out, size_t bytes, size_t at)
{
	return pread(fd, out, bytes, (off_t)at) == (ssize_t)bytes ? 0 : -1;
}

static void show(struct reader *reader, struct nt_collected *item)
{
	reader->visit(reader->argument, item);
	free(item->text);
}

static void show_trouble(struct reader *reader, const char *why)
{
	struct nt_collected item = { .kind = NT_COLLECTED_RECORD };

	nt_error_set(&item.why, "%s", why);
	show(reader, &item);
}

static size_t longest(enum nt_collected_kind kind)
{
	return kind == NT_COLLECTED_GRAPHS || kind == NT_COLLECTED_DEVICES
		       ? (size_t)NT_TRAY_TEXT
		       : (size_t)NT_RANK_RECORD_MAX;
}

/* true: the writer had published nothing newer when the copy was complete. */
static bool copy_newest(struct reader *reader, uint32_t tray, struct nt_collected *item)
{
	const uint32_t written = reader->tray.written, half = written & 1;
	const size_t bytes = reader->tray.bytes[half];
	uint32_t now = written + 1;

	reader->bytes += bytes;
	item->text = malloc(bytes + 1);
	atomic_thread_fence(memory_order_seq_cst);
	if (!item->text || copy(reader->fd, item->text, bytes, NT_TRAY_TEXT_AT(tray, half)) < 0)
		return true;
	atomic_thread_fence(memory_order_seq_cst);
	if (copy(reader->fd, &now, sizeof(now),
		 NT_TRAY_AT(tray) + offsetof(struct nt_tray, written)) == 0 &&
	    now == written) {
		item->text[bytes] = '\0';
		item->bytes = bytes;
		return true;
	}
	free(item->text);
	item->text = NULL;
	return false;
}

static void read_text(struct reader *reader, uint32_t tray, enum nt_collected_kind kind,
		      struct nt_collected *item)
{
	item->kind = kind;
	for (int i = 0; i < TRIES; i++) {
		if (reader->tray.bytes[reader->tray.written & 1] > longest(kind)) {
			nt_error_set(&item->why, "it is too long");
			return;
		}
		if (copy_newest(reader, tray, item))
			break;
		if (copy(reader->fd, &reader->tray, offsetof(struct nt_tray, calls),
			 NT_TRAY_AT(tray)) < 0)
			break;
	}
	if (item->bytes == 0) {
		free(item->text);
		item->text = NULL;
		nt_error_set(&item->why, "it cannot be read");
	}
}

/* A process's record, if it has written one, and its calls. */
static void visit_rank(struct reader *reader, uint32_t tray)
{
	struct nt_collected record, calls = { .kind = NT_COLLECTED_CALLS };
	const struct nt_calls *seen = &reader->tray.calls;

	snprintf(calls.name, sizeof(calls.name), "%" PRIu32 ".%" PRIu32, seen->task, seen->pid);
	calls.bytes = nt_calls_format(seen, nt_clock_read_ns(CLOCK_REALTIME) / 1000000,
				      reader->calls, sizeof(reader->calls));
	reader->bytes += calls.bytes;
	calls.text = calls.bytes > 0 ? strndup(reader->calls, calls.bytes) : NULL;
	record = (struct nt_collected){ .kind = NT_COLLECTED_RECORD };
	memcpy(record.name, calls.name, sizeof(record.name));
	show(reader, &calls);
	if (reader->tray.written == 0)
		return;
	read_text(reader, tray, NT_COLLECTED_RECORD, &record);
	show(reader, &record);
}

static void visit_tray(struct reader *reader, uint32_t tray)
{
	struct nt_collected item = { .bytes = 0 };

	if (copy(reader->fd, &reader->tray, sizeof(reader->tray), NT_TRAY_AT(tray)) < 0)
		return;
	snprintf(item.name, sizeof(item.name), "%.*s", NT_TRAY_ABOUT - 1, reader->tray.about);
	switch ((uint32_t)reader->tray.kind) {
	case NT_TRAY_RANK: visit_rank(reader, tray); return;
	case NT_TRAY_CALIBRATION: read_text(reader, tray, NT_COLLECTED_CALIBRATION, &item); break;
	case NT_TRAY_GRAPHS: read_text(reader, tray, NT_COLLECTED_GRAPHS, &item); break;
	case NT_TRAY_DEVICES: read_text(reader, tray, NT_COLLECTED_DEVICES, &item); break;
	case NT_TRAY_STACKS: read_text(reader, tray, NT_COLLECTED_STACKS, &item); break;
	default: return; /* its process has only begun, or has written nonsense */
	}
	show(reader, &item);
}

static void visit_all(struct reader *reader, const struct nt_trays *trays)
{
	const uint32_t refused = trays->refused < NT_TRAYS ? trays->refused : NT_TRAYS;

	for (uint32_t i = 0; i < refused; i++)
		show_trouble(reader, "no room for its record in the node's memory");
	for (uint32_t i = 0; i < NT_TRAYS; i++) {
		if (trays->owner[i] == 0)
			continue;
		if (reader->bytes > NT_COLLECT_BYTES) {
			show_trouble(reader, "too many records to sum up");
			return;
		}
		visit_tray(reader, i);
	}
}

int nt_collect_each(int shm_fd, nt_collect_visit *visit, void *argument, struct nt_error *err)
{
	struct reader *reader = calloc(1, sizeof(*reader));
	struct nt_trays *trays = malloc(sizeof(*trays));
	int rc = -1;

	if (!reader || !trays) {
		nt_error_set(err, "no memory");
	} else if (copy(shm_fd, trays, sizeof(*trays), NT_TRAYS_AT) < 0) {
		nt_error_set(err, "the node's memory cannot be read");
	} else {
		reader->visit = visit;
		reader->argument = argument;
		reader->fd = shm_fd;
		visit_all(reader, trays);
		rc = 0;
	}
	free(reader);
	free(trays);
	return rc;
}

/* Another user's, or something else, is not read. */
void nt_collect_beside(const char *node, uint32_t job, uint32_t step, nt_collect_visit *visit,
		       void *argument)
{
	char path[NT_PATH_MAX];
	struct stat status;
	int fd;

	snprintf(path, sizeof(path), NT_SHM_BESIDE, node, job, step);
	fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (fd < 0)
		return;
	if (fstat(fd, &status) == 0 && S_ISREG(status.st_mode) && status.st_uid == geteuid())
		(void)nt_collect_each(fd, visit, argument, NULL);
	close(fd);
}

/* The name is the user's text, too. */
static void count_unusable(struct nt_sum *sum, const char *name, const char *reason)
{
	char why[NT_TRAY_ABOUT + sizeof(((struct nt_error *)0)->text)];

	snprintf(why, sizeof(why), "%.48s%s%s", name, name[0] ? ": " : "", reason);
	nt_sum_add_unusable(sum, nt_printable_json(why));
}

void nt_collect_add(struct nt_sum *sum, const struct nt_collected *item, uint32_t job,
		    uint32_t step)
{
	struct nt_error err;

	if (item->kind != NT_COLLECTED_RECORD && item->kind != NT_COLLECTED_CALLS)
		return;
	sum->started = true;
	if (item->kind == NT_COLLECTED_CALLS && item->text)
		(void)nt_sum_add_begun(sum, item->text, item->bytes, &err);
	else if (item->kind == NT_COLLECTED_CALLS)
		; /* it has no communicator */
	else if (!item->text)
		count_unusable(sum, item->name, item->why.text);
	else if (nt_sum_add_record(sum, item->text, item->bytes, job, step, &err) < 0)
		count_unusable(sum, item->name, err.text);
}
