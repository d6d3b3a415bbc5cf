/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "launch/claim.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "lib/file.h"
#include "launch/memory-store.h"

#define PREFIX "claim-"
#define NAME_BYTES 96
#define TEXT_MAX 128
#define TRIES 8
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

/* Of those that find a claim expired one replaces it: who makes the file that is named after it,
 * which stays as long as the memory's unfinished files do. */
static int replace_ended(int dir, const char *mine, const char *name, const struct nt_claim *old,
			 struct nt_error *err)
{
	char vote[NAME_BYTES + 40];

	snprintf(vote, sizeof(vote), "%s-%" PRIu32 "-%" PRId64 ".tmp", name, old->job,
		 old->until_s);
	if (linkat(dir, mine, dir, vote, 0) < 0)
		return errno == EEXIST ? 0 : nt_error_set(err, "%.60s: %s", vote, strerror(errno));
	return renameat(dir, mine, dir, name) == 0
		       ? 1
		       : nt_error_set(err, "%.60s: %s", name, strerror(errno));
}

static int link_claim(int dir, const char *mine, const char *name, uint32_t job, int64_t now_s,
		      struct nt_claim *holder, struct nt_error *err)
{
	for (unsigned i = 0; i < TRIES; i++) {
		if (linkat(dir, mine, dir, name, 0) == 0)
			return 1;
		if (errno != EEXIST)
			return nt_error_set(err, "%.60s: %s", name, strerror(errno));
		if (!read_claim(dir, name, holder)) {
			unlinkat(dir, name, 0);
			continue;
		}
		if (is_in_force(holder, now_s) || holder->job == job)
			return 0;
		return replace_ended(dir, mine, name, holder, err);
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

int nt_claim_take(const char *dir, const struct nt_where *where, const struct nt_claim *claim,
		  int64_t now_s, struct nt_claim *holder, struct nt_error *err)
{
	char name[NAME_BYTES], mine[NAME_BYTES];
	int fd, rc = -1;

	memset(holder, 0, sizeof(*holder));
	name_of(where, name);
	fd = nt_store_open(dir, err);
	if (fd < 0)
		return -1;
	if (is_claimed_unknown(fd, where, now_s, holder))
		rc = 0;
	else if (fresh_name(mine, err) == 0 && write_claim(fd, mine, claim, err) == 0) {
		rc = link_claim(fd, mine, name, claim->job, now_s, holder, err);
		unlinkat(fd, mine, 0);
	}
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
