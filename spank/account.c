/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* A job's AdminComment, read and written. */
#include "spank/account.h"

#include <errno.h>
#include <inttypes.h>
#include <slurm/slurm.h>
#include <slurm/slurm_errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <time.h>
#include "record/splice.h"
#include "spank/slurm_compat.h"

#define TRIES 12
#define SETTLE_MIN_MS \
	40 /* far above the few milliseconds between another writer's reading and writing */
#define SETTLE_MAX_MS 300
#define PAUSE_MS 40 /* times the number of tries: the longest random pause */
#define TURN_MS 300 /* the longest wait for another writer of this machine */
#define TURN_POLL_MS 3
#define STALE_MS 20 /* a text read longer ago is read again before it is written back */

static int64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

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

/* A copy of the job's text; an array's or a heterogeneous job's other members come along and are
 * skipped. */
static enum nt_account load(uint32_t job, char **comment, struct nt_error *err)
{
	job_info_msg_t *message = NULL;
	enum nt_account result = NT_ACCOUNT_ENDED;
	int problem;

	*comment = NULL;
	if (nt_slurm_load_job(&message, job, SHOW_ALL | SHOW_LOCAL) != 0) {
		problem = errno;
		nt_error_set(err, "slurmctld does not show job %" PRIu32 ": %s", job,
			     slurm_strerror(problem));
		return problem == ESLURM_INVALID_JOB_ID ? NT_ACCOUNT_ENDED : NT_ACCOUNT_FAILED;
	}
	nt_error_set(err, "slurmctld does not know job %" PRIu32, job);
	for (uint32_t i = 0; i < message->record_count; i++) {
		const char *text = message->job_array[i].admin_comment;

		if (message->job_array[i].job_id != job)
			continue;
		*comment = strdup(text ? text : "");
		result = *comment ? NT_ACCOUNT_WRITTEN : NT_ACCOUNT_FAILED;
		break;
	}
	slurm_free_job_info_msg(message);
	return result;
}

static enum nt_account store(uint32_t job, char *comment, struct nt_error *err)
{
	job_desc_msg_t update;
	int problem;

	nt_slurm_init_update(&update, job);
	update.admin_comment = comment;
	if (slurm_update_job(&update) == 0)
		return NT_ACCOUNT_WRITTEN;
	problem = errno;
	nt_error_set(err, "job %" PRIu32 ": %s", job, slurm_strerror(problem));
	switch (problem) {
	case ESLURM_ALREADY_DONE:
	case ESLURM_INVALID_JOB_ID: return NT_ACCOUNT_ENDED;
	default: return NT_ACCOUNT_FAILED;
	}
}

static enum nt_account refuse(enum nt_splice reason, uint32_t job, struct nt_error *err)
{
	switch (reason) {
	case NT_SPLICE_FOREIGN:
		nt_error_set(err, "AdminComment of job %" PRIu32 " holds another program's text",
			     job);
		return NT_ACCOUNT_FOREIGN;
	case NT_SPLICE_NO_ROOM:
		nt_error_set(err, "AdminComment of job %" PRIu32 " has no room for the record",
			     job);
		return NT_ACCOUNT_FOREIGN;
	default:
		nt_error_set(err, "no memory for the text of job %" PRIu32, job);
		return NT_ACCOUNT_FAILED;
	}
}

/* One reading, and a writing if the record is not there. *there says which it was. */
static enum nt_account write_once(uint32_t job, const char *step, const char *record, bool *there,
				  struct nt_error *err)
{
	char *comment;
	char *spliced = NULL;
	enum nt_splice splice;
	enum nt_account result = load(job, &comment, err);
	int64_t loaded_ms = now_ms();

	*there = false;
	if (result != NT_ACCOUNT_WRITTEN)
		return result;
	splice = nt_splice_step(comment, step, record, &spliced);
	free(comment);
	if (splice == NT_SPLICE_UNCHANGED)
		*there = true;
	else if (splice != NT_SPLICED)
		result = refuse(splice, job, err);
	else if (now_ms() - loaded_ms <= STALE_MS)
		result = store(job, spliced, err);
	free(spliced);
	return result;
}

/* A writer that is stuck keeps the others waiting once, for a moment; then it is as if it were
 * on another machine. */
static bool take_turn(int lock_fd)
{
	int64_t until_ms = now_ms() + TURN_MS;

	while (flock(lock_fd, LOCK_EX | LOCK_NB) < 0) {
		if (now_ms() >= until_ms)
			return false;
		sleep_ms(TURN_POLL_MS);
	}
	return true;
}

enum nt_account nt_account_write(uint32_t job, const char *step, const char *record, int lock_fd,
				 bool settle, struct nt_error *err)
{
	enum nt_account result = NT_ACCOUNT_FAILED;

	for (int i = 0; i < TRIES; i++) {
		int64_t began_ms, settle_ms;
		bool there;

		if (i > 1)
			sleep_ms(random_below((int64_t)PAUSE_MS * i));
		if (lock_fd >= 0 && !take_turn(lock_fd))
			lock_fd = -1;
		began_ms = now_ms();
		result = write_once(job, step, record, &there, err);
		if (lock_fd >= 0)
			(void)flock(lock_fd, LOCK_UN);
		if (result != NT_ACCOUNT_WRITTEN || there || !settle)
			return result;
		settle_ms = 4 * (now_ms() - began_ms);
		if (settle_ms < SETTLE_MIN_MS)
			settle_ms = SETTLE_MIN_MS;
		sleep_ms(settle_ms < SETTLE_MAX_MS ? settle_ms : SETTLE_MAX_MS);
	}
	nt_error_set(err, "job %" PRIu32 ": other steps wrote over the record %d times", job,
		     TRIES);
	return NT_ACCOUNT_FAILED;
}
