/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* longset.h - read a part of a long form (long.h), and combine those of a job
 *
 * Nothing in a part is trusted: it may be truncated, or grow without end. One line is in memory at
 * a time; a part has at most NT_LONG_TEXT_MAX bytes and NT_LONG_LINES_MAX lines. Lines before
 * damage have been visited when it is found.
 *
 * A step has one part per node. Of a requeued job's runs one is used, the newest unless another is
 * requested; of two copies of a part, the newer one. Damage is reported, and what is before it is
 * used. In a directory only plain files are opened, and no link is followed. If the caller names
 * owners, parts of others are reported and left out.
 *
 * Threads:  no state of its own; any thread.
 * Memory:   nt_long_set_init first; nt_long_set_fini frees all.
 * Errors:   -1 and *err; problems of a part are passed to complain.
 */
#ifndef NT_LONGSET_H
#define NT_LONGSET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "lib/error.h"
#include "lib/json-scanner.h"
#include "record/long.h"
#include "record/job-summary.h"

/* {"name":value}, whose texts are valid during the call. -1 and *err end the reading. */
typedef int nt_long_visit(void *argument, struct nt_text name, struct nt_text value,
			  struct nt_error *err);

/* Reads from the file's position. visit NULL: only the first line. *text_bytes, if not NULL, is
 * increased by the size of the text. */
int nt_long_read(int fd, struct nt_long_head *head, nt_long_visit *visit, void *argument,
		 size_t *text_bytes, struct nt_error *err);

#define NT_LONG_PARTS_MAX 65536
#define NT_LONG_PATH_MAX 1024
#define NT_LONG_SET_TEXT_MAX ((size_t)4 << 30)

struct nt_long_part {
	char path[NT_LONG_PATH_MAX];
	struct nt_long_head head;
};

#define NT_LONG_OWNERS_MAX 3

struct nt_long_set {
	struct nt_long_part *parts;
	size_t count;
	/* Whose directories and parts count; none: anybody's. */
	uint32_t owner[NT_LONG_OWNERS_MAX];
	size_t owners;
	/* Limit on the uncompressed text of all parts; 0: NT_LONG_SET_TEXT_MAX. More is reported
	 * and left out. */
	size_t text_max;
	size_t *text_bytes; /* read so far; NULL: counted anew each time */
	/* Called for what cannot be used, or not in full; may be NULL. */
	void (*complain)(void *argument, const char *path, const char *why);
	void *argument;
};

void nt_long_set_init(struct nt_long_set *set);
void nt_long_set_fini(struct nt_long_set *set);

/* Does it belong to an owner that counts? */
bool nt_long_set_trusts(const struct nt_long_set *set, int fd, struct nt_error *err);

/* Adds a part, or all parts of a directory. -1: it cannot be opened, or a named file is no part. */
int nt_long_set_add(struct nt_long_set *set, const char *path, struct nt_error *err);
/* The same for a path that another user named: it must be a directory and no link, since opening a
 * device may have effects. */
int nt_long_set_add_named(struct nt_long_set *set, const char *path, struct nt_error *err);

/* Keeps only that run; 0: the first. */
void nt_long_set_take_run(struct nt_long_set *set, int64_t run);

/* Sorts by step and node, and removes outdated parts and other jobs' (job 0: none). */
void nt_long_set_sort(struct nt_long_set *set, uint32_t job);

/* Visits each line but the first of all parts. -1 if a visitor returns it. */
typedef int nt_long_set_visit(void *argument, const struct nt_long_part *part, struct nt_text name,
			      struct nt_text value, struct nt_error *err);
int nt_long_set_each(const struct nt_long_set *set, nt_long_set_visit *visit, void *argument,
		     struct nt_error *err);

/* Adds the steps of a sorted set, or only one (NULL: all). known: steps from elsewhere, used for
 * what the long form lacks; may be NULL. */
int nt_long_set_summary(const struct nt_long_set *set, struct nt_summary *summary,
			const char *only_step, const struct nt_summary *known,
			struct nt_error *err);

#endif
