/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* post.c - see post.h */
#include "spank/post.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include "record/filesink.h"
#include "record/spoolkeep.h"
#include "spank/turn.h"

#define BATCH 128 /* records of one writing: more than have room in the text */
#define POLL_MS 3
#define TURN_MS 12000 /* the longest wait for another writer: slurmctld may keep it waiting */
#define EARLY_LEAVE (NT_TURN_BURST / 2) /* of the burst, to steps that end */
#define LOOK_MS 300 /* far above what lies between another writer's reading and writing */
#define LOOKS 4

struct office {
	const struct nt_post *post;
	int waiting_fd, sent_fd, turn_fd;
	struct nt_spooled *letters; /* what was brought last */
	struct nt_splice_step steps[BATCH];
	size_t count;
	size_t spooled; /* of these: letters */
	struct nt_spool_list list;
	bool filed; /* it went into files */
	bool handed;
};

static void sleep_ms(int64_t ms)
{
	struct timespec span = { ms / 1000, ms % 1000 * 1000000 };

	while (nanosleep(&span, &span) < 0)
		;
}

static int64_t random_below(int64_t limit)
{
	uint32_t number = 0;

	(void)getrandom(&number, sizeof(number), GRND_NONBLOCK);
	return number % limit;
}

static void hand_over(struct office *office)
{
	if (!office->handed && office->post->handed)
		office->post->handed(office->post->argument);
	office->handed = true;
}

/* ---- what waits */

static bool ours_waits(const struct office *office)
{
	return office->post->entry.record && office->waiting_fd >= 0 &&
	       nt_spool_has(office->waiting_fd, &office->post->entry);
}

static void add(struct office *office, const char *step, const char *record)
{
	office->steps[office->count++] = (struct nt_splice_step){ step, record };
}

/* The newest of the job that are whole; the oldest of these first. A damaged one is backfill's to
 * tell. */
static void collect(struct office *office)
{
	const struct nt_spool_entry *entry = &office->post->entry;
	size_t first;

	office->count = 0;
	nt_spool_list_fini(&office->list);
	if (office->waiting_fd >= 0)
		(void)nt_spool_list(&office->list, office->waiting_fd, entry->cluster, entry->job,
				    NULL);
	first = office->list.count > BATCH ? office->list.count - BATCH : 0;
	for (size_t i = first; i < office->list.count; i++) {
		struct nt_spooled *letter = &office->letters[office->count];

		if (nt_spooled_read(letter, office->waiting_fd, office->list.items[i].name, NULL) ==
			    0 &&
		    letter->job == entry->job && strcmp(letter->cluster, entry->cluster) == 0)
			add(office, letter->step, letter->record);
	}
}

/* What slurmctld has: kept until accounting has it. What is in files is settled. */
static void move_on(const struct office *office)
{
	for (size_t i = 0; i < office->spooled; i++) {
		if (office->filed)
			(void)nt_spooled_remove(&office->letters[i], NULL);
		else if (office->sent_fd >= 0)
			(void)nt_spooled_move(&office->letters[i], office->sent_fd, NULL);
	}
	if (office->sent_fd >= 0)
		(void)nt_spool_keep(office->sent_fd, NT_PART_SENT, false, NULL);
}

/* ---- writing */

static struct nt_account_steps steps_of(const struct office *office, const struct nt_sinks *sinks)
{
	return (struct nt_account_steps){ office->post->entry.job, sinks, office->steps,
					  office->count };
}

static enum nt_account write_files(const struct office *office, struct nt_error *err)
{
	struct nt_spool_entry entry = office->post->entry;

	for (size_t i = 0; i < office->count; i++) {
		if (i < office->spooled && office->letters[i].uid != NT_SPOOL_NO_UID)
			entry.uid = office->letters[i].uid;
		entry.step = office->steps[i].step;
		entry.record = office->steps[i].record;
		if (nt_filesink_put(office->post->sinks->directory, &entry, NULL, err) < 0)
			return NT_ACCOUNT_FOREIGN;
	}
	return NT_ACCOUNT_WRITTEN;
}

/* To the first sink of the site's list that takes it; what Slurm keeps and stands together in the
 * list needs one reading. */
static enum nt_account offer(struct office *office, struct nt_error *err)
{
	const struct nt_sinks *sinks = office->post->sinks;
	enum nt_account result = NT_ACCOUNT_FOREIGN;
	unsigned i = 0;

	office->filed = false;
	while (i < sinks->count && result == NT_ACCOUNT_FOREIGN) {
		struct nt_sinks part = { .count = 0 };
		struct nt_account_steps steps = steps_of(office, &part);

		while (i < sinks->count && sinks->at[i] != NT_SINK_FILE)
			part.at[part.count++] = sinks->at[i++];
		office->filed = part.count == 0;
		if (office->filed) {
			result = write_files(office, err);
			i++;
		} else {
			result = nt_account_write(&steps, err);
		}
	}
	return result;
}

/* While we have the turn: bring all that waits. */
static enum nt_account bring(struct office *office, struct nt_error *err)
{
	const struct nt_spool_entry *entry = &office->post->entry;
	enum nt_account result;

	collect(office);
	office->spooled = office->count;
	/* The spool cannot be used: ours is all there is. */
	if (office->waiting_fd < 0 && entry->record)
		add(office, entry->step, entry->record);
	if (office->count == 0)
		return NT_ACCOUNT_WRITTEN;
	result = offer(office, err);
	if (result == NT_ACCOUNT_WRITTEN)
		move_on(office);
	return result;
}

/* false: others bring ours, or have brought it; or one of them is stuck. */
static bool take_turn(struct office *office)
{
	int64_t until_ms = nt_turn_now_ms() + TURN_MS;
	bool waited = ours_waits(office);

	if (office->turn_fd < 0)
		return true;
	while (!nt_turn_take(office->turn_fd)) {
		if (waited && !ours_waits(office))
			return false;
		if (nt_turn_now_ms() >= until_ms)
			return false;
		sleep_ms(POLL_MS);
	}
	if (!waited || ours_waits(office))
		return true;
	nt_turn_give(office->turn_fd);
	return false;
}

/* With the turn: 0, or how long to wait for the next writing, then without the turn; -1: another
 * process waits for it. */
static int64_t wait_for_pace(struct office *office)
{
	const struct nt_post *post = office->post;
	int64_t now_ms = nt_turn_now_ms();
	struct nt_pace pace;
	int64_t wait_ms;

	if (office->turn_fd < 0)
		return 0;
	nt_turn_read(office->turn_fd, &pace);
	wait_ms = nt_pace_wait_ms(&pace, now_ms, post->early ? EARLY_LEAVE : 0);
	if (wait_ms == 0 || post->last) {
		nt_pace_count(&pace, now_ms);
		pace.keeper_ms = 0;
		nt_turn_write(office->turn_fd, &pace);
		return 0;
	}
	if (post->early ||
	    (pace.keeper_ms > now_ms && pace.keeper_ms < now_ms + (int64_t)2 * NT_TURN_EVERY_MS)) {
		wait_ms = -1;
	} else {
		pace.keeper_ms = now_ms + wait_ms + LOOK_MS;
		nt_turn_write(office->turn_fd, &pace);
	}
	nt_turn_give(office->turn_fd);
	return wait_ms;
}

/* One writing. *wrote: it was ours, so that it is ours to look again. */
static enum nt_account bring_in_turn(struct office *office, bool *wrote, struct nt_error *err)
{
	enum nt_account result;
	int64_t wait_ms;

	*wrote = false;
	for (;;) {
		if (!take_turn(office)) {
			if (!ours_waits(office))
				return NT_ACCOUNT_WRITTEN;
			nt_error_set(err, "another step's writer is stuck");
			return NT_ACCOUNT_FAILED;
		}
		wait_ms = wait_for_pace(office);
		if (wait_ms == 0)
			break;
		hand_over(office);
		if (wait_ms < 0)
			return NT_ACCOUNT_QUEUED;
		sleep_ms(wait_ms);
	}
	result = bring(office, err);
	*wrote = result == NT_ACCOUNT_WRITTEN && office->count > 0 && !office->filed;
	if (office->turn_fd >= 0)
		nt_turn_give(office->turn_fd);
	return result;
}

/* The turn, if a writing is due now. */
static bool take_due_turn(struct office *office)
{
	int64_t now_ms = nt_turn_now_ms();
	struct nt_pace pace;

	if (office->turn_fd < 0)
		return true;
	if (!nt_turn_take(office->turn_fd))
		return false;
	nt_turn_read(office->turn_fd, &pace);
	if (nt_pace_wait_ms(&pace, now_ms, 0) > 0) {
		nt_turn_give(office->turn_fd);
		return false;
	}
	nt_pace_count(&pace, now_ms);
	nt_turn_write(office->turn_fd, &pace);
	return true;
}

/* Has the step a newer record by now, here or on its way? */
static bool is_newest(const struct office *office, const struct nt_spooled *letter)
{
	struct stat status;

	return fstatat(office->sent_fd, letter->name, &status, AT_SYMLINK_NOFOLLOW) == 0 &&
	       status.st_ino == letter->status.st_ino &&
	       faccessat(office->waiting_fd, letter->name, F_OK, 0) < 0;
}

/* What is not the newest is not to be written again. */
static void forget_old(struct office *office)
{
	size_t kept = 0;

	if (office->sent_fd < 0 || office->spooled == 0)
		return;
	for (size_t i = 0; i < office->spooled; i++) {
		if (!is_newest(office, &office->letters[i]))
			continue;
		if (kept < i)
			office->letters[kept] = office->letters[i];
		office->steps[kept] = (struct nt_splice_step){ office->letters[kept].step,
							       office->letters[kept].record };
		kept++;
	}
	office->spooled = office->count = kept;
}

/* Another node's writer may have taken it away again. */
static enum nt_account look_again(struct office *office, struct nt_error *err)
{
	enum nt_account result = NT_ACCOUNT_WRITTEN;
	struct nt_account_steps steps;
	bool there = false;

	for (int i = 0; i < LOOKS; i++) {
		sleep_ms(LOOK_MS + random_below(LOOK_MS));
		forget_old(office);
		if (office->count == 0)
			return NT_ACCOUNT_WRITTEN;
		steps = steps_of(office, office->post->sinks);
		result = nt_account_look(&steps, &there, err);
		if (result != NT_ACCOUNT_WRITTEN || there)
			return result;
		if (!take_due_turn(office))
			continue;
		forget_old(office);
		steps.count = office->count;
		result = offer(office, err);
		if (office->turn_fd >= 0)
			nt_turn_give(office->turn_fd);
		if (result != NT_ACCOUNT_WRITTEN || office->filed)
			return result;
	}
	return result;
}

static void open_office(struct office *office, const struct nt_post *post)
{
	*office = (struct office){ .post = post };
	office->waiting_fd = nt_spool_open(post->spool, NT_PART_WAITING, true, NULL);
	office->sent_fd = nt_spool_open(post->spool, NT_PART_SENT, true, NULL);
	office->turn_fd = nt_turn_open(post->rundir, post->entry.job, NULL);
	office->letters = calloc(BATCH, sizeof(office->letters[0]));
}

static void close_office(struct office *office)
{
	const int fds[] = { office->waiting_fd, office->sent_fd, office->turn_fd };

	for (size_t i = 0; i < sizeof(fds) / sizeof(fds[0]); i++) {
		if (fds[i] >= 0)
			close(fds[i]);
	}
	nt_spool_list_fini(&office->list);
	free(office->letters);
}

enum nt_account nt_post(const struct nt_post *post, struct nt_error *err)
{
	enum nt_account result = NT_ACCOUNT_FAILED;
	struct office office;
	bool wrote = false;

	open_office(&office, post);
	if (office.letters)
		result = bring_in_turn(&office, &wrote, err);
	else
		nt_error_set(err, "no memory for the records of job %" PRIu32, post->entry.job);
	if (result == NT_ACCOUNT_WRITTEN)
		hand_over(&office);
	/* Where the job ends there is nothing more to be done here; backfill looks at the end. */
	if (wrote && look_again(&office, err) != NT_ACCOUNT_WRITTEN && office.sent_fd < 0)
		result = NT_ACCOUNT_FAILED;
	close_office(&office);
	return result;
}
