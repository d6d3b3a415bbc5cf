/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "profiles/claim.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>
#include "lib/file.h"
#include "profiles/memory-store.h"

#define PREFIX "claim-"
#define NAME_BYTES 96
#define TEXT_MAX 128
#define TRIES 8
#define LOCK ".claims.lock"
#define LOCK_TRIES 100
#define LOCK_PAUSE_NS 5000000
#define LONGEST_S 86400 /* longest claim, whatever a file says */

static void name_of(const struct nt_where *where, char out[NAME_BYTES])
{
	snprintf(out, NAME_BYTES, PREFIX "%016" PRIx64 "-%" PRIu32 "x%" PRIu32 "-%08" PRIx32,
		 where->fingerprint, where->nodes, where->per_node, where->user_env);
}

/* A unique name, removed with the memory's unfinished files. */
static int fresh_name(char out[NAME_BYTES], struct nt_error *err)
{
	char digits[33];

	if (nt_random_digits(digits, sizeof(digits) - 1, err) < 0)
		return -1;
	snprintf(out, NAME_BYTES, PREFIX "%s.tmp", digits);
	return 0;
}

/* false: there is none, or it is malformed. */
static bool read_claim(int dir, const char *name, struct nt_claim *out)
{
	size_t bytes = 0;
	char *text = NULL;
	int failed = 0, end = 0;
	bool good = false;

	memset(out, 0, sizeof(*out));
	if (nt_file_read_at(dir, name, NT_FILE_NO_LINK, TEXT_MAX, &text, &bytes, NULL) == 0)
		good = sscanf(text, "job %" SCNu32 " until %" SCNd64 " failed %d %n", &out->job,
			      &out->until_s, &failed, &end) == 3 &&
		       end > 0 && text[end] == '\0';
	out->failed = failed != 0;
	free(text);
	return good;
}

static int write_claim(int dir, const char *name, const struct nt_claim *claim,
		       struct nt_error *err)
{
	char text[TEXT_MAX];
	int bytes = snprintf(text, sizeof(text), "job %" PRIu32 " until %" PRId64 " failed %d\n",
			     claim->job, claim->until_s, claim->failed);

	return nt_file_replace(dir, name, text, (size_t)bytes, 0600, err);
}

static bool is_in_force(const struct nt_claim *claim, int64_t now_s)
{
	return claim->until_s > now_s && claim->until_s <= now_s + LONGEST_S;
}

/* Removes an expired claim by renaming it. If another process has replaced it meanwhile, the
 * renamed claim is valid and is put back. */
static void remove_ended(int dir, const char *name, int64_t now_s)
{
	struct nt_claim moved;
	char renamed[NAME_BYTES];

	if (fresh_name(renamed, NULL) < 0 || renameat(dir, name, dir, renamed) < 0)
		return;
	if (read_claim(dir, renamed, &moved) && is_in_force(&moved, now_s))
		(void)linkat(dir, renamed, dir, name, 0);
	unlinkat(dir, renamed, 0);
}

static int take(int dir, const char *mine, const char *name, uint32_t job, int64_t now_s,
		struct nt_claim *holder, struct nt_error *err)
{
	for (unsigned i = 0; i < TRIES; i++) {
		bool known;

		if (linkat(dir, mine, dir, name, 0) == 0)
			return 1;
		if (errno != EEXIST)
			return nt_error_set(err, "%.60s: %s", name, strerror(errno));
		known = read_claim(dir, name, holder);
		if (known && (is_in_force(holder, now_s) || holder->job == job))
			return 0;
		remove_ended(dir, name, now_s);
	}
	return 0;
}

/* A claim for unknown hardware may be for this place, too. */
static bool is_claimed_unknown(int dir, const struct nt_where *where, int64_t now_s,
			       struct nt_claim *holder)
{
	struct nt_where unknown = *where;
	char name[NAME_BYTES];

	unknown.fingerprint = 0;
	name_of(&unknown, name);
	return where->fingerprint != 0 && read_claim(dir, name, holder) &&
	       is_in_force(holder, now_s);
}

/* One at a time: of two that find an expired claim the slower one would remove the other's new one.
 * -1: others hold the lock. Where files cannot be locked nobody waits. */
static int lock_claims(int dir, struct nt_error *err)
{
	const struct timespec pause = { .tv_nsec = LOCK_PAUSE_NS };
	int fd = openat(dir, LOCK, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);

	if (fd < 0)
		return nt_error_set(err, LOCK ": %s", strerror(errno));
	for (unsigned i = 0; i < LOCK_TRIES; i++) {
		if (flock(fd, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK)
			return fd;
		nanosleep(&pause, NULL);
	}
	close(fd);
	return nt_error_set(err, "too many jobs look for a calibration at once");
}

int nt_claim_take(const char *dir, const struct nt_where *where, const struct nt_claim *claim,
		  int64_t now_s, struct nt_claim *holder, struct nt_error *err)
{
	char name[NAME_BYTES], mine[NAME_BYTES];
	int fd, lock, rc = -1;

	memset(holder, 0, sizeof(*holder));
	name_of(where, name);
	fd = nt_store_open(dir, err);
	if (fd < 0)
		return -1;
	lock = lock_claims(fd, err);
	if (lock >= 0 && is_claimed_unknown(fd, where, now_s, holder))
		rc = 0;
	else if (lock >= 0 && fresh_name(mine, err) == 0 &&
		 write_claim(fd, mine, claim, err) == 0) {
		rc = take(fd, mine, name, claim->job, now_s, holder, err);
		unlinkat(fd, mine, 0);
	}
	if (lock >= 0)
		close(lock);
	close(fd);
	return rc;
}

static int end(int dir, const char *name, uint32_t job, bool well, int64_t now_s,
	       struct nt_error *err)
{
	const struct nt_claim failed = { job, now_s + NT_CLAIM_RETRY_S, true };
	struct nt_claim claim;

	if (!read_claim(dir, name, &claim) || claim.job != job)
		return 0;
	if (!well)
		return write_claim(dir, name, &failed, err);
	if (unlinkat(dir, name, 0) < 0)
		return nt_error_set(err, "%.60s: %s", name, strerror(errno));
	return 0;
}

static bool is_claim(const char *name)
{
	return strncmp(name, PREFIX, strlen(PREFIX)) == 0 && strlen(name) < NAME_BYTES &&
	       !strstr(name, ".tmp");
}

/* Found by job and not by place: hardware that was unknown may be known after the calibration. */
int nt_claim_end(const char *path, uint32_t job, bool well, int64_t now_s, struct nt_error *err)
{
	const struct dirent *entry;
	DIR *dir = opendir(path);
	int rc = 0;

	if (!dir)
		return nt_error_set(err, "%.120s: %s", path, strerror(errno));
	while (rc == 0 && (entry = readdir(dir)) != NULL)
		if (is_claim(entry->d_name))
			rc = end(dirfd(dir), entry->d_name, job, well, now_s, err);
	closedir(dir);
	return rc;
}
