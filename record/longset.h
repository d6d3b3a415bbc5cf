/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* longset.h - the parts of a job's long form (long.h), put together
 *
 * A step has a part of each node. Of a job that was started again the parts of one run count, which
 * is the newest where no other is asked for; of a part that is there twice the newer one. What is
 * damaged is told, with what stands in front of the damage used; in a directory nothing is opened
 * but plain files, and no link is followed. Where it is said whose parts count, those of others are
 * told and left out.
 *
 * Threads:  no state of its own; any thread.
 * Memory:   nt_long_set_init first; nt_long_set_fini frees all.
 * Errors:   -1 and *err; what is wrong with a part goes to complain.
 */
#ifndef NT_LONGSET_H
#define NT_LONGSET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "lib/error.h"
#include "record/longread.h"
#include "record/job-summary.h"

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
	/* Of text before it is compressed, all parts together; 0: NT_LONG_SET_TEXT_MAX. What is
	 * beyond it is told and left out. */
	size_t text_max;
	size_t *text_bytes; /* what was read of it so far; NULL: this is counted anew each time */
	/* Told of what cannot be used, or not in full; NULL: nobody. */
	void (*complain)(void *argument, const char *path, const char *why);
	void *argument;
};

void nt_long_set_init(struct nt_long_set *set);
void nt_long_set_fini(struct nt_long_set *set);

/* Is what is open there of one whose parts count? */
bool nt_long_set_trusts(const struct nt_long_set *set, int fd, struct nt_error *err);

/* Is it a part, or a directory? false also for what is not there. */
bool nt_long_set_is(const char *path);

/* Add that part, or all parts of that directory. -1 where it cannot be opened, or a part that was
 * named is none. */
int nt_long_set_add(struct nt_long_set *set, const char *path, struct nt_error *err);
/* The same of a path that somebody else has named, which must be a directory and no link: opening
 * anything else may do something, as of a device. */
int nt_long_set_add_named(struct nt_long_set *set, const char *path, struct nt_error *err);

/* Only what that run of its job wrote; 0: the first. */
void nt_long_set_take_run(struct nt_long_set *set, int64_t run);

/* By step and node; what is out of date goes, and what is of another job. job 0: any. */
void nt_long_set_sort(struct nt_long_set *set, uint32_t job);

/* Each line but the first of all parts. -1 where a visitor says so. */
typedef int nt_long_set_visit(void *argument, const struct nt_long_part *part, struct nt_text name,
			      struct nt_text value, struct nt_error *err);
int nt_long_set_each(const struct nt_long_set *set, nt_long_set_visit *visit, void *argument,
		     struct nt_error *err);

/* Add the steps of a set that is sorted, or the one (NULL: all). known: what is known of steps from
 * elsewhere counts where the long form says nothing; NULL: nothing is. */
int nt_long_set_summary(const struct nt_long_set *set, struct nt_summary *summary,
			const char *only_step, const struct nt_summary *known,
			struct nt_error *err);

#endif
